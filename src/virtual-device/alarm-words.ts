import type { AlarmState } from "../home/traits/alarm-states.ts";
import type { Smoke } from "../home/traits/smoke.ts";

/** The words of the attributes for a state that its ecosystem reports without a word of its own. */
const words: Readonly<Record<AlarmState, string>> = {
  clear: "ok",
  warning: "warning",
  alarm: "emergency",
  unknown: "unknown",
};

/** The value of an alarm's attribute: the ecosystem's own word, verbatim. Null: blank. */
export function alarmWord(trait: Smoke | undefined): string | null {
  if (trait === undefined) return null;
  const { word, state } = trait.state;
  return word ?? (state === null ? null : words[state]);
}
