import { cleanText } from "../model/clean-text.ts";
import type { FieldValue } from "./stored-thing.ts";
import type { ValueType } from "./trait.ts";
import type { AttributeSource, Format, Scale, Words } from "./trait-map.ts";
import { roundToHundredths } from "./value-range.ts";

/**
 * The value of a field that an attribute's text stands for. Null when the text can't be read. A sensor of danger whose
 * word is not in the map is `unknown`, because null would hide that the sensor reported something.
 */
export function readMapped(format: Format, type: ValueType, text: string | null): FieldValue {
  if (text === null || text === "") return null;
  if (format === "verbatim") return cleanText(text);
  if ("factor" in format) return type.type === "number" ? readNumber(format, type, text) : null;
  const value = format.valueOfWord.get(text);
  if (value === undefined) return type.type === "enum" && type.values.includes(unknownValue) ? unknownValue : null;
  return type.type === "boolean" ? value === "true" : value;
}

const unknownValue = "unknown";

/** Whether the words say yes; null when the text is none of them. */
export function readFlag(words: Words, text: string | null): boolean | null {
  const value = text === null ? undefined : words.valueOfWord.get(text);
  return value === undefined ? null : value === "true";
}

/** The text that makes a device show a value; undefined when no text of this format does. */
export function writeMapped(
  { format }: Pick<AttributeSource, "format">,
  type: ValueType,
  value: boolean | number | string,
): string | undefined {
  if (format === "verbatim") return typeof value === "string" && value !== "" ? value : undefined;
  if (!("factor" in format)) return format.wordOfValue.get(String(value));
  if (typeof value !== "number") return undefined;
  const exact = (value - format.offset) / format.factor;
  const unit = 10 ** -format.decimals;
  // The nearest text may stand for a value outside the range, such as the level 0 for a brightness of 1 %.
  return [0, unit, -unit]
    .map((difference) => decimalText(exact + difference, format.decimals))
    .find((text) => readMapped(format, type, text) !== null);
}

type NumberType = Extract<ValueType, { readonly type: "number" }>;

const decimalNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i;
const longestNumber = 40;

/** A value less than this far outside its range is a rounding error of the device and is clamped. */
const clampedDistance = 1;

function readNumber({ factor, offset }: Scale, type: NumberType, text: string): number | null {
  const trimmed = text.trim();
  if (trimmed.length > longestNumber || !decimalNumber.test(trimmed)) return null;
  // Adding 0 turns -0 into 0.
  const value = roundToHundredths(Number(trimmed) * factor + offset) + 0;
  if (!Number.isFinite(value)) return null;
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = type;
  if (value <= min - clampedDistance || value >= max + clampedDistance) return null;
  return Math.min(max, Math.max(min, value));
}

/** Without trailing zeros, and never in exponential notation. */
function decimalText(value: number, decimals: number): string {
  const fixed = value.toFixed(decimals);
  const short = fixed.includes(".") ? fixed.replace(/\.?0+$/, "") : fixed;
  return short === "-0" ? "0" : short;
}
