import type { Alarm, Oddities, Sighting, Structure, Thermostat } from "../../home/account.ts";
import { isJsonObject, type JsonObject } from "./parse-json.ts";

/** Oddities while they are being counted. */
export type Counts = { -readonly [Field in keyof Oddities]: Oddities[Field] };

/**
 * Parses a structure. It counts as readable when it has any member besides id and name. `away` can't decide: an account
 * with alarms only has no `away` (its permissions remove the key), and would stay incomplete for ever.
 */
export function readStructure(value: unknown, counts: Counts): Sighting<Structure> {
  const name = isJsonObject(value) ? textOf(value.name) : null;
  if (!isJsonObject(value) || !hasOtherMembers(value)) {
    counts.incomplete += 1;
    return { isRead: false, partial: { name, listsDevices: false } };
  }
  const listsDevices = isIdList(value.thermostats) && isIdList(value.smoke_co_alarms);
  if (!listsDevices) counts.incomplete += 1;
  return { isRead: true, object: { name, away: awayOf(value.away, counts), listsDevices } };
}

/** `listedIn` is the structure that lists the thermostat; the thermostat's own `structure_id` goes first. */
export function readThermostat(value: unknown, listedIn: string | null, counts: Counts): Sighting<Thermostat> {
  const object = isJsonObject(value) ? value : emptyObject;
  const structureId = textOf(object.structure_id) ?? listedIn;
  const name = textOf(object.name);
  const isOnline = claimOf(object.is_online);
  const hasFan = claimOf(object.has_fan);
  const fanTimerActive = claimOf(object.fan_timer_active);
  const fanTimerTimeout = textOf(object.fan_timer_timeout);
  const mirrored = isOnline ?? hasFan ?? fanTimerActive ?? fanTimerTimeout;
  if (mirrored === null) return unreadDevice(structureId, name, counts);
  return { isRead: true, object: { structureId, name, isOnline, hasFan, fanTimerActive, fanTimerTimeout } };
}

/** `listedIn` is the structure that lists the alarm; the alarm's own `structure_id` goes first. */
export function readAlarm(value: unknown, listedIn: string | null, counts: Counts): Sighting<Alarm> {
  const object = isJsonObject(value) ? value : emptyObject;
  const structureId = textOf(object.structure_id) ?? listedIn;
  const name = textOf(object.name);
  const isOnline = claimOf(object.is_online);
  const coAlarmState = alarmStateOf(object.co_alarm_state, counts);
  const smokeAlarmState = alarmStateOf(object.smoke_alarm_state, counts);
  const uiColorState = textOf(object.ui_color_state);
  const mirrored = isOnline ?? coAlarmState ?? smokeAlarmState ?? uiColorState;
  if (mirrored === null) return unreadDevice(structureId, name, counts);
  return { isRead: true, object: { structureId, name, isOnline, coAlarmState, smokeAlarmState, uiColorState } };
}

const emptyObject: JsonObject = {};

/** A device with nothing but ids and name is only known to exist: its values stay as they were. */
function unreadDevice(structureId: string | null, name: string | null, counts: Counts): UnreadDevice {
  counts.incomplete += 1;
  return { isRead: false, partial: { structureId, name } };
}

type UnreadDevice = {
  readonly isRead: false;
  readonly partial: { readonly structureId: string | null; readonly name: string | null };
};

function hasOtherMembers(structure: JsonObject): boolean {
  return Object.keys(structure).some((key) => key !== "structure_id" && key !== "name" && structure[key] !== null);
}

/** A missing list means that there is no such device. An unreadable list leaves open which devices are gone. */
function isIdList(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every((id) => typeof id === "string"));
}

function awayOf(value: unknown, counts: Counts): Structure["away"] {
  if (value === "home" || value === "away" || value === "auto-away") return value;
  if (typeof value !== "string") return null;
  counts.unknownAwayStates += 1;
  return "unknown";
}

function alarmStateOf(value: unknown, counts: Counts): string | null {
  const state = textOf(value);
  if (state !== null && state !== "ok" && state !== "warning" && state !== "emergency") counts.unknownAlarmStates += 1;
  return state;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function claimOf(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}
