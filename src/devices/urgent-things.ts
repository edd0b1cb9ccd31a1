import type { Cause } from "../model/cause.ts";
import type { LoggedThing } from "./log-entries.ts";
import type { ThingChange } from "./thing-writes.ts";

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

/**
 * Whether a commit starts or ends an alarm of an own device, by any writer. The first value of a device that is
 * clear is no end.
 */
export function showsOwnAlarm({ isMapped, things, previousTimeMs }: OwnCommit): boolean {
  if (!isMapped) return false;
  return things.some(({ fields }) =>
    fields.some(
      ({ trait, field, value }) =>
        urgentFields.includes(`${trait}.${field}`) && (value !== "clear" || previousTimeMs > 0),
    ),
  );
}

interface OwnCommit {
  readonly isMapped?: boolean;
  readonly things: readonly ThingChange[];
  /** 0 before the first commit to a device. */
  readonly previousTimeMs: number;
}
