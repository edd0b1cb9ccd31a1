import type { Humidity } from "../../../home/traits/humidity.ts";
import type { Temperature } from "../../../home/traits/temperature.ts";
import { percentOf } from "../../kit/document-values.ts";
import type { EntityState } from "../entity-states.ts";
import { stateNumber, type TemperatureUnit, toCelsius, unitIn } from "./values.ts";

/** A sensor may have a unit of its own, which a person chose for it. */
export function temperatureTrait(
  { state, attributes }: EntityState,
  available: boolean,
  instanceUnit: TemperatureUnit,
): Temperature {
  const unit = unitIn(attributes.unit_of_measurement) ?? instanceUnit;
  return { available, state: { celsius: toCelsius(stateNumber(state), unit) }, capabilities: { unit } };
}

export function humidityTrait({ state }: EntityState, available: boolean): Humidity {
  return { available, state: { percent: percentOf(stateNumber(state)) }, capabilities: {} };
}
