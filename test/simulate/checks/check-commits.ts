import { isOwn, thingsIn } from "./check-things.ts";
import { fanRequests, isFanRequest } from "./expected-device.ts";
import type { AttributeStates, CommittedTransaction, LogLine, Write } from "./history.ts";
import { demand } from "./violation.ts";

type Key = string | number;

/** A device as replayed from the log, version by version. */
export interface ReplayedDevice {
  timeMs: number;
  readonly states: Map<Key, { readonly value: string | null; readonly timeMs: number }>;
  readonly versions: Version[];
  /** The transactions that added and removed it; infinite if there is none. */
  addedSeq: number;
  removedSeq: number;
}

export interface Version {
  readonly seq: number;
  readonly timeMs: number;
  readonly by: string;
  readonly changes: readonly (readonly [key: Key, value: string | null])[];
}

/** Replays the log from the start, and compares each transaction with its writes and with its right to write. */
export function replay(history: readonly CommittedTransaction[]): Map<number, ReplayedDevice> {
  const devices = new Map<number, ReplayedDevice>();
  for (const transaction of history) {
    const logged = new Map<number, Set<Key>>();
    for (const line of transaction.log) {
      if (line.kind === "device") demandSameTimeAsAdded(transaction, line);
      if (line.kind === "thing") takeThings(transaction, line, devices);
      if (line.kind !== "attribute") continue;
      const version = readLine(transaction, line);
      const device = deviceOf(devices, line.deviceId!);
      // Any node may record the outcome of a fan request.
      const isOutcome = version.changes.every(([key]) => isFanRequest(key));
      if (version.by === "ecosystem" && !isOutcome) demandOwnership(transaction, line.deviceId!);
      addVersion(device, version, line.deviceId!, confirmedFans(transaction, line.deviceId!));
      const keys = logged.get(line.deviceId!) ?? new Set();
      for (const [key] of version.changes) keys.add(key);
      logged.set(line.deviceId!, keys);
    }
    for (const write of transaction.writes) checkWrite(transaction, write, devices, logged);
    demandAllWritten(transaction, logged);
  }
  return devices;
}

/** A commit of things alone gives the device its time too, unless it says that the things left with their device. */
function takeThings(transaction: CommittedTransaction, line: LogLine, devices: Map<number, ReplayedDevice>): void {
  // An own device keeps its time when it falls silent, or when the map of its type is changed.
  if (thingsIn(line).every(isOwn)) return;
  const device = deviceOf(devices, line.deviceId!);
  const isRemoval = transaction.writes.some(
    ({ table, key, after }) => table === "devices" && key === line.deviceId && !after,
  );
  if (isRemoval) return;
  demandOwnership(transaction, line.deviceId!);
  demand(
    line.timeMs > device.timeMs,
    () =>
      `transaction ${transaction.seq}: things of device ${line.deviceId} go from time ${device.timeMs} to ${line.timeMs}`,
  );
  device.timeMs = line.timeMs;
}

function readLine(transaction: CommittedTransaction, line: LogLine): Version {
  const { cause, changes } = JSON.parse(line.body) as { cause: { by: string }; changes: [Key, string | null][] };
  demand(changes.length > 0, () => `transaction ${transaction.seq}: a log entry of device ${line.deviceId} is empty`);
  const keys = new Set(changes.map(([key]) => key));
  demand(keys.size === changes.length, () => `transaction ${transaction.seq}: one entry changes an attribute twice`);
  return { seq: transaction.seq, timeMs: line.timeMs, by: cause.by, changes };
}

/** A device is added with its first attributes: the log has one time for both. */
function demandSameTimeAsAdded({ seq, log }: CommittedTransaction, line: LogLine): void {
  const first = log.find(({ kind, deviceId }) => kind === "attribute" && deviceId === line.deviceId);
  demand(
    first === undefined || line.timeMs === first.timeMs,
    () => `transaction ${seq}: device ${line.deviceId} is added at ${line.timeMs}, and written to at ${first?.timeMs}`,
  );
}

/** The fans whose request this transaction confirms: the mirror may write such a fan's state again. */
function confirmedFans({ writes }: CommittedTransaction, deviceId: number): ReadonlySet<Key> {
  const confirmed = writes.filter(
    ({ table, before, after }) =>
      table === `commands/${deviceId}` &&
      before !== null &&
      before.state !== "confirmed" &&
      after?.state === "confirmed",
  );
  return new Set(
    confirmed.flatMap(({ after }) =>
      fanRequests.filter(({ request }) => request === after?.attribute).map(({ active }) => active),
    ),
  );
}

function addVersion(device: ReplayedDevice, version: Version, id: number, restated: ReadonlySet<Key>): void {
  const { seq, timeMs, by, changes } = version;
  demand(
    timeMs > device.timeMs,
    () => `transaction ${seq}: device ${id} goes from time ${device.timeMs} to ${timeMs}; times must rise`,
  );
  for (const [key, value] of changes) {
    const before = device.states.get(key)?.value ?? null;
    demand(
      by !== "ecosystem" || value !== before || restated.has(key),
      () => `transaction ${seq}: the mirror changes attribute ${key} of device ${id} to the value it has (${value})`,
    );
    device.states.set(key, { value, timeMs });
  }
  device.timeMs = timeMs;
  device.versions.push(version);
}

/** The mirror writes with the current epoch of the link's owner, or in the transaction that creates the link. */
function demandOwnership({ seq, node, claim, links, writes }: CommittedTransaction, deviceId: number): void {
  const isNew = writes.some(({ table, key, before, after }) => {
    return table === "links" && key === deviceId && before === null && after?.owner === node;
  });
  if (isNew) return;
  const link = links.find((owner) => owner.deviceId === deviceId);
  demand(
    link !== undefined &&
      claim?.deviceId === deviceId &&
      claim.owner === node &&
      link.owner === node &&
      link.epoch === claim.epoch,
    () =>
      `transaction ${seq}: ${node} mirrors device ${deviceId} with epoch ${claim?.epoch}, while the link is ${link?.owner}'s with epoch ${link?.epoch}`,
  );
}

function checkWrite(
  transaction: CommittedTransaction,
  { table, key, before, after }: Write,
  devices: Map<number, ReplayedDevice>,
  logged: ReadonlyMap<number, ReadonlySet<Key>>,
): void {
  const { seq, node } = transaction;
  if (table === "devices" && !after) deviceOf(devices, key as number).removedSeq = seq;
  if (table === "devices" && !before) deviceOf(devices, key as number).addedSeq = seq;
  if (table === "devices" && after) {
    const { timeMs } = deviceOf(devices, key as number);
    demand(
      after.lastTimeMs === timeMs,
      () => `transaction ${seq}: device ${key} is at version ${after.lastTimeMs}, its log at ${timeMs}`,
    );
  }
  // check-removals.ts checks removals.
  if (table.startsWith("attributes/") && after) {
    const id = Number(table.slice("attributes/".length));
    const inLog = deviceOf(devices, id).states.get(key);
    demand(
      logged.get(id)?.has(key) === true && inLog?.value === after.value && inLog?.timeMs === after.timeMs,
      () =>
        `transaction ${seq}: attribute ${key} of device ${id} is written as ${JSON.stringify(after)}, the log says ${JSON.stringify(inLog)}`,
    );
  }
  if (table !== "links" || !before || !after) return;
  const [ownerBefore, ownerAfter] = [before.owner as string | null, after.owner as string | null];
  const isTaken = ownerAfter !== null && before.epoch !== after.epoch;
  demand(
    after.epoch === (isTaken ? (before.epoch as number) + 1 : before.epoch) &&
      (isTaken || ownerAfter === ownerBefore || ownerAfter === null),
    () =>
      `transaction ${seq}: link ${key} goes from ${ownerBefore} at ${before.epoch} to ${ownerAfter} at ${after.epoch}`,
  );
  const isOwners = ["state", "reason", "indexMap", "notices", "confirmedMs"].some((f) => before[f] !== after[f]);
  demand(
    !isOwners || ownerAfter === node,
    () => `transaction ${seq}: ${node} writes link ${key}, which is ${ownerAfter}'s`,
  );
}

function demandAllWritten({ seq, writes }: CommittedTransaction, logged: ReadonlyMap<number, ReadonlySet<Key>>): void {
  for (const [id, keys] of logged) {
    const written = writes.filter(({ table }) => table === `attributes/${id}`).length;
    const hasVersion = writes.some(({ table, key }) => table === "devices" && key === id);
    demand(
      written === keys.size && hasVersion,
      () => `transaction ${seq}: the log names ${keys.size} attributes of device ${id}, ${written} are written`,
    );
  }
}

export function sameStates(one: AttributeStates, other: AttributeStates): boolean {
  if (one.size !== other.size) return false;
  for (const [key, { value, timeMs }] of one) {
    const there = other.get(key);
    if (there?.value !== value || there.timeMs !== timeMs) return false;
  }
  return true;
}

function deviceOf(devices: Map<number, ReplayedDevice>, id: number): ReplayedDevice {
  const device = devices.get(id) ?? newDevice();
  devices.set(id, device);
  return device;
}

function newDevice(): ReplayedDevice {
  const never = Number.POSITIVE_INFINITY;
  return { timeMs: 0, states: new Map(), versions: [], addedSeq: never, removedSeq: never };
}
