/** Longer Retry-After times are clamped: a block lasts at most an hour. */
const longestBlockMs = 3_600_000;

/**
 * Parses Retry-After: seconds or a date (RFC 9110 10.2.3); anything else is ignored. A date is compared with the Date
 * header of the same answer, so a wrong clock of this node doesn't matter.
 */
export function readRetryAfter(value: string | undefined, answeredMs: number): number | undefined {
  if (value === undefined) return undefined;
  const nowMs = Number.isNaN(answeredMs) ? Date.now() : answeredMs;
  const waitMs = /^\d{1,9}$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - nowMs;
  return waitMs > 0 ? Math.min(waitMs, longestBlockMs) : undefined;
}
