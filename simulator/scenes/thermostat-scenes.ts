import { changeThermostat } from "../home/edits.ts";
import { startFan, stopFan } from "../home/fan-timer.ts";
import { temperature } from "../home/new-device.ts";
import { integerBetween } from "../home/random.ts";
import { impossible } from "../refusal.ts";
import { chooseDevice, thermostatArguments } from "./arguments.ts";
import type { Scene } from "./scene.ts";

/** Changes at a thermostat: its fan, and the temperature and humidity around it. */
export const thermostatScenes: readonly Scene[] = [
  {
    name: "fan-on",
    meaning: "Somebody starts the fan at the thermostat; it runs out after its duration.",
    arguments: thermostatArguments,
    apply: (home, args, { nowMs }) => {
      const { device } = chooseDevice(home.document, "thermostats", args);
      if (!device.has_fan) throw impossible("This thermostat has no fan.");
      const document = startFan(home.document, device.device_id, nowMs);
      return { home: { ...home, document }, changed: { thermostat: device.device_id, fan_timer_active: true } };
    },
  },
  {
    name: "fan-off",
    meaning: "Somebody stops the fan at the thermostat.",
    arguments: thermostatArguments,
    apply: (home, args) => {
      const { device_id: thermostat } = chooseDevice(home.document, "thermostats", args).device;
      const document = stopFan(home.document, thermostat);
      return { home: { ...home, document }, changed: { thermostat, fan_timer_active: false } };
    },
  },
  {
    name: "drift",
    meaning: "Temperature and humidity around a thermostat drift a little.",
    arguments: thermostatArguments,
    apply: (home, args, { random }) => {
      const { device } = chooseDevice(home.document, "thermostats", args);
      const celsius = clamp(device.ambient_temperature_c, 10, 30, 20) + integerBetween(random, -1, 1) / 2;
      const humidity = clamp(device.humidity, 15, 85, 45) + integerBetween(random, -1, 1) * 5;
      const changed = { ...temperature("ambient_temperature", celsius), humidity };
      const document = changeThermostat(home.document, device.device_id, changed);
      return { home: { ...home, document }, changed: { thermostat: device.device_id, ...changed } };
    },
  },
];

/** Clamps a reading to a plausible range; a replaced document may hold any value. */
function clamp(reading: unknown, lowest: number, highest: number, defaultValue: number): number {
  return typeof reading === "number" ? Math.min(Math.max(reading, lowest), highest) : defaultValue;
}
