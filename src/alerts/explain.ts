import { isMet } from "../model/condition.ts";
import { type Evaluation, mergeRecords } from "../model/trigger.ts";
import type { Transaction } from "../store/seam.ts";
import type { TriggerRow } from "../store/tables/triggers.ts";
import type { Patterns } from "./patterns.ts";

/** Why an alert fired, or why it didn't. */
export interface Explanation {
  readonly trigger: TriggerRow;
  /** The present value of its attribute, and whether the condition is true for it. */
  readonly value: string | null;
  readonly isTrue: boolean;
  /** The alert's present state in a sentence. */
  readonly sentence: string;
  /** The last events that the alert evaluated, newest first. */
  readonly evaluations: readonly Evaluation[];
}

export async function explain(
  tx: Pick<Transaction, "attributes" | "triggers">,
  trigger: TriggerRow,
  later: readonly Evaluation[],
  patterns: Pick<Patterns, "matches">,
): Promise<Explanation> {
  const { userId, deviceId, id, key, condition } = trigger;
  const [attribute] = await tx.attributes.some(userId, deviceId, [key]);
  const value = attribute?.value ?? null;
  const isTrue = isMet(condition, value, patterns.matches);
  const evaluations = mergeRecords(await tx.triggers.record(userId, id), later).toReversed();
  return { trigger, value, isTrue, sentence: sentenceOf(trigger, isTrue), evaluations };
}

function sentenceOf({ isEnabled, isArmed, reason, firedMs }: TriggerRow, isTrue: boolean): string {
  if (!isEnabled) return reason === null ? "It is disabled." : `It was disabled. Reason: ${reason}.`;
  if (!isArmed) {
    const since = firedMs === null ? "" : ` at ${new Date(firedMs).toISOString()}`;
    return `It fired${since} and is disarmed until its condition has been false.`;
  }
  if (isTrue) return "Its condition is true. It fires at the next change or write that leaves it true.";
  return "It is armed, and fires when its condition becomes true.";
}
