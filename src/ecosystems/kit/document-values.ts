export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function claimOf(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}

/** A temperature in degrees Celsius, rounded to two decimals; null unless it is a number from -100 to 100. */
export function celsiusOf(value: unknown): number | null {
  if (typeof value !== "number" || !(Math.abs(value) <= 100)) return null;
  return Math.round(value * 100) / 100;
}

export function percentOf(value: unknown): number | null {
  return typeof value === "number" && value >= 0 && value <= 100 ? value : null;
}
