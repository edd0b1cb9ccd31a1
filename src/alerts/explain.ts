import { type Evaluation, mergeRecords } from "../model/trigger.ts";
import type { AlertRow } from "../store/tables/alert-rows.ts";
import type { TriggerRow } from "../store/tables/triggers.ts";
import type { PresentJudgement } from "./matching.ts";

/** Why an alert fired, or why it didn't. */
export interface Explanation<Row = TriggerRow> {
  readonly trigger: Row;
  /** The present value of what it watches, and whether the condition is true for it; null when it was not evaluated. */
  readonly value: string | null;
  readonly isTrue: boolean | null;
  /** The alert's present state in a sentence. */
  readonly sentence: string;
  /** The last events that the alert evaluated, newest first. */
  readonly evaluations: readonly Evaluation[];
}

export function explain<Row extends AlertRow>(
  trigger: Row,
  value: string | null,
  judged: PresentJudgement,
  stored: readonly Evaluation[],
  later: readonly Evaluation[],
): Explanation<Row> {
  const evaluations = mergeRecords(stored, later).toReversed();
  const isTrue = typeof judged === "boolean" ? judged : null;
  return { trigger, value, isTrue, sentence: sentenceOf(trigger, judged), evaluations };
}

function sentenceOf({ isEnabled, isArmed, reason, firedMs }: AlertRow, judged: PresentJudgement): string {
  if (!isEnabled) return reason === null ? "It is disabled." : `It was disabled. Reason: ${reason}.`;
  if (!isArmed) {
    const since = firedMs === null ? "" : ` at ${new Date(firedMs).toISOString()}`;
    return `It fired${since} and is disarmed until its condition has been false.`;
  }
  if (judged === "too costly") return "It is never evaluated: its pattern is too costly. Replace the pattern.";
  if (judged === "too many steps") {
    return "Its condition was not evaluated now: its pattern takes too many steps on so long a value.";
  }
  if (judged) return "Its condition is true. It fires at the next change or write that leaves it true.";
  return "It is armed, and fires when its condition becomes true.";
}
