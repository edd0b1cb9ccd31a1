import type { Cause } from "../model/cause.ts";
import type { LoggedThing } from "./log-entries.ts";

/** Urgency follows the trait, whatever kind of thing has it. */
const urgentFields: readonly string[] = ["smoke.state", "carbonMonoxide.state"];

/**
 * Whether the change of a thing goes before others: an alarm started or stopped, or vanished and may have sounded. A
 * device that its company removed has not vanished.
 */
export function isUrgentThing({ what, fields = {} }: LoggedThing, cause?: Cause): boolean {
  const isVanished = what === "gone" && cause?.by !== "administrator";
  return isVanished || urgentFields.some((field) => Object.hasOwn(fields, field));
}
