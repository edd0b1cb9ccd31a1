import type { Home, Listing, ObjectReading, Structure } from "../../src/home/home.ts";
import type { Thing } from "../../src/home/thing.ts";
import { type AlarmState, noConditions } from "../../src/home/traits/alarm-states.ts";
import type { Presence } from "../../src/home/traits/presence.ts";
import type { Smoke } from "../../src/home/traits/smoke.ts";
import type { Thermostat } from "../../src/home/traits/thermostat.ts";

type ListingName = "structures" | "thermostats" | "alarms";

interface HomeParts {
  readonly structures?: Sightings<Structure>;
  readonly thermostats?: Sightings<Thing>;
  readonly alarms?: Sightings<Thing>;
  readonly speaksOfAlarms?: boolean;
  readonly notWhole?: readonly ListingName[];
}

type Sightings<T> = Readonly<Record<string, ObjectReading<T>>> | Iterable<readonly [string, ObjectReading<T>]>;

/** A home; a test states only what matters to it. All named objects are readable, and the lists are complete. */
export function homeWith(parts: HomeParts = {}): Home {
  const isWhole = (name: ListingName) => !parts.notWhole?.includes(name);
  return {
    structures: listing(parts.structures, isWhole("structures")),
    thermostats: listing(parts.thermostats, isWhole("thermostats")),
    alarms: listing(parts.alarms, isWhole("alarms")),
    speaksOfAlarms: parts.speaksOfAlarms ?? true,
    oddities: { incomplete: 0, unknownAlarmStates: 0, unknownAwayStates: 0 },
  };
}

/** The words of the attribute `away`. */
export type AwayWord = "home" | "away" | "auto-away" | "unknown" | null;

export interface StructureFields extends Pick<Structure, "name" | "listsDevices"> {
  readonly away: AwayWord;
}

export function structure({ away = "home", ...fields }: Partial<StructureFields> = {}): ObjectReading<Structure> {
  return { isRead: true, object: { name: "Home", listsDevices: true, ...fields, presence: presence(away) } };
}

export interface ThermostatFields extends Pick<Thing, "structureId" | "name" | "isOnline"> {
  readonly hasFan: boolean | null;
  readonly fanTimerActive: boolean | null;
  readonly fanTimerTimeout: string | null;
  readonly mode: Thermostat["state"]["mode"];
  /** The measured temperature; the thing has no such trait when left out. */
  readonly celsius: number;
}

export function thermostat(structureId: string | null, fields: Partial<ThermostatFields> = {}): ObjectReading<Thing> {
  return { isRead: true, object: thermostatThing({ structureId, ...fields }) };
}

export function thermostatThing({
  hasFan: supported = true,
  fanTimerActive: active = false,
  fanTimerTimeout: untilText = "1970-01-01T00:00:00.000Z",
  mode = "heat",
  celsius,
  ...fields
}: Partial<ThermostatFields>): Thing {
  const shown = { structureId: null, name: "Hall", isOnline: true, ...fields };
  const available = shown.isOnline;
  return {
    kind: "thermostat",
    ...described,
    ...shown,
    traits: {
      thermostat: { available, state: { ...blankThermostat, mode }, capabilities: nineToThirtyTwo },
      ...(celsius !== undefined && { temperature: { available, state: { celsius }, capabilities: { unit: "C" } } }),
      fanTimer: {
        available,
        state: { active, untilMs: null, untilText },
        capabilities: { supported, maxMinutes: 720 },
      },
    },
  };
}

export interface AlarmFields extends Pick<Thing, "structureId" | "name" | "isOnline"> {
  readonly coAlarmState: string | null;
  readonly smokeAlarmState: string | null;
  readonly uiColorState: string | null;
}

export function alarm(structureId: string | null, fields: Partial<AlarmFields> = {}): ObjectReading<Thing> {
  return { isRead: true, object: alarmThing({ structureId, ...fields }) };
}

export function alarmThing({
  coAlarmState = "ok",
  smokeAlarmState = "ok",
  uiColorState: color = "green",
  ...fields
}: Partial<AlarmFields>): Thing {
  const shown = { structureId: null, name: "Attic", isOnline: true, ...fields };
  const available = shown.isOnline;
  return {
    kind: "alarm",
    ...described,
    ...shown,
    traits: {
      carbonMonoxide: alarmTrait(coAlarmState, available),
      smoke: alarmTrait(smokeAlarmState, available),
      indicator: { available, state: { color }, capabilities: {} },
    },
  };
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
  return { isWhole, byId: new Map(entries as Iterable<readonly [string, ObjectReading<T>]>) };
}

const described = { room: null, maker: null, model: null };

const blankThermostat: Thermostat["state"] = {
  mode: null,
  baseMode: null,
  heatCelsius: null,
  coolCelsius: null,
  targetCelsius: null,
  ecoHeatCelsius: null,
  ecoCoolCelsius: null,
  preset: null,
  action: null,
};

/** From 9 to 32 °C in steps of 0.5 °C, with a gap of at least 1.5 °C. */
export const nineToThirtyTwo: Thermostat["capabilities"] = {
  modes: ["off", "heat", "cool", "heatCool", "eco"],
  presets: null,
  dual: true,
  minHeatCelsius: 9,
  maxHeatCelsius: 32,
  minCoolCelsius: 9,
  maxCoolCelsius: 32,
  stepCelsius: 0.5,
  unit: "C",
  single: null,
  minGapCelsius: 1.5,
};

export function presence(away: AwayWord): Presence {
  const state = away === "auto-away" ? "autoAway" : away;
  return { available: away !== null, state: { state, word: away }, capabilities: {} };
}

function alarmTrait(word: string | null, available: boolean | null): Smoke {
  return { available, state: { state: stateOf(word), word, ...noConditions }, capabilities: { graded: true } };
}

function stateOf(word: string | null): AlarmState | null {
  if (word === null) return null;
  if (word === "ok") return "clear";
  if (word === "emergency") return "alarm";
  return word === "warning" ? "warning" : "unknown";
}

/** What the attributes show of a thing, a structure or a sighting of one of them. */
export function shownOfThermostat({
  structureId,
  name,
  isOnline,
  traits,
}: Thing): Omit<ThermostatFields, "mode" | "celsius"> {
  const { capabilities, state } = traits.fanTimer!;
  const fan = { hasFan: capabilities.supported, fanTimerActive: state.active, fanTimerTimeout: state.untilText };
  return { structureId, name, isOnline, ...fan };
}

export function shownOfAlarm({ structureId, name, isOnline, traits }: Thing): AlarmFields {
  const words = { coAlarmState: traits.carbonMonoxide!.state.word, smokeAlarmState: traits.smoke!.state.word };
  return { structureId, name, isOnline, ...words, uiColorState: traits.indicator!.state.color };
}

export function shownOfStructure({ name, presence, listsDevices }: Structure): StructureFields {
  const state = presence?.state.state ?? null;
  return { name, away: state === "autoAway" ? "auto-away" : state, listsDevices };
}

export function shownOf<T, Shown>(sighting: ObjectReading<T> | undefined, show: (object: T) => Shown): unknown {
  return sighting?.isRead ? { isRead: true, object: show(sighting.object) } : sighting;
}
