import { Conflict } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import { type AccessTables, endAccess } from "./end-access.ts";
import { announceSuspension } from "./suspension.ts";

export type RemovalTables = AccessTables &
  Pick<
    Transaction,
    | "users"
    | "links"
    | "devices"
    | "attributes"
    | "things"
    | "thingCommands"
    | "blindIntervals"
    | "fanRequests"
    | "triggers"
    | "thingTriggers"
    | "webhooks"
    | "idempotencyKeys"
    | "linkSessions"
    | "assistantGrants"
  >;

/** What was removed with a user. */
export interface Removed {
  readonly devices: readonly DeviceId[];
  readonly attributes: number;
  readonly history: number;
  readonly blindIntervals: number;
  readonly commands: number;
  readonly alerts: number;
  readonly webhooks: number;
  readonly grants: readonly string[];
}

/** Rows of a growing table that are removed in one transaction, for which all other writers wait on SQLite. */
const removedAtOnce = 2_000;

/** Whether the user has more rows than one transaction may remove. */
export async function isLarge(tx: RemovalTables, userId: UserId): Promise<boolean> {
  const growing = [tx.log, tx.attributes, tx.fanRequests, tx.thingCommands, tx.triggers, tx.thingTriggers];
  for (const table of growing) {
    if (await table.hasMoreOfUser(userId, removedAtOnce)) return true;
  }
  return (
    (await tx.devices.hasOwn(userId, removedAtOnce + 1)) ||
    (await tx.idempotencyKeys.usage(userId)).keys > removedAtOnce
  );
}

/** A removal that has not gone on for this time was interrupted. Each slice takes far less. */
export const removalLeaseMs = 60_000;

/**
 * Begins the removal of a large user: suspends them and ends their access, so that nobody uses an account whose data is
 * being removed. The user is marked, so that a node finishes a removal that is interrupted. The caller holds the user's
 * lock.
 */
export async function beginRemoval(tx: RemovalTables, userId: UserId): Promise<readonly string[]> {
  await refuseLinked(tx, userId);
  const nowMs = await tx.clock.nowMs();
  await tx.users.setSuspended(userId, nowMs);
  await tx.users.noteRemoval(userId, nowMs);
  await announceSuspension(tx, { userId });
  return endAccess(tx, userId);
}

/** What the slices have removed. */
export type RemovedInSlices = Pick<Removed, "devices" | "attributes" | "commands" | "alerts" | "history">;

/** Removes the user's history, deliveries, idempotency keys, attributes, commands, alerts and devices in slices. */
export async function removeInSlices(store: Store<RemovalTables>, userId: UserId): Promise<RemovedInSlices> {
  const inSlices = async (slice: (tx: RemovalTables) => Promise<number>) => {
    for (let removed = 0; ; ) {
      const last = await store.transaction(async (tx) => {
        await tx.users.noteRemoval(userId, await tx.clock.nowMs());
        return slice(tx);
      });
      removed += last;
      if (last < removedAtOnce) return removed;
    }
  };
  await inSlices((tx) => tx.log.removeDeliveriesOfUser(userId, removedAtOnce));
  await inSlices((tx) => tx.idempotencyKeys.removeOfOwner(userId, removedAtOnce));
  const history = await inSlices((tx) => tx.log.removeEntriesOfUser(userId, removedAtOnce));
  const attributes = await inSlices((tx) => tx.attributes.removeOfUser(userId, removedAtOnce));
  // Before the devices: the store removes commands to their things and alerts on them in the statement that removes a device.
  const commands =
    (await inSlices((tx) => tx.fanRequests.removeOfUser(userId, removedAtOnce))) +
    (await inSlices((tx) => tx.thingCommands.removeOfUser(userId, removedAtOnce)));
  const alerts =
    (await inSlices((tx) => tx.triggers.removeOfUser(userId, removedAtOnce))) +
    (await inSlices((tx) => tx.thingTriggers.removeOfUser(userId, removedAtOnce)));
  const devices = new Set<DeviceId>();
  await inSlices(async (tx) => {
    const slice = await tx.devices.removeOwn(userId, removedAtOnce);
    for (const deviceId of slice) devices.add(deviceId);
    return slice.length;
  });
  return { devices: [...devices], attributes, commands, alerts, history };
}

/**
 * Removes a user and all their data. The caller holds the user's lock, and has removed the user's links before, since
 * their tokens must be revoked at the ecosystem. Throws Conflict when a link was added meanwhile.
 */
export async function removeHome(tx: RemovalTables, userId: UserId): Promise<Removed> {
  await refuseLinked(tx, userId);
  const removed = {
    grants: await endAccess(tx, userId),
    attributes: await tx.attributes.removeOfUser(userId),
    blindIntervals: await tx.blindIntervals.removeOfUser(userId),
    commands: (await tx.fanRequests.removeOfUser(userId)) + (await tx.thingCommands.removeOfUser(userId)),
    webhooks: await tx.webhooks.removeOfUser(userId),
    alerts: (await tx.triggers.removeOfUser(userId)) + (await tx.thingTriggers.removeOfUser(userId)),
    history: await tx.log.removeOfUser(userId),
    devices: await tx.devices.removeOfUser(userId),
  };
  await tx.things.removeOfUser(userId);
  await tx.idempotencyKeys.removeOfOwner(userId);
  await tx.linkSessions.removeOfUser(userId);
  await tx.assistantGrants.removeOfUser(userId);
  await tx.users.remove(userId);
  return removed;
}

async function refuseLinked(tx: RemovalTables, userId: UserId): Promise<void> {
  if ((await tx.links.ofUser(userId)).length > 0) {
    throw new Conflict(`User ${userId} was linked to an ecosystem at the same moment. Try again.`);
  }
}
