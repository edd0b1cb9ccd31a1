import type { TraitName } from "../../home/catalogue.ts";
import { type AlarmState, isCurrent } from "../../home/traits/alarm-states.ts";
import type { CurrentThing } from "../current-thing.ts";
import type { GoogleTrait } from "./trait.ts";

export type AlarmTrait = Extract<TraitName, "smoke" | "carbonMonoxide">;

interface Sensor {
  /** Google's name of the sensor. */
  readonly name: string;
  readonly words: Readonly<Record<AlarmState, string>>;
}

/** Google's words for alarms. A warning is `high`; an unknown word is never the harmless one. */
export const alarmSensors: Readonly<Record<AlarmTrait, Sensor>> = {
  smoke: {
    name: "SmokeLevel",
    words: { clear: "no smoke detected", warning: "high", alarm: "smoke detected", unknown: "unknown" },
  },
  carbonMonoxide: {
    name: "CarbonMonoxideLevel",
    words: {
      clear: "no carbon monoxide detected",
      warning: "high",
      alarm: "carbon monoxide detected",
      unknown: "unknown",
    },
  },
};

export const alarmTraits = Object.keys(alarmSensors) as readonly AlarmTrait[];

/** Smoke and carbon monoxide, both in one device. */
export const sensorState: GoogleTrait = {
  name: "SensorState",
  attributes(thing) {
    const sensors = sensorsOf(thing).map((trait) => ({
      name: alarmSensors[trait].name,
      descriptiveCapabilities: { availableStates: Object.values(alarmSensors[trait].words) },
    }));
    return sensors.length === 0 ? undefined : { sensorStatesSupported: sensors };
  },
  states(thing) {
    const { traits } = thing;
    const sensors = sensorsOf(thing);
    // One of the two may be fine while the other does not answer.
    if (!sensors.some((trait) => isCurrent(traits[trait]!))) return undefined;
    const data = sensors.map((trait) => {
      const shown = isCurrent(traits[trait]!) ? (traits[trait]!.state.state ?? "unknown") : "unknown";
      return { name: alarmSensors[trait].name, currentSensorState: alarmSensors[trait].words[shown] };
    });
    return { currentSensorStateData: data };
  },
};

function sensorsOf({ traits }: CurrentThing): readonly AlarmTrait[] {
  return alarmTraits.filter((trait) => traits[trait]);
}

/** Below this charge a battery counts as low, when the ecosystem tells only the charge. */
const lowPercent = 20;

/** A battery, beside other traits: an unknown charge does not make the device offline. */
export const energyStorage: GoogleTrait = {
  name: "EnergyStorage",
  attributes: ({ traits }) => traits.battery && { queryOnlyEnergyStorage: true, isRechargeable: false },
  states({ traits }) {
    const { state = null, percent = null } = traits.battery?.state ?? {};
    if (traits.battery?.available === false || (state === null && percent === null)) return {};
    const isLow = state === null ? percent! < lowPercent : state === "low";
    return {
      descriptiveCapacityRemaining: isLow ? "LOW" : "HIGH",
      ...(percent !== null && { capacityRemaining: [{ rawValue: Math.round(percent), unit: "PERCENTAGE" }] }),
    };
  },
};

/** The range that sensors of homes measure; Google requires one. */
const measuredRange = { minThresholdCelsius: -40, maxThresholdCelsius: 60 };

/** A thermometer that is no thermostat. */
export const thermometer: GoogleTrait = {
  name: "TemperatureControl",
  attributes: ({ traits: { temperature, thermostat } }) =>
    temperature && !thermostat
      ? {
          temperatureRange: measuredRange,
          temperatureUnitForUX: temperature.capabilities.unit ?? "C",
          queryOnlyTemperatureControl: true,
        }
      : undefined,
  states({ traits }) {
    const { temperature } = traits;
    if (!temperature || temperature.available === false || temperature.state.celsius === null) return undefined;
    return { temperatureAmbientCelsius: temperature.state.celsius };
  },
};

/** A thermometer alone, as a thermostat that is off and can't be set. Google requires a target: it is the measured value. */
export const ambientTemperature: GoogleTrait = {
  name: "TemperatureSetting",
  attributes: ({ traits: { temperature, thermostat } }) =>
    temperature && !thermostat
      ? {
          availableThermostatModes: ["off"],
          thermostatTemperatureUnit: temperature.capabilities.unit ?? "C",
          commandOnlyTemperatureSetting: false,
          queryOnlyTemperatureSetting: true,
        }
      : undefined,
  states(thing) {
    const celsius = thermometer.states(thing)?.temperatureAmbientCelsius;
    if (celsius === undefined) return undefined;
    const { humidity } = thing.traits;
    const percent = humidity?.available === false ? null : (humidity?.state.percent ?? null);
    return {
      thermostatMode: "off",
      activeThermostatMode: "none",
      thermostatTemperatureAmbient: celsius,
      thermostatTemperatureSetpoint: celsius,
      ...(percent !== null && { thermostatHumidityAmbient: percent }),
    };
  },
};

/** A hygrometer that is no thermostat. */
export const hygrometer: GoogleTrait = {
  name: "HumiditySetting",
  attributes: ({ traits }) => (traits.humidity && !traits.thermostat ? { queryOnlyHumiditySetting: true } : undefined),
  states({ traits }) {
    const { humidity } = traits;
    if (!humidity || humidity.available === false || humidity.state.percent === null) return undefined;
    return { humidityAmbientPercent: Math.max(1, Math.round(humidity.state.percent)) };
  },
};
