import { isMet } from "../model/condition.ts";
import { BadParameter } from "../model/errors.ts";
import { type Outcome, stepTrigger } from "../model/trigger.ts";
import type { AlertRow } from "../store/tables/alert-rows.ts";
import type { ThingOrder } from "./commanding.ts";
import type { Patterns } from "./patterns.ts";

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

export function tryValue<Row extends AlertRow>(
  trigger: Row,
  value: string,
  patterns: Pick<Patterns, "matches">,
): Omit<TriedValue<Row>, "commands"> {
  if (value.length > longestValue) {
    throw new BadParameter("value", `The value must have at most ${longestValue} characters.`);
  }
  const isTrue = isMet(trigger.condition, value, patterns.matches);
  const outcome = trigger.isEnabled ? stepTrigger(trigger, isTrue).outcome : "disabled";
  return { trigger, isTrue, outcome };
}
