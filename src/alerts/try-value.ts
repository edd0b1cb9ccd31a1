import { BadParameter } from "../model/errors.ts";
import { type Outcome, stepTrigger } from "../model/trigger.ts";
import type { AlertRow } from "../store/tables/alert-rows.ts";
import type { ThingOrder } from "./commanding.ts";

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

/** `isTrue`: whether the condition is true for the value; null when its pattern takes more steps than a trial may. */
export function tryValue<Row extends AlertRow>(
  trigger: Row,
  isTrue: boolean | null,
): Omit<TriedValue<Row>, "commands"> {
  if (isTrue === null) {
    throw new BadParameter(
      "value",
      "The pattern of this alert takes too many steps on so long a value. Try a shorter one.",
    );
  }
  const outcome = trigger.isEnabled ? stepTrigger(trigger, isTrue).outcome : "disabled";
  return { trigger, isTrue, outcome };
}
