/**
 * A whole account of a home ecosystem, as its connector parsed it: the objects, their fields, and which parts were
 * unreadable. An unreadable object is not gone: an object that is named but can't be read keeps its last values.
 */
export interface Account {
  readonly structures: Listing<Structure>;
  readonly thermostats: Listing<Thermostat>;
  readonly alarms: Listing<Alarm>;
  /** False when no part of the account mentions alarms: the alarm summaries are then blank, not "false". */
  readonly speaksOfAlarms: boolean;
  readonly oddities: Oddities;
}

export interface Listing<T> {
  /** False when the snapshot does not list all objects of this kind: then a missing object does not count as gone. */
  readonly isWhole: boolean;
  readonly byId: ReadonlyMap<string, Sighting<T>>;
}

/** What a snapshot shows of one object: all of it, or only that it exists. */
export type Sighting<T> =
  | { readonly isRead: true; readonly object: T }
  | { readonly isRead: false; readonly partial: Partial<T> };

export interface Structure {
  readonly name: string | null;
  readonly away: "home" | "away" | "auto-away" | "unknown" | null;
  /** False when the structure's lists of devices could not be read: a device missing from them is not gone. */
  readonly listsDevices: boolean;
}

export interface Thermostat {
  readonly structureId: string | null;
  readonly name: string | null;
  readonly isOnline: boolean | null;
  readonly hasFan: boolean | null;
  readonly fanTimerActive: boolean | null;
  readonly fanTimerTimeout: string | null;
}

export interface Alarm {
  readonly structureId: string | null;
  readonly name: string | null;
  readonly isOnline: boolean | null;
  /** ok, warning, emergency; a word we don't know stays as it is, and never becomes "ok". */
  readonly coAlarmState: string | null;
  readonly smokeAlarmState: string | null;
  readonly uiColorState: string | null;
}

/** Counts of unusual input, shown in the link's status. */
export interface Oddities {
  readonly incomplete: number;
  readonly unknownAlarmStates: number;
  readonly unknownAwayStates: number;
}
