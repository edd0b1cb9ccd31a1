import type { Cause } from "../model/cause.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Transaction } from "../store/seam.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import type { ThingChange } from "./thing-writes.ts";

/** The tables that a commit touches. */
export type CommitTables = Pick<
  Transaction,
  | "users"
  | "devices"
  | "deviceTypeMaps"
  | "mappedDevices"
  | "attributes"
  | "attributeUsage"
  | "things"
  | "thingCommands"
  | "triggers"
  | "thingTriggers"
  | "links"
  | "fanRequests"
  | "idempotencyKeys"
  | "linkSessions"
  | "audit"
  | "log"
  | "nodes"
  | "clock"
>;

export interface AttributeChange {
  readonly key: AttributeKey;
  readonly value: string | null;
  /** The ecosystem confirmed the value again: it counts as a change even if it equals the stored value. */
  readonly isRestated?: boolean;
}

/** One commit to one device: all its changes have the same time. */
export interface DeviceCommit {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
  readonly cause: Cause;
  /** The same object for a request's commits and all that follow from them, and another one for each request. */
  readonly chain?: object;
  readonly hop: number;
  readonly timeMs: number;
  /** The device's time before this commit: a cached state of that time can be updated with these changes. */
  readonly previousTimeMs: number;
  readonly changes: readonly (AttributeChange & { readonly before: string | null })[];
  readonly things: readonly ThingChange[];
  readonly receivedMs?: number | undefined;
  /** False when no enabled alert watches an attribute of the device; undefined when this was not looked up. */
  readonly isWatched?: boolean | undefined;
  /** Whether the device is an own thing: its type has a trait map. */
  readonly isMapped?: boolean;
  /** The same for alerts on the things that the device reports. */
  readonly areThingsWatched?: boolean | undefined;
  /** The device fell silent: it keeps its time, `previousTimeMs`. */
  readonly isSilence?: true;
}
