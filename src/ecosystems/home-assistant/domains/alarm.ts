import { type AlarmState, noConditions } from "../../../home/traits/alarm-states.ts";
import type { Smoke } from "../../../home/traits/smoke.ts";
import type { EntityState } from "../entity-states.ts";

/**
 * A sensor of smoke or carbon monoxide: `on` is an alarm. The words `on` and `off` say nothing by themselves, so `word`
 * holds only a word that Breezeway does not know.
 */
export function alarmTrait({ state }: EntityState, available: boolean): Smoke {
  const known = states.get(state);
  return {
    available,
    state: { state: known ?? "unknown", ...noConditions, word: known === undefined ? state : null },
    capabilities: notGraded,
  };
}

const notGraded = { graded: false };

const states: ReadonlyMap<string, AlarmState> = new Map([
  ["on", "alarm"],
  ["off", "clear"],
]);
