import { Conflict } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Transaction } from "../store/seam.ts";
import { type AccessTables, endAccess } from "./end-access.ts";

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
    | "commands"
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

/**
 * Removes a user and all their data. The caller holds the user's lock, and has removed the user's links before, since
 * their tokens must be revoked at the ecosystem. Throws Conflict when a link was added meanwhile.
 */
export async function removeHome(tx: RemovalTables, userId: UserId): Promise<Removed> {
  if ((await tx.links.ofUser(userId)).length > 0) {
    throw new Conflict(`User ${userId} was linked to an ecosystem at the same moment. Try again.`);
  }
  const removed = {
    grants: await endAccess(tx, userId),
    attributes: await tx.attributes.removeOfUser(userId),
    blindIntervals: await tx.blindIntervals.removeOfUser(userId),
    commands: (await tx.commands.removeOfUser(userId)) + (await tx.thingCommands.removeOfUser(userId)),
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
