import type { Account, Alarm, Listing, Sighting, Structure, Thermostat } from "../../src/home/account.ts";

type ListingName = "structures" | "thermostats" | "alarms";

interface AccountParts {
  readonly structures?: Sightings<Structure>;
  readonly thermostats?: Sightings<Thermostat>;
  readonly alarms?: Sightings<Alarm>;
  readonly speaksOfAlarms?: boolean;
  readonly notWhole?: readonly ListingName[];
}

type Sightings<T> = Readonly<Record<string, Sighting<T>>> | Iterable<readonly [string, Sighting<T>]>;

/** An account; a test states only what matters to it. All named objects are readable, and the lists are complete. */
export function makeAccount(parts: AccountParts = {}): Account {
  const isWhole = (name: ListingName) => !parts.notWhole?.includes(name);
  return {
    structures: listing(parts.structures, isWhole("structures")),
    thermostats: listing(parts.thermostats, isWhole("thermostats")),
    alarms: listing(parts.alarms, isWhole("alarms")),
    speaksOfAlarms: parts.speaksOfAlarms ?? true,
    oddities: { incomplete: 0, unknownAlarmStates: 0, unknownAwayStates: 0 },
  };
}

export function structure(fields: Partial<Structure> = {}): Sighting<Structure> {
  return { isRead: true, object: { name: "Home", away: "home", listsDevices: true, ...fields } };
}

export function thermostat(structureId: string | null, fields: Partial<Thermostat> = {}): Sighting<Thermostat> {
  const object = {
    structureId,
    name: "Hall",
    isOnline: true,
    hasFan: true,
    fanTimerActive: false,
    fanTimerTimeout: "1970-01-01T00:00:00.000Z",
    ...fields,
  };
  return { isRead: true, object };
}

export function alarm(structureId: string | null, fields: Partial<Alarm> = {}): Sighting<Alarm> {
  const object = {
    structureId,
    name: "Attic",
    isOnline: true,
    coAlarmState: "ok",
    smokeAlarmState: "ok",
    uiColorState: "green",
    ...fields,
  };
  return { isRead: true, object };
}

/** An object that the snapshot names but that can't be read. */
export function incomplete<Part extends object>(partial?: Part): { readonly isRead: false; readonly partial: Part } {
  return { isRead: false, partial: partial ?? ({} as Part) };
}

/** `many(3, "t", make)` has the ids t01, t02 and t03. */
export function many<T>(count: number, prefix: string, make: (number: number) => T): [string, T][] {
  return Array.from({ length: count }, (_, index) => [
    `${prefix}${String(index + 1).padStart(2, "0")}`,
    make(index + 1),
  ]);
}

function listing<T>(sightings: Sightings<T> | undefined, isWhole: boolean): Listing<T> {
  const entries = sightings === undefined ? [] : Symbol.iterator in sightings ? sightings : Object.entries(sightings);
  return { isWhole, byId: new Map(entries as Iterable<readonly [string, Sighting<T>]>) };
}
