import type { Cause } from "../model/cause.ts";
import type { LoggedThing } from "./log-entries.ts";
import type { ThingChange } from "./thing-writes.ts";

/** The fields whose changes are urgent, for things of any kind. */
const urgentFields: readonly string[] = ["smoke.state", "carbonMonoxide.state"];

/**
 * Whether a change of a thing is delivered before other changes: an alarm started or stopped, or the thing is gone. The
 * log does not say what a gone thing was, so each may be an alarm that was sounding. The removal of a device by its
 * company is not urgent.
 */
export function isUrgentThing({ what, fields = {} }: LoggedThing, cause?: Cause): boolean {
  const isVanished = what === "gone" && cause?.by !== "administrator";
  return isVanished || urgentFields.some((field) => Object.hasOwn(fields, field));
}

/**
 * Whether a commit of any writer starts or ends an alarm of an own device. The value `clear` in the first commit to a
 * device ends no alarm.
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
