import type { AlarmState } from "../../../home/traits/alarm-states.ts";
import type { Smoke } from "../../../home/traits/smoke.ts";
import type { EntityState } from "../entity-states.ts";

/** What the device says of this sensor. */
export type ReportedConditions = Pick<Smoke["state"], "fault" | "endOfLife" | "testing" | "muted">;

/**
 * A sensor of smoke or carbon monoxide: `on` is an alarm. The words `on` and `off` say nothing by themselves, so `word`
 * holds only a word that Breezeway does not know. With a fault its values are not those of now: "clear" proves nothing.
 */
export function alarmTrait({ state }: EntityState, isFresh: boolean, conditions: ReportedConditions): Smoke {
  const known = states.get(state);
  return {
    available: isFresh && conditions.fault !== true,
    state: { state: known ?? "unknown", word: known === undefined ? state : null, ...conditions },
    capabilities: notGraded,
  };
}

const notGraded = { graded: false };

const states: ReadonlyMap<string, AlarmState> = new Map([
  ["on", "alarm"],
  ["off", "clear"],
]);
