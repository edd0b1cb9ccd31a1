import type { Device, SmokeCoAlarm, Temperature, Thermostat, Where } from "./account-document.ts";
import { never } from "./new-structure.ts";
import type { Place } from "./places.ts";
import { integerBetween, type Random } from "./random.ts";

export interface DeviceIdentity {
  readonly deviceId: string;
  readonly structureId: string;
  readonly where: Where;
  /** Four hexadecimal digits that distinguish the devices of one room. */
  readonly label: string;
  readonly place: Place;
  readonly connectedMs: number;
}

export function newThermostat(identity: DeviceIdentity, random: Random): Thermostat {
  const target = integerBetween(random, 36, 43) / 2;
  return {
    ...newDevice(identity, "Thermostat", "5.9.4-5"),
    label: identity.label,
    can_cool: random() < 0.7,
    can_heat: true,
    is_using_emergency_heat: false,
    has_fan: true,
    fan_timer_active: false,
    fan_timer_timeout: never,
    fan_timer_duration: 15,
    has_leaf: random() < 0.5,
    temperature_scale: identity.place.temperatureScale,
    ...temperature("target_temperature", target),
    ...temperature("target_temperature_high", target + 4),
    ...temperature("target_temperature_low", target - 2),
    ...temperature("eco_temperature_high", 24.5),
    ...temperature("eco_temperature_low", 12.5),
    hvac_mode: "heat",
    previous_hvac_mode: "",
    ...temperature("ambient_temperature", target + integerBetween(random, -2, 4) / 2),
    humidity: integerBetween(random, 6, 12) * 5,
    hvac_state: "off",
    is_locked: false,
    ...temperature("locked_temp_min", 20),
    ...temperature("locked_temp_max", 22),
    sunlight_correction_enabled: true,
    sunlight_correction_active: false,
    time_to_target: "~0",
    time_to_target_training: "ready",
  };
}

export function newAlarm(identity: DeviceIdentity, random: Random): SmokeCoAlarm {
  const testedDaysBefore = integerBetween(random, 10, 200);
  return {
    ...newDevice(identity, "Nest Protect", "3.1.4rc7"),
    battery_health: "ok",
    co_alarm_state: "ok",
    smoke_alarm_state: "ok",
    is_manual_test_active: false,
    last_manual_test_time: new Date(identity.connectedMs - testedDaysBefore * 86_400_000).toISOString(),
    ui_color_state: "green",
  };
}

/** One temperature on both scales, rounded as the devices do. */
export function temperature<Name extends string>(name: Name, celsius: number): Temperature<Name> {
  const halves = Math.round(celsius * 2) / 2;
  return { [`${name}_c`]: halves, [`${name}_f`]: Math.round(halves * 1.8 + 32) } as Temperature<Name>;
}

function newDevice(identity: DeviceIdentity, product: string, softwareVersion: string): Device {
  const { where, label } = identity;
  return {
    device_id: identity.deviceId,
    structure_id: identity.structureId,
    name: `${where.name} (${label})`,
    name_long: `${where.name} ${product} (${label})`,
    locale: identity.place.locale,
    software_version: softwareVersion,
    where_id: where.where_id,
    where_name: where.name,
    last_connection: new Date(identity.connectedMs).toISOString(),
    is_online: true,
  };
}
