import { alarmSummaryFields } from "./alarm-summary.ts";
import { type AttributeNumber, placeOf } from "./attribute-names.ts";
import type { Change } from "./attribute-values.ts";

/** Whether the changes go before other commits: an alarm started or stopped sounding. */
export function isUrgent(changes: readonly Change[]): boolean {
  return changes.some(({ attribute }) => isAlarmState(attribute));
}

function isAlarmState(attribute: AttributeNumber): boolean {
  const place = placeOf(attribute);
  if (place.kind === "alarm") return place.field === "coAlarmState" || place.field === "smokeAlarmState";
  return place.kind === "summary" && (alarmSummaryFields as readonly string[]).includes(place.field);
}
