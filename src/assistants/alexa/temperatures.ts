import { roundToHundredths } from "../../home/value-range.ts";

/** Temperatures are sent in Celsius. Alexa converts them to the unit that the user prefers. */
export function inCelsius(value: number): { readonly value: number; readonly scale: "CELSIUS" } {
  return { value, scale: "CELSIUS" };
}

/** Alexa refuses a setpoint outside these limits, whatever its scale. */
const setpointLimit = 100;

/** A temperature, or the nearest one that Alexa takes. */
export function limitedInCelsius(value: number): ReturnType<typeof inCelsius> {
  return inCelsius(Math.max(-setpointLimit, Math.min(setpointLimit, value)));
}

export function isSetpoint(celsius: number | null | undefined): celsius is number {
  return typeof celsius === "number" && Math.abs(celsius) <= setpointLimit;
}

/** The Celsius of a temperature in a directive; undefined when it can't be read. */
export function celsiusOf(temperature: unknown): number | undefined {
  return read(temperature, {
    CELSIUS: (value) => value,
    FAHRENHEIT: (value) => ((value - 32) * 5) / 9,
    KELVIN: (value) => value - 273.15,
  });
}

/** The Celsius of a difference in a directive; undefined when it can't be read. */
export function deltaCelsiusOf(difference: unknown): number | undefined {
  return read(difference, {
    CELSIUS: (value) => value,
    FAHRENHEIT: (value) => (value * 5) / 9,
    KELVIN: (value) => value,
  });
}

type Scale = "CELSIUS" | "FAHRENHEIT" | "KELVIN";

function read(temperature: unknown, scales: Readonly<Record<Scale, (value: number) => number>>): number | undefined {
  if (typeof temperature !== "object" || temperature === null) return undefined;
  const { value, scale } = temperature as Readonly<Record<string, unknown>>;
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  if (typeof scale !== "string" || !Object.hasOwn(scales, scale)) return undefined;
  return roundToHundredths(scales[scale as Scale](value));
}
