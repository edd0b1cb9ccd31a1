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
  /** Reads what was committed before this call, so it comes after `lockUsers`. */
  read(requests: RowRequests): Promise<FoundRows>;
  /** Writes everything without waiting for the results. If a statement fails, COMMIT fails. */
  write(writes: GroupWrites): Promise<void>;
  /** Reads of one member alone. They run in the same transaction. */
  readonly single: Pick<Transaction, "triggers" | "thingTriggers" | "fanRequests" | "thingCommands">;
}

/** The questions of all members in one turn of the event loop. */
export interface RowRequests {
  readonly links: readonly LinkRef[];
  readonly devices: readonly DeviceRef[];
  readonly attributes: readonly AttributeRef[];
  readonly things: readonly ThingRef[];
}

export interface FoundRows {
  /** The devices of those links that still have the asked owner and epoch. They keep them until the group ends. */
  readonly links: ReadonlySet<DeviceId>;
  /** Those of the devices whose locks were free. They are locked now. */
  readonly devices: readonly DeviceRow[];
  readonly attributes: readonly (AttributeRow & Pick<DeviceRef, "deviceId">)[];
  readonly things: readonly ThingRow[];
}

export interface DeviceRef {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
}

export interface LinkRef extends DeviceRef, Ownership {}

export interface AttributeRef extends DeviceRef {
  readonly key: AttributeKey;
}

export type ThingRef = Pick<ThingRow, "userId" | "thingId">;

export interface WrittenAttribute extends AttributeRef {
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
  readonly times: readonly (DeviceRef & { readonly timeMs: number })[];
  /** In this order for each user. */
  readonly log: readonly LogEntry[];
}
