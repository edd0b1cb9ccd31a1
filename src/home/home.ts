import type { Thing } from "./thing.ts";
import type { Presence } from "./traits/presence.ts";

/**
 * The whole home of a linked account, as its connector parsed it: structures and things, and which parts were
 * unreadable. An unreadable object is not gone: an object that is named but can't be read keeps its last values.
 */
export interface Home {
  readonly structures: Listing<Structure>;
  /** Things with a thermostat, by the ecosystem's id. */
  readonly thermostats: Listing<Thing>;
  /** Things that warn of smoke or carbon monoxide, by the ecosystem's id. */
  readonly alarms: Listing<Thing>;
  /** All further things (lights, switches, fans, sensors); undefined when the ecosystem has none. */
  readonly others?: Listing<Thing>;
  /** False when no part of the account mentions alarms: the alarm summaries are then blank, not "false". */
  readonly speaksOfAlarms: boolean;
  readonly oddities: Oddities;
}

export interface Listing<T> {
  /** False when the snapshot does not list all objects of this kind: then a missing object does not count as gone. */
  readonly isWhole: boolean;
  readonly byId: ReadonlyMap<string, ObjectReading<T>>;
}

/** What a snapshot shows of one object: all of it, or only that it exists. */
export type ObjectReading<T> =
  | { readonly isRead: true; readonly object: T }
  | { readonly isRead: false; readonly partial: Partial<T> };

/** A building with things in it. */
export interface Structure {
  readonly name: string | null;
  /** Whether somebody is at home; undefined when the account does not tell. */
  readonly presence?: Presence;
  /** False when the structure's lists of devices could not be read: a device missing from them is not gone. */
  readonly listsDevices: boolean;
}

/** Counts of unusual input, shown in the link's status. */
export interface Oddities {
  readonly incomplete: number;
  readonly unknownAlarmStates: number;
  readonly unknownAwayStates: number;
}
