/** A time as ISO 8601 in UTC with milliseconds; the core has no calendar of its own to ask. */
export function isoTime(timeMs: number): string {
  const days = Math.floor(timeMs / dayMs);
  const { year, month, day } = civilDate(days);
  const ofDay = timeMs - days * dayMs;
  const two = (value: number) => String(value).padStart(2, "0");
  const clock = [Math.floor(ofDay / 3_600_000), Math.floor(ofDay / 60_000) % 60, Math.floor(ofDay / 1_000) % 60];
  const milliseconds = String(ofDay % 1_000).padStart(3, "0");
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T${clock.map(two).join(":")}.${milliseconds}Z`;
}

const dayMs = 86_400_000;

/** From days since 1970 to a date: counted in eras of 400 years that begin on 1 March, so that leap days come last. */
function civilDate(days: number): { readonly year: number; readonly month: number; readonly day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}
