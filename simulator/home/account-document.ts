import { isJsonObject, type Json, type JsonObject } from "./json.ts";

/** The account document with its wire names. It is immutable: a change creates a new document. */
export type AccountDocument = {
  readonly devices?: Devices;
  readonly structures?: Listing<Structure>;
  readonly metadata?: Json;
};

export type Listing<T> = { readonly [id: string]: T };

/** The key of a kind is absent if there is no device of it. */
export type Devices = {
  readonly thermostats?: Listing<Thermostat>;
  readonly smoke_co_alarms?: Listing<SmokeCoAlarm>;
};

/** The key below `devices` and in a structure. */
export type DeviceKind = "thermostats" | "smoke_co_alarms";
export const deviceKinds: readonly DeviceKind[] = ["thermostats", "smoke_co_alarms"];

export type Device = {
  readonly device_id: string;
  readonly structure_id: string;
  readonly name: string;
  readonly name_long: string;
  readonly locale: string;
  readonly software_version: string;
  readonly where_id: string;
  readonly where_name: string;
  readonly last_connection: string;
  readonly is_online: boolean;
};

/** Each temperature has two fields: in half degrees Celsius and in whole degrees Fahrenheit. */
export type Temperature<Name extends string> = { readonly [Field in `${Name}_c` | `${Name}_f`]: number };

export type Thermostat = Device &
  Temperature<"target_temperature"> &
  Temperature<"target_temperature_high"> &
  Temperature<"target_temperature_low"> &
  Temperature<"eco_temperature_high"> &
  Temperature<"eco_temperature_low"> &
  Temperature<"ambient_temperature"> &
  Temperature<"locked_temp_min"> &
  Temperature<"locked_temp_max"> & {
    readonly label: string;
    readonly can_cool: boolean;
    readonly can_heat: boolean;
    readonly is_using_emergency_heat: boolean;
    readonly has_fan: boolean;
    readonly fan_timer_active: boolean;
    readonly fan_timer_timeout: string;
    readonly fan_timer_duration: number;
    readonly has_leaf: boolean;
    readonly temperature_scale: "C" | "F";
    readonly hvac_mode: "heat" | "cool" | "heat-cool" | "eco" | "off";
    readonly previous_hvac_mode: string;
    readonly hvac_state: "heating" | "cooling" | "off";
    readonly humidity: number;
    readonly is_locked: boolean;
    readonly sunlight_correction_enabled: boolean;
    readonly sunlight_correction_active: boolean;
    readonly time_to_target: string;
    readonly time_to_target_training: string;
  };

export type AlarmState = "ok" | "warning" | "emergency";

export type SmokeCoAlarm = Device & {
  readonly battery_health: "ok" | "replace";
  readonly co_alarm_state: AlarmState;
  readonly smoke_alarm_state: AlarmState;
  readonly is_manual_test_active: boolean;
  readonly last_manual_test_time: string;
  readonly ui_color_state: "gray" | "green" | "yellow" | "red";
};

export type Structure = {
  readonly structure_id: string;
  readonly name: string;
  readonly away: "home" | "away" | "auto-away";
  readonly thermostats?: readonly string[];
  readonly smoke_co_alarms?: readonly string[];
  readonly country_code: string;
  readonly postal_code: string;
  readonly time_zone: string;
  readonly peak_period_start_time: string;
  readonly peak_period_end_time: string;
  readonly eta: JsonObject;
  readonly eta_begin: string;
  readonly co_alarm_state: AlarmState;
  readonly smoke_alarm_state: AlarmState;
  readonly rhr_enrollment: boolean;
  readonly wheres: Listing<Where>;
  readonly wwn_security_state: "ok" | "deter";
};

export type Where = { readonly where_id: string; readonly name: string };

/**
 * Accepts a document whose listings and id lists have the right structure, as scenes and writes need it. Other fields
 * may be missing or have any value. Undefined for every other document.
 */
export function readAccountDocument(document: JsonObject): AccountDocument | undefined {
  const { devices = {}, structures = {} } = document;
  if (!isJsonObject(devices) || !isListing(structures, "structure_id")) return undefined;
  if (!deviceKinds.every((kind) => isListing(devices[kind] ?? {}, "device_id"))) return undefined;
  for (const structure of Object.values(structures)) {
    if (!deviceKinds.every((kind) => isIdList(structure[kind] ?? []))) return undefined;
  }
  return document as AccountDocument;
}

function isListing(value: Json, idField: string): value is Listing<JsonObject> {
  if (!isJsonObject(value)) return false;
  return Object.entries(value).every(([id, entry]) => isJsonObject(entry) && entry[idField] === id);
}

function isIdList(value: Json): boolean {
  return Array.isArray(value) && value.every((id) => typeof id === "string");
}
