import type { Cause } from "../model/cause.ts";
import { LimitReached, NotFound, OwnershipLost } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { Report } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import type { Ownership } from "../store/tables/links.ts";
import { earlyRefusalOf, growthOf, type PresentValues, refusalOf } from "./growth.ts";
import { attributeEntry } from "./log-entries.ts";

/** The tables that a commit touches. */
export type CommitTables = Pick<
  Transaction,
  | "users"
  | "devices"
  | "attributes"
  | "attributeUsage"
  | "triggers"
  | "links"
  | "commands"
  | "idempotencyKeys"
  | "log"
  | "clock"
>;

export interface AttributeChange {
  readonly key: AttributeKey;
  readonly value: string | null;
  /** The ecosystem confirmed the value anew: it counts as a change, though it may be the value that is shown. */
  readonly isRestated?: boolean;
}

export interface DeviceUpdate {
  readonly deviceId: DeviceId;
  readonly changes: readonly AttributeChange[];
}

export interface CommitRequest {
  readonly userId: UserId;
  readonly cause: Cause;
  /** What to write; or, when that depends on what is there or must be made first, how to find out under the lock. */
  readonly updates: readonly DeviceUpdate[] | ((tx: CommitTables, nowMs: number) => Promise<readonly DeviceUpdate[]>);
  /** Alarm transitions: they wait behind nobody. */
  readonly urgent?: boolean;
  /** Aborts when one of them has come up behind this one. */
  readonly hurry?: AbortSignal;
  /** The right by which a mirror writes; without it in force nothing is written. */
  readonly ownership?: Ownership & { readonly deviceId: DeviceId };
  /** When what is written was received, on this node's own unjumping clock. */
  readonly receivedMs?: number;
  /** What must become durable together with the change (the index map, the link's state), under the same lock. */
  readonly also?: (tx: CommitTables) => Promise<void>;
}

/** One commit to one device: everything it changed has this one time. */
export interface DeviceCommit {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
  readonly cause: Cause;
  readonly hop: number;
  readonly timeMs: number;
  /** The device's time before: who holds its state at that time can bring it forward by these changes. */
  readonly previousTimeMs: number;
  readonly changes: readonly (AttributeChange & { readonly before: string | null })[];
  readonly receivedMs?: number | undefined;
  /** False when no enabled alert watches the device; undefined when nobody has looked. */
  readonly isWatched?: boolean | undefined;
}

/**
 * Looks at what somebody other than the ecosystem wants to write, under the lock and before it is written, and answers
 * what will be written instead: as it is, something else, or nothing.
 */
export type Gate = (
  tx: CommitTables,
  device: DeviceRow,
  update: DeviceUpdate & { readonly cause: Cause },
  nowMs: number,
) => Promise<readonly AttributeChange[]>;

/**
 * Hears every commit to a device while its transaction is open, and answers what else must be written because of it.
 * What it writes goes through the same steps, in the same transaction. `room` is how many attributes may still be
 * written because of this commit: what is answered beyond it is not.
 */
export type Reaction = (
  tx: CommitTables,
  commit: DeviceCommit,
  room: number,
) => Promise<readonly (DeviceUpdate & { readonly cause: Cause })[]>;

/** Chains of reactions from one cause end here. */
export const chainLimits = { hops: limits.alertHopsPerCause, writes: limits.alertWritesPerCause };

export type CommitListener = (commits: readonly DeviceCommit[], isUrgent: boolean) => void;

export interface CommitParts {
  readonly store: Store<CommitTables>;
  readonly gates?: readonly Gate[];
  readonly reactions: readonly Reaction[];
  /** Called after the commit is durable, in order for each device. */
  readonly committed: CommitListener;
  readonly report: Report;
}

export type Commit = (request: CommitRequest) => Promise<readonly DeviceCommit[]>;

/** The only way an attribute changes: one transaction with all its consequences, durable when it resolves. */
export function commitOn(parts: CommitParts): Commit {
  return async (request) => {
    const commits = await parts.store.transaction((tx) => apply(tx, request, parts), {
      ...(request.hurry && { hurry: request.hurry }),
      urgent: request.urgent ?? false,
      patient: request.ownership !== undefined,
    });
    parts.committed(commits, request.urgent ?? false);
    return commits;
  };
}

async function apply(
  tx: CommitTables,
  request: CommitRequest,
  { gates = [], reactions, report }: CommitParts,
): Promise<readonly DeviceCommit[]> {
  const { userId, receivedMs } = request;
  const { nowMs, updates, devices } = await lock(tx, request);
  const commits: DeviceCommit[] = [];
  let wave = updates.map((update) => ({ ...update, cause: request.cause }));
  let writesLeft = chainLimits.writes;
  for (let hop = 0; wave.length > 0; hop++) {
    const next: typeof wave = [];
    for (const update of wave) {
      const applied = await applyToDevice(tx, userId, update, hop, nowMs, devices, gates);
      if (!applied) continue;
      if (applied instanceof LimitReached) {
        if (update.cause.by !== "alert") throw applied;
        // The alert has looked for room before it fired. Should they disagree, the change that caused it still counts.
        report.warn({ userId, deviceId: update.deviceId, error: applied }, "a write of an alert was left out");
        continue;
      }
      const commit = { ...applied, receivedMs };
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

/** A device whose row is locked, and what it shows now if that is known already. */
type LockedDevice = DeviceRow & { readonly present?: PresentValues | undefined };

/** The order of locks is the same everywhere: user, link, devices ascending. What is known beforehand is asked at once. */
async function lock(tx: CommitTables, { userId, cause, updates, ownership }: CommitRequest) {
  const given = typeof updates === "function" ? undefined : updates;
  // What a gate lets through may be something else, and of several updates the first changes what the next one finds.
  const only = given?.length === 1 && cause.by === "ecosystem" ? given[0] : undefined;
  const [nowMs, isOwned, early, present] = await Promise.all([
    tx.users.lock(userId),
    !ownership || tx.links.holds(userId, ownership.deviceId, ownership),
    given && lockDevices(tx, userId, given),
    only && presentValues(tx, userId, only),
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
    devices: new Map(rows.map((row): [DeviceId, LockedDevice] => [row.id, { ...row, present }])),
  };
}

function lockDevices(tx: CommitTables, userId: UserId, updates: readonly DeviceUpdate[]): Promise<DeviceRow[]> {
  const ids = [...new Set(updates.map(({ deviceId }) => deviceId))].sort((a, b) => a - b);
  return tx.devices.lock(userId, ids);
}

/** The attributes among the changes that the device has, erased ones included. */
export async function presentValues(
  tx: Pick<CommitTables, "attributes">,
  userId: UserId,
  { deviceId, changes }: DeviceUpdate,
): Promise<PresentValues> {
  const keys = changes.map(({ key }) => key);
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

async function applyToDevice(
  tx: CommitTables,
  userId: UserId,
  update: DeviceUpdate & { readonly cause: Cause },
  hop: number,
  nowMs: number,
  devices: Map<DeviceId, LockedDevice>,
  gates: readonly Gate[],
): Promise<DeviceCommit | LimitReached | undefined> {
  const { deviceId, cause } = update;
  const device: LockedDevice | undefined = devices.get(deviceId) ?? (await tx.devices.find(userId, deviceId));
  if (!device) throw new NotFound(`Device ${deviceId} does not exist.`);
  let { changes } = update;
  if (cause.by !== "ecosystem") {
    for (const gate of gates) changes = await gate(tx, device, { ...update, changes }, nowMs);
  }
  const tooMany = device.isVirtual ? undefined : await earlyRefusalOf(tx, userId, deviceId, changes);
  if (tooMany) return tooMany;
  // Under the lock, never from memory: two equal snapshots on their way at once must not both count as a change.
  const before = device.present ?? (await presentValues(tx, userId, { deviceId, changes }));
  const kept = changes
    .map((change) => ({ ...change, before: before.get(change.key) ?? null }))
    .filter((change) => cause.by !== "ecosystem" || change.isRestated || change.value !== change.before);
  if (kept.length === 0) return undefined;
  const growth = device.isVirtual ? undefined : growthOf(kept, before);
  const refusal = growth && (await refusalOf(tx, userId, new Map([[deviceId, growth]])));
  if (refusal) return refusal;

  const timeMs = Math.max(device.lastTimeMs + 1, nowMs);
  await tx.attributes.write(userId, deviceId, timeMs, kept);
  await tx.devices.setLastTime(userId, deviceId, timeMs, growth);
  await tx.log.append(attributeEntry(userId, deviceId, timeMs, cause, kept));
  devices.set(deviceId, { ...device, lastTimeMs: timeMs, present: undefined });
  return {
    userId,
    deviceId,
    cause,
    hop,
    timeMs,
    previousTimeMs: device.lastTimeMs,
    changes: kept,
    isWatched: device.isWatched,
  };
}
