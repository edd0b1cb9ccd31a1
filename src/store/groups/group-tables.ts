import type { DeviceId, UserId } from "../../model/ids.ts";
import type { Transaction } from "../seam.ts";
import type { AttributeKey, AttributeRow } from "../tables/attributes.ts";
import type { DeviceRow } from "../tables/devices.ts";
import type { Ownership } from "../tables/links.ts";
import type { LogEntry } from "../tables/log.ts";
import type { ThingRow } from "../tables/things.ts";
import type { LockedUsers } from "../tables/users.ts";

/**
 * What the members of a group ask the store together, one statement for each function. No statement waits for a lock
 * that another transaction holds (SKIP LOCKED): such rows are missing in the answer. So no account waits for another
 * one, and no two transactions can deadlock.
 */
export interface GroupTables {
  /** Locks those of the users whose locks are free, and returns the store's time after that. */
  lockUsers(ids: readonly UserId[]): Promise<LockedUsers>;
  /** Of these links, the devices of those that still have this owner and epoch. They keep them until the group ends. */
  heldLinks(links: readonly AskedLink[]): Promise<ReadonlySet<DeviceId>>;
  /** Locks those of the devices whose locks are free. */
  lockDevices(devices: readonly AskedDevice[]): Promise<readonly DeviceRow[]>;
  attributes(asked: readonly AskedAttribute[]): Promise<readonly (AttributeRow & Pick<AskedDevice, "deviceId">)[]>;
  things(asked: readonly Pick<ThingRow, "userId" | "thingId">[]): Promise<readonly ThingRow[]>;
  /** Writes everything without waiting for the results. If a statement fails, COMMIT fails. */
  write(writes: GroupWrites): Promise<void>;
  /** Reads of one member alone. They run in the same transaction. */
  readonly single: Pick<Transaction, "triggers" | "thingTriggers" | "commands" | "thingCommands">;
}

export interface AskedDevice {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
}

export interface AskedLink extends AskedDevice, Ownership {}

export interface AskedAttribute extends AskedDevice {
  readonly key: AttributeKey;
}

export interface WrittenAttribute extends AskedAttribute {
  readonly value: string | null;
  readonly timeMs: number;
}

export type WrittenState = Pick<ThingRow, "userId" | "thingId" | "state" | "print" | "samples">;

/** The writes of a group. No row is written twice. */
export interface GroupWrites {
  readonly attributes: readonly WrittenAttribute[];
  /** Things that are added or replaced. */
  readonly things: readonly ThingRow[];
  /** Things whose state alone is replaced. */
  readonly states: readonly WrittenState[];
  /** The times of the devices' last commits. */
  readonly times: readonly (AskedDevice & { readonly timeMs: number })[];
  /** In this order for each user. */
  readonly log: readonly LogEntry[];
}
