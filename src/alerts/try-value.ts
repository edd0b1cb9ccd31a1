import { BadParameter } from "../model/errors.ts";
import { type Outcome, stepTrigger } from "../model/trigger.ts";
import type { AlertRow } from "../store/tables/alert-rows.ts";
import type { ThingOrder } from "./commanding.ts";
import type { PresentJudgement } from "./matching.ts";

/** What an alert would do if what it watches had a value now. Nothing happens. */
export interface TriedValue<Row> {
  readonly trigger: Row;
  readonly isTrue: boolean;
  /** `disabled`: an alert that is disabled evaluates nothing. */
  readonly outcome: Outcome | "disabled";
  /** What a firing would send to the things that the user has now; empty when it would not fire. */
  readonly commands: readonly ThingOrder[];
}

const longestValue = 8_192;

export function checkTried(value: string): void {
  if (value.length <= longestValue) return;
  throw new BadParameter("value", `The value must have at most ${longestValue} characters.`);
}

/** `judged`: whether the condition is true for the value. */
export function tryValue<Row extends AlertRow>(
  trigger: Row,
  judged: PresentJudgement,
): Omit<TriedValue<Row>, "commands"> {
  if (judged === "too costly") {
    throw new BadParameter("value", "The pattern of this alert is too costly for any value. Replace the pattern.");
  }
  if (judged === "too many steps") {
    throw new BadParameter(
      "value",
      "The pattern of this alert takes too many steps on so long a value. Try a shorter one.",
    );
  }
  const outcome = trigger.isEnabled ? stepTrigger(trigger, judged).outcome : "disabled";
  return { trigger, isTrue: judged, outcome };
}
