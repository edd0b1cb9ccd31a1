import { alarmSummaryFields } from "./alarm-summary.ts";
import { type AttributeNumber, positionOf } from "./attribute-names.ts";
import type { Change } from "./attribute-values.ts";

/** Whether the changes go before other commits: an alarm started or stopped sounding. */
export function isUrgent(changes: readonly Change[]): boolean {
  return changes.some(({ attribute }) => isAlarmState(attribute));
}

function isAlarmState(attribute: AttributeNumber): boolean {
  const position = positionOf(attribute);
  if (position.kind === "alarm") return position.field === "coAlarmState" || position.field === "smokeAlarmState";
  return position.kind === "summary" && (alarmSummaryFields as readonly string[]).includes(position.field);
}
