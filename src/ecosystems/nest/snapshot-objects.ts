import type { Traits } from "../../home/catalogue.ts";
import type { ObjectReading, Oddities, Structure } from "../../home/home.ts";
import type { Thing } from "../../home/thing.ts";
import { type AlarmState, noConditions } from "../../home/traits/alarm-states.ts";
import type { Presence } from "../../home/traits/presence.ts";
import type { Smoke } from "../../home/traits/smoke.ts";
import { isJsonObject, type JsonObject } from "../../runtime/json/untrusted-json.ts";
import { claimOf, textOf } from "../kit/document-values.ts";
import { climateTraits } from "./thermostat-traits.ts";

/** Oddities while they are being counted. */
export type Counts = { -readonly [Field in keyof Oddities]: Oddities[Field] };

/**
 * Parses a structure. It counts as readable when it has any member besides id and name. `away` can't decide: an account
 * with alarms only has no `away` (its permissions remove the key), and would stay incomplete for ever.
 */
export function readStructure(value: unknown, counts: Counts): ObjectReading<Structure> {
  const name = isJsonObject(value) ? textOf(value.name) : null;
  if (!isJsonObject(value) || !hasOtherMembers(value)) {
    counts.incomplete += 1;
    return { isRead: false, partial: { name, listsDevices: false } };
  }
  const listsDevices = isIdList(value.thermostats) && isIdList(value.smoke_co_alarms);
  if (!listsDevices) counts.incomplete += 1;
  return { isRead: true, object: { name, presence: presenceOf(textOf(value.away), counts), listsDevices } };
}

/** `listedIn` is the structure that lists the thermostat; the thermostat's own `structure_id` goes first. */
export function readThermostat(value: unknown, listedIn: string | null, counts: Counts): ObjectReading<Thing> {
  const object = isJsonObject(value) ? value : emptyObject;
  const isOnline = claimOf(object.is_online);
  const supported = claimOf(object.has_fan);
  const active = claimOf(object.fan_timer_active);
  const untilText = textOf(object.fan_timer_timeout);
  if ((isOnline ?? supported ?? active ?? untilText) === null) return unreadDevice(object, listedIn, counts);
  const untilMs = untilText === null ? Number.NaN : Date.parse(untilText);
  const fanTimer = {
    available: isOnline,
    state: { active, untilMs: untilMs > 0 ? untilMs : null, untilText },
    capabilities: fanTimers[`${supported}`],
  };
  const traits = climateTraits(object, isOnline, fanTimer);
  return { isRead: true, object: thingOf("thermostat", object, listedIn, isOnline, traits) };
}

/** `listedIn` is the structure that lists the alarm; the alarm's own `structure_id` goes first. */
export function readAlarm(value: unknown, listedIn: string | null, counts: Counts): ObjectReading<Thing> {
  const object = isJsonObject(value) ? value : emptyObject;
  const isOnline = claimOf(object.is_online);
  const coWord = textOf(object.co_alarm_state);
  const smokeWord = textOf(object.smoke_alarm_state);
  const color = textOf(object.ui_color_state);
  const testing = claimOf(object.is_manual_test_active);
  const smoke = alarmTrait(smokeWord, testing, isOnline, counts);
  const carbonMonoxide = alarmTrait(coWord, testing, isOnline, counts);
  if ((isOnline ?? coWord ?? smokeWord ?? color) === null) return unreadDevice(object, listedIn, counts);
  const batteryState = { state: batteryOf(object.battery_health), percent: null };
  const traits = {
    smoke,
    carbonMonoxide,
    battery: { available: isOnline, state: batteryState, capabilities: noCapabilities },
    indicator: { available: isOnline, state: { color }, capabilities: noCapabilities },
  };
  return { isRead: true, object: thingOf("alarm", object, listedIn, isOnline, traits) };
}

/** The longest time that the ecosystem's own application offers. */
const longestFanTimerMinutes = 720;

/** Equal capabilities are the same object: there are few, and snapshots are many. */
const fanTimers = {
  true: { supported: true, maxMinutes: longestFanTimerMinutes },
  false: { supported: false, maxMinutes: longestFanTimerMinutes },
  null: { supported: null, maxMinutes: longestFanTimerMinutes },
} as const;

const emptyObject: JsonObject = {};
const noCapabilities = {};
const graded = { graded: true };

/** A device with nothing but ids and name is only known to exist: its values stay as they were. */
function unreadDevice(object: JsonObject, listedIn: string | null, counts: Counts): ObjectReading<Thing> {
  counts.incomplete += 1;
  return {
    isRead: false,
    partial: { structureId: textOf(object.structure_id) ?? listedIn, name: textOf(object.name) },
  };
}

function thingOf(
  kind: "thermostat" | "alarm",
  object: JsonObject,
  listedIn: string | null,
  isOnline: boolean | null,
  traits: Traits,
): Thing {
  return {
    kind,
    structureId: textOf(object.structure_id) ?? listedIn,
    name: textOf(object.name),
    room: textOf(object.where_name),
    maker: "Nest",
    model: null,
    isOnline,
    traits,
  };
}

function hasOtherMembers(structure: JsonObject): boolean {
  return Object.keys(structure).some((key) => key !== "structure_id" && key !== "name" && structure[key] !== null);
}

/** A missing list means that there is no such device. An unreadable list leaves open which devices are gone. */
function isIdList(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every((id) => typeof id === "string"));
}

function presenceOf(word: string | null, counts: Counts): Presence {
  const state = word === null ? null : (presences.get(word) ?? "unknown");
  if (state === "unknown") counts.unknownAwayStates += 1;
  return { available: word !== null, state: { state, word }, capabilities: noCapabilities };
}

const presences: ReadonlyMap<string, NonNullable<Presence["state"]["state"]>> = new Map([
  ["home", "home"],
  ["away", "away"],
  ["auto-away", "autoAway"],
]);

function alarmTrait(word: string | null, testing: boolean | null, isOnline: boolean | null, counts: Counts): Smoke {
  const state = word === null ? null : (alarmWords.get(word) ?? "unknown");
  if (state === "unknown") counts.unknownAlarmStates += 1;
  return { available: isOnline, state: { ...noConditions, state, word, testing }, capabilities: graded };
}

const alarmWords: ReadonlyMap<string, AlarmState> = new Map([
  ["ok", "clear"],
  ["warning", "warning"],
  ["emergency", "alarm"],
]);

function batteryOf(health: unknown): "ok" | "low" | null {
  if (health === "ok") return "ok";
  return health === "replace" ? "low" : null;
}
