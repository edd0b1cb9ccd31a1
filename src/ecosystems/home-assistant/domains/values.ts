import { celsiusOf } from "../../kit/document-values.ts";

export type TemperatureUnit = "C" | "F";

/** A temperature of the instance in Celsius; null when it is no number or no temperature of a home. */
export function toCelsius(value: unknown, unit: TemperatureUnit): number | null {
  if (typeof value !== "number") return null;
  return celsiusOf(unit === "F" ? ((value - 32) * 5) / 9 : value);
}

/** A difference of temperatures in Celsius, not rounded: a step is counted many times. */
export function toCelsiusStep(value: number, unit: TemperatureUnit): number {
  return unit === "F" ? (value * 5) / 9 : value;
}

/** Celsius in the instance's unit, snapped to its step from its minimum. Without a step it has one decimal. */
export function fromCelsius(
  celsius: number,
  unit: TemperatureUnit,
  { min, step }: { readonly min: number | null; readonly step: number | null },
): number {
  const value = unit === "F" ? (celsius * 9) / 5 + 32 : celsius;
  if (step === null || step <= 0) return rounded(value, 1);
  const origin = min ?? 0;
  return rounded(origin + Math.round((value - origin) / step) * step, 2);
}

export function unitIn(text: unknown): TemperatureUnit | undefined {
  if (text === "°C") return "C";
  return text === "°F" ? "F" : undefined;
}

export function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** The number in a sensor's state; null when the state is no number. */
export function stateNumber(state: string): number | null {
  return state.trim() === "" ? null : numberOf(Number(state));
}

export function textsOf(value: unknown): readonly string[] | null {
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : null;
}

/** Bit flags of an entity; 0 when there are none. */
export function featuresOf(value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) ? value : 0;
}

function rounded(value: number, decimals: number): number {
  const scale = 10 ** decimals;
  return Math.round(value * scale) / scale;
}
