/** The values that a thing accepts: from `min` to `max`, in steps that are counted from `min`. Null: not told. */
export interface ValueRange {
  readonly min: number | null;
  readonly max: number | null;
  readonly step: number | null;
}

/** Temperatures and percentages are kept to 0.01, which is also the step of a range that tells none. */
const finestStep = 0.01;

/** Absorbs the errors of floating point numbers, such as (21.3 - 7) / 0.1 = 143.00000000000003. */
const noise = 1e-6;

/**
 * Whether a value is in the range or at most half a step outside it. Such a value is clamped; others are refused.
 * Nothing is near an empty range.
 */
export function isNearRange(value: number, range: ValueRange): boolean {
  if (isEmpty(range)) return false;
  const margin = halfStep(range) + noise;
  return value >= (range.min ?? -Infinity) - margin && value <= (range.max ?? Infinity) + margin;
}

/** The nearest value of the range that is on a step; of two equally near ones the higher. Not rounded to 0.01. */
export function snap(value: number, range: ValueRange): number {
  const step = stepOf(range);
  const base = range.min ?? 0;
  const nearest = Math.floor((value - base) / step + 0.5 + noise);
  const highest = range.max === null ? Infinity : Math.floor((range.max - base + roundingOf(step)) / step + noise);
  const steps = Math.max(Math.min(nearest, highest), range.min === null ? -Infinity : 0);
  const snapped = base + step * steps;
  return range.max === null || steps === 0 ? snapped : Math.min(snapped, range.max);
}

/**
 * How far the highest step may seem to be above the maximum. A step of 1 °F is no multiple of 0.01 °C, so that both limits
 * of its range are rounded: 50 to 90 °F are 10 to 32.22 °C, and 40 steps above 10 °C are 32.2222 °C.
 */
function roundingOf(step: number): number {
  const hundredths = step / finestStep;
  return Math.abs(hundredths - Math.round(hundredths)) < noise ? 0 : finestStep;
}

/** The accuracy to which a value can be set: an echo within it shows the value that was sent. */
export function halfStep(range: ValueRange): number {
  return stepOf(range) / 2;
}

/** Rounds to the accuracy in which values are kept. */
export function roundToHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

/**
 * What a distance lacks to a least distance, in whole steps. Half of 0.01 is not lacking: three steps of 1 °F are
 * 1.6667 °C, and the ecosystem may tell their least distance as 1.67 °C.
 */
export function lackingSteps(distance: number, least: number, range: ValueRange): number {
  const lacking = least - distance - finestStep / 2;
  return lacking > 0 ? Math.ceil(lacking / stepOf(range)) * stepOf(range) : 0;
}

/** A step of 0 or less can't be counted in. */
function stepOf({ step }: ValueRange): number {
  return step !== null && step > 0 ? step : finestStep;
}

/** The values that are in both ranges. The step is that of the first range. */
export function intersection(range: ValueRange, other: ValueRange): ValueRange {
  const mins = [range.min, other.min].filter((min) => min !== null);
  const maxes = [range.max, other.max].filter((max) => max !== null);
  return {
    min: mins.length === 0 ? null : Math.max(...mins),
    max: maxes.length === 0 ? null : Math.min(...maxes),
    step: range.step,
  };
}

/** The range with all its values raised by `difference`. */
export function shiftRange({ min, max, step }: ValueRange, difference: number): ValueRange {
  return { min: min === null ? null : min + difference, max: max === null ? null : max + difference, step };
}

export function isEmpty({ min, max }: ValueRange): boolean {
  return min !== null && max !== null && min > max + noise;
}
