import type { Traits } from "./catalogue.ts";
import type { Expectation } from "./command-plan.ts";

/** `holds`: the state shows what the command asked for. `differs`: it shows something else. `unknown`: it shows neither. */
export type Echo = "holds" | "differs" | "unknown";

/** Absorbs the errors of floating point numbers in a difference that equals the tolerance. */
const noise = 1e-6;

/** Compares what a command should lead to with the state of its thing. An unknown value never counts as holding. */
export function judgeEcho(expected: readonly Expectation[], traits: Traits): Echo {
  const answers = expected.map((expectation) => holds(expectation, traits));
  if (answers.includes(false)) return "differs";
  return answers.includes(undefined) ? "unknown" : "holds";
}

/** Undefined: the state does not tell. */
function holds({ trait: name, field, value, tolerance }: Expectation, traits: Traits): boolean | undefined {
  const trait = traits[name];
  // The values of an unavailable trait are the last known ones, from before the command.
  if (trait === undefined || trait.available === false) return undefined;
  const shown = (trait.state as Readonly<Record<string, unknown>>)[field];
  if (shown === null || shown === undefined) return undefined;
  if (typeof shown !== "number" || typeof value !== "number") return shown === value;
  return Math.abs(shown - value) <= tolerance + noise;
}
