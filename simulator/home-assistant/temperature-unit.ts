import type { Instance, TemperatureUnit } from "./instance.ts";

const degrees = ["current_temperature", "temperature", "target_temp_low", "target_temp_high", "min_temp", "max_temp"];

/** A person changes the unit system: the instance tells all temperatures in the new unit. */
export function setTemperatureUnit(instance: Instance, unit: TemperatureUnit): void {
  if (instance.temperatureUnit === unit) return;
  const convert = (value: number) => {
    const converted = unit === "°F" ? (value * 9) / 5 + 32 : ((value - 32) * 5) / 9;
    return unit === "°F" ? Math.round(converted) : Math.round(converted * 2) / 2;
  };
  instance.temperatureUnit = unit;
  for (const [entityId, { state, attributes }] of [...instance.states]) {
    if (entityId.startsWith("climate.")) {
      const present = degrees.filter((name) => typeof attributes[name] === "number");
      const converted = Object.fromEntries(present.map((name) => [name, convert(attributes[name] as number)]));
      instance.change(entityId, undefined, { ...converted, target_temp_step: unit === "°F" ? 1 : 0.5 });
    } else if (attributes.device_class === "temperature" && Number.isFinite(Number(state))) {
      instance.change(entityId, String(convert(Number(state))), { unit_of_measurement: unit });
    }
  }
  instance.tellConfig();
}
