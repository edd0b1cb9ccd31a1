import type { Presence } from "../../../home/traits/presence.ts";
import type { EntityView } from "../entity-states.ts";
import { stateNumber } from "./values.ts";

/**
 * Whether somebody is at home: by the persons, or without persons by the number that the home zone counts. A zone that
 * counts nobody is not "away", because without persons it always counts nobody. Undefined: the instance can't tell.
 */
export function presenceOf(persons: readonly EntityView[], zone: EntityView | undefined): Presence | undefined {
  if (persons.length === 0) {
    const isSomebodyHome = zone?.isFresh === true && (stateNumber(zone.lastState!.state) ?? 0) > 0;
    return isSomebodyHome ? presence("home") : undefined;
  }
  if (persons.some(({ isFresh, lastState }) => isFresh && lastState?.state === "home")) return presence("home");
  // A person whose place is unknown may be at home.
  return persons.every(({ isFresh }) => isFresh) ? presence("away") : undefined;
}

function presence(state: "home" | "away"): Presence {
  return { available: true, state: { state, word: null }, capabilities: {} };
}
