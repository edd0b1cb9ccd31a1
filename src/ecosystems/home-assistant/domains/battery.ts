import type { Battery } from "../../../home/traits/battery.ts";
import { percentOf } from "../../kit/document-values.ts";
import type { EntityState } from "../entity-states.ts";
import { stateNumber } from "./values.ts";

/** A battery from its two entities: one that is `on` when it is low, and one with the charge. */
export function batteryTrait(
  low: EntityState | undefined,
  level: EntityState | undefined,
  available: boolean,
): Battery | undefined {
  if (!low && !level) return undefined;
  const percent = level ? percentOf(stateNumber(level.state)) : null;
  return { available, state: { state: low ? (words.get(low.state) ?? null) : null, percent }, capabilities: {} };
}

const words: ReadonlyMap<string, "ok" | "low"> = new Map([
  ["on", "low"],
  ["off", "ok"],
]);
