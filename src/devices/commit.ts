import type { ThingForm } from "../home/thing-text.ts";
import type { Cause } from "../model/cause.ts";
import { LimitReached, NotFound, OwnershipLost } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { Logger } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import { type DeviceRow, lastHeardMs } from "../store/tables/devices.ts";
import type { Ownership } from "../store/tables/links.ts";
import { inAttempts } from "./attempts.ts";
import type { AttributeChange, CommitTables, DeviceCommit } from "./device-commit.ts";
import { silenceDevices } from "./device-silence.ts";
import { earlyRefusalOf, growthOf, type PresentValues, refusalOf } from "./growth.ts";
import { attributeEntry, thingEntry } from "./log-entries.ts";
import type { OwnDeviceThings } from "./own-device-things.ts";
import { type PreparedThings, prepareThings, type ThingWrite } from "./thing-writes.ts";
import { showsOwnAlarm } from "./urgent-things.ts";

export type { AttributeChange, CommitTables, DeviceCommit } from "./device-commit.ts";

export interface DeviceUpdate {
  readonly deviceId: DeviceId;
  readonly changes: readonly AttributeChange[];
  /** The own device has written nothing for too long: its thing becomes unavailable, and no attribute changes. */
  readonly fallsSilent?: true;
  /** Things that a snapshot of the ecosystem shows changed, or gone. */
  readonly things?: readonly ThingWrite[];
}

export interface CommitRequest {
  readonly userId: UserId;
  readonly cause: Cause;
  /**
   * What to write, or a function that computes it under the lock because it depends on stored values or creates rows
   * first.
   */
  readonly updates: readonly DeviceUpdate[] | ((tx: CommitTables, nowMs: number) => Promise<readonly DeviceUpdate[]>);
  /** Alarm transitions: they go before all other commits. */
  readonly urgent?: boolean;
  /** Aborts when an urgent commit waits behind this one, so that this one becomes urgent too. */
  readonly becomesUrgent?: AbortSignal;
  /** The caller takes LimitReached while many changes of the user wait for costly patterns (attempts.ts). */
  readonly mayRefuse?: boolean;
  /** False: WorkNeeded is thrown when the change would wait for costly patterns. */
  readonly mayWait?: boolean;
  /** Aborts when nobody needs the change any more: it stops waiting for costly patterns, with ClientGone. */
  readonly abandoned?: AbortSignal | undefined;
  /**
   * The fencing token of a mirror's write: if the owner or its epoch has changed, the commit fails with OwnershipLost.
   */
  readonly ownership?: Ownership & { readonly deviceId: DeviceId };
  /** When the snapshot was received, on this node's monotonic clock. */
  readonly receivedMs?: number;
  /** Further writes of the same transaction, under the same lock: the index map, the link's state, a stored answer. */
  readonly also?: (tx: CommitTables) => Promise<void>;
}

/**
 * Checks a write that does not come from the ecosystem, under the lock and before it is stored. Returns the changes to
 * store instead: the same, others, or none.
 */
export type Gate = (
  tx: CommitTables,
  device: DeviceRow,
  update: DeviceUpdate & { readonly cause: Cause },
  nowMs: number,
) => Promise<readonly AttributeChange[]>;

/**
 * Sees every commit to a device while its transaction is open, and returns the updates that follow from it. They go
 * through the same steps in the same transaction. `room` is the number of attributes that may still be written because
 * of this commit; updates beyond it are dropped.
 */
export type Reaction = (
  tx: CommitTables,
  commit: DeviceCommit,
  room: number,
) => Promise<readonly (DeviceUpdate & { readonly cause: Cause })[]>;

/** Limits of a chain of reactions that one change starts. */
export const chainLimits = { hops: limits.alertHopsPerCause, writes: limits.alertWritesPerCause };

export type CommitListener = (commits: readonly DeviceCommit[], isUrgent: boolean) => void;

export interface CommitParts {
  readonly store: Store<CommitTables>;
  readonly gates?: readonly Gate[];
  readonly reactions: readonly Reaction[];
  /** Derives the things of own devices; without it these devices are no things. */
  readonly ownThings?: OwnDeviceThings;
  /** In which form things are stored: named while a node runs that can't read the compact one. */
  readonly thingForm?: () => ThingForm;
  /** Called after the commit is durable, in order for each device. */
  readonly committed: CommitListener;
  readonly report: Logger;
}

export type Commit = (request: CommitRequest) => Promise<readonly DeviceCommit[]>;

/**
 * The only writer of attributes and things, except for the first values of new devices: one transaction with all
 * consequences of a change. The commit is durable when the promise resolves.
 */
export function commitOn(parts: CommitParts): Commit {
  return async (request) => {
    const priority = {
      ...(request.becomesUrgent && { becomesUrgent: request.becomesUrgent }),
      urgent: request.urgent ?? false,
      background: request.ownership !== undefined,
      groupedBy: request.ownership && typeof request.updates !== "function" ? request.userId : undefined,
    };
    const commits = await inAttempts(parts.store, (tx) => applyRequest(tx, request, parts), priority, request);
    parts.committed(commits, request.urgent || commits.some(showsOwnAlarm));
    return commits;
  };
}

/** Carries out the request in an open transaction. */
export async function applyRequest(
  tx: CommitTables,
  request: CommitRequest,
  parts: Pick<CommitParts, "gates" | "reactions" | "report" | "ownThings" | "thingForm">,
): Promise<readonly DeviceCommit[]> {
  const { userId, receivedMs } = request;
  const { gates = [], reactions, report, ownThings, thingForm = () => "compact" } = parts;
  const form = thingForm();
  const { nowMs, updates, devices } = await lock(tx, request, form);
  const commits: DeviceCommit[] = [];
  /** Its identity tells reactions which commits have the same cause. */
  const chain = {};
  let wave = updates.map((update) => ({ ...update, cause: request.cause }));
  let writesLeft = chainLimits.writes;
  for (let hop = 0; wave.length > 0; hop++) {
    const next: typeof wave = [];
    for (const update of wave) {
      const applied = await applyToDevice(tx, userId, update, hop, nowMs, devices, { gates, ownThings, form });
      if (!applied) continue;
      if (applied instanceof LimitReached) {
        if (update.cause.by !== "alert") throw applied;
        // The alert checked the limits before it fired. Should the two checks disagree, the change that fired the alert
        // is still committed.
        report.warn(
          { userId, deviceId: update.deviceId, error: applied },
          "a write of an alert was dropped at a limit",
        );
        continue;
      }
      const commit = { ...applied, chain, receivedMs };
      commits.push(commit);
      for (const react of reactions) {
        const room = hop < chainLimits.hops ? writesLeft : 0;
        const answered = await react(tx, commit, room);
        const admitted = withinRoom(answered, room);
        if (admitted.length < answered.length) {
          report.warn({ userId, deviceId: update.deviceId, hop }, "a chain of reactions was stopped at its limit");
        }
        writesLeft -= countWrites(admitted);
        next.push(...admitted);
      }
    }
    wave = next;
  }
  await request.also?.(tx);
  return commits;
}

/** A device whose row is locked, with its present values and the writes of its things if they were prepared already. */
type LockedDevice = DeviceRow & {
  readonly present?: PresentValues | undefined;
  readonly things?: PreparedThings | undefined;
};

/**
 * The order of locks is the same everywhere: user, link, devices ascending. Statements that are known beforehand are
 * sent together.
 */
async function lock(tx: CommitTables, { userId, cause, updates, ownership }: CommitRequest, form: ThingForm) {
  const readyUpdates = typeof updates === "function" ? undefined : updates;
  // Values can be read early only for a single update of the ecosystem: a gate may change an update, and of several
  // updates the first changes what the next one compares with.
  const single = readyUpdates?.length === 1 && cause.by === "ecosystem" ? readyUpdates[0] : undefined;
  const [nowMs, isOwned, early, present, things] = await Promise.all([
    tx.users.lock(userId),
    !ownership || tx.links.holds(userId, ownership.deviceId, ownership),
    readyUpdates && lockDevices(tx, userId, readyUpdates),
    single && presentValues(tx, userId, single),
    single?.things && prepareThings(tx, userId, single.deviceId, single.things, form),
  ]);
  if (nowMs === undefined) throw new NotFound(`User ${userId} does not exist.`);
  if (ownership && !isOwned) {
    throw new OwnershipLost(`Node ${ownership.owner} no longer owns the link of device ${ownership.deviceId}.`);
  }
  const found = typeof updates === "function" ? await updates(tx, nowMs) : updates;
  const rows = early ?? (await lockDevices(tx, userId, found));
  return {
    nowMs,
    updates: found,
    devices: new Map(rows.map((row): [DeviceId, LockedDevice] => [row.id, { ...row, present, things }])),
  };
}

function lockDevices(tx: CommitTables, userId: UserId, updates: readonly DeviceUpdate[]): Promise<DeviceRow[]> {
  const ids = [...new Set(updates.map(({ deviceId }) => deviceId))].sort((a, b) => a - b);
  return tx.devices.lock(userId, ids);
}

/** The present values of the attributes to be changed and of those `beside` them, erased ones included. */
export async function presentValues(
  tx: Pick<CommitTables, "attributes">,
  userId: UserId,
  { deviceId, changes }: DeviceUpdate,
  beside: readonly AttributeKey[] = [],
): Promise<PresentValues> {
  const keys = [...new Set([...changes.map(({ key }) => key), ...beside])];
  const rows = await tx.attributes.some(userId, deviceId, keys);
  return new Map(rows.map(({ key, value }) => [key, value]));
}

function withinRoom<Update extends DeviceUpdate>(updates: readonly Update[], room: number): readonly Update[] {
  let left = room;
  return updates.filter(({ changes }) => {
    left -= changes.length;
    return left >= 0;
  });
}

function countWrites(updates: readonly DeviceUpdate[]): number {
  return updates.reduce((count, { changes }) => count + changes.length, 0);
}

interface ApplyParts {
  readonly gates: readonly Gate[];
  readonly ownThings: OwnDeviceThings | undefined;
  readonly form: ThingForm;
}

async function applyToDevice(
  tx: CommitTables,
  userId: UserId,
  update: DeviceUpdate & { readonly cause: Cause },
  hop: number,
  nowMs: number,
  devices: Map<DeviceId, LockedDevice>,
  { gates, ownThings, form }: ApplyParts,
): Promise<DeviceCommit | LimitReached | undefined> {
  const { deviceId, cause, things: thingWrites = [] } = update;
  const device: LockedDevice | undefined = devices.get(deviceId) ?? (await tx.devices.lock(userId, [deviceId]))[0];
  if (!device) throw new NotFound(`Device ${deviceId} does not exist.`);
  if (update.fallsSilent) {
    return (await silenceDevices(tx, device.tenantId!, [device], nowMs, { ownThings, cause, hop }))[0];
  }
  let { changes } = update;
  if (cause.by !== "ecosystem") {
    for (const gate of gates) changes = await gate(tx, device, { ...update, changes }, nowMs);
  }
  // A linked account has a fixed set of attributes, so that no limit concerns it.
  const tooMany = device.isVirtual ? undefined : await earlyRefusalOf(tx, userId, deviceId, changes);
  if (tooMany) return tooMany;
  // Read under the lock, never from memory: two equal snapshots that arrive at the same time must not both count as a
  // change.
  const ownThing = await ownThings?.written(tx, device, changes, cause.by === "alert");
  const before: PresentValues =
    device.present ?? (await presentValues(tx, userId, { deviceId, changes }, ownThing?.attributes));
  const kept = changes
    .map((change) => ({ ...change, before: before.get(change.key) ?? null }))
    .filter((change) => cause.by !== "ecosystem" || change.isRestated || change.value !== change.before);
  const things =
    thingWrites.length > 0
      ? (device.things ?? (await prepareThings(tx, userId, deviceId, thingWrites, form)))
      : undefined;
  const ownChange = ownThing?.change(before, kept, nowMs);
  const sounds = ownThing?.sounds(before, kept);
  const thingChanges = ownChange ? [ownChange] : (things?.changes ?? []);
  if (kept.length === 0 && thingChanges.length === 0) return undefined;
  const growth = device.isVirtual ? undefined : growthOf(kept, before);
  const refusal = growth && (await refusalOf(tx, userId, new Map([[deviceId, growth]])));
  if (refusal) return refusal;

  const timeMs = Math.max(device.lastTimeMs + 1, nowMs);
  if (kept.length > 0) await tx.attributes.write(userId, deviceId, timeMs, kept);
  await things?.write(timeMs);
  if (sounds !== undefined) await tx.mappedDevices.setSounding(userId, deviceId, sounds);
  await tx.devices.setLastTime(userId, deviceId, timeMs, growth);
  // What an alert writes is no sign of life: the time at which the device was last heard stays.
  const described = ownThing?.isUnheard ? { describedMs: timeMs, heardMs: lastHeardMs(device) } : undefined;
  if (described) await tx.devices.setDescribed(userId, deviceId, described.heardMs);
  await tx.log.append(
    kept.length > 0
      ? attributeEntry(userId, deviceId, timeMs, cause, kept, thingChanges)
      : thingEntry(userId, deviceId, timeMs, thingChanges, cause),
  );
  devices.set(deviceId, { ...device, lastTimeMs: timeMs, ...described, present: undefined, things: undefined });
  return {
    userId,
    deviceId,
    cause,
    hop,
    timeMs,
    previousTimeMs: device.lastTimeMs,
    changes: kept,
    things: thingChanges,
    isWatched: device.isWatched,
    isMapped: ownThing !== undefined,
    areThingsWatched: device.areThingsWatched,
  };
}
