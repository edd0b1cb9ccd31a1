import type { LoggedThing } from "./log-entries.ts";

/** Urgency follows the trait, whatever the thing is and wherever it stands. */
const urgentFields: readonly string[] = ["smoke.state", "carbonMonoxide.state"];

/** Whether the change of a thing goes before others: an alarm started or stopped sounding. */
export function isUrgentThing({ fields = {} }: LoggedThing): boolean {
  return urgentFields.some((field) => Object.hasOwn(fields, field));
}
