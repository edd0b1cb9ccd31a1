/**
 * A whole account of a home ecosystem as its connector read it: what is there, what each thing says, and what could not
 * be told. Incomplete is not gone: an object that is named but can't be read keeps the values it had.
 */
export interface Account {
  readonly structures: Listing<Structure>;
  readonly thermostats: Listing<Thermostat>;
  readonly alarms: Listing<Alarm>;
  /** False when no part of the account speaks of alarms at all: their aggregates are then blank, not "false". */
  readonly speaksOfAlarms: boolean;
  readonly oddities: Oddities;
}

export interface Listing<T> {
  /** False when the snapshot doesn't tell which ones there are: then none of them is gone. */
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

/** What was noticed while reading, counted for the link's status. */
export interface Oddities {
  readonly incomplete: number;
  readonly unknownAlarmStates: number;
  readonly unknownAwayStates: number;
}
