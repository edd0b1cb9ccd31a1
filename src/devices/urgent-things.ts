import type { LoggedThing } from "./log-entries.ts";

/** Urgency follows the trait, whatever kind of thing has it. */
const urgentFields: readonly string[] = ["smoke.state", "carbonMonoxide.state"];

/** Whether the change of a thing goes before others: an alarm started or stopped, or vanished and may have sounded. */
export function isUrgentThing({ what, fields = {} }: LoggedThing): boolean {
  return what === "gone" || urgentFields.some((field) => Object.hasOwn(fields, field));
}
