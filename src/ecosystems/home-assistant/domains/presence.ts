import type { Presence } from "../../../home/traits/presence.ts";
import type { EntityView } from "../entity-states.ts";
import { stateNumber } from "./values.ts";

/**
 * Whether somebody is at home, by the persons and by the number that the home zone counts. A zone that counts nobody is
 * not "away": it counts only persons whose place is known.
 */
export function presenceOf(persons: readonly EntityView[], zone: EntityView | undefined): Presence {
  if (persons.some(({ isFresh, lastState }) => isFresh && lastState!.state === "home")) return presence("home");
  // A person whose place is unknown may be at home.
  if (persons.length > 0 && persons.every(({ isFresh }) => isFresh)) return presence("away");
  const homeCount = zone?.isFresh ? stateNumber(zone.lastState!.state) : null;
  return presence(homeCount !== null && homeCount > 0 ? "home" : "unknown");
}

function presence(state: "home" | "away" | "unknown"): Presence {
  return { available: state !== "unknown", state: { state, word: null }, capabilities: {} };
}
