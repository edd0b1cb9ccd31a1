import { type Condition, type ConditionInput, longestPattern } from "../model/condition.ts";
import type { CheckParts } from "./definition.ts";
import type { Patterns } from "./patterns.ts";

/**
 * Compiles the pattern of a definition before the transaction that checks it: compiling takes milliseconds, and on SQLite
 * all other writers would wait. `present` is the condition of the alert that is changed: an older version may have
 * accepted a costlier pattern, and the alert keeps it through changes of its other parts.
 */
export function judgedPatterns(
  patterns: Pick<Patterns, "faultOf" | "matches">,
  { operation, stringThreshold }: ConditionInput,
  present?: Condition,
): CheckParts["patterns"] {
  if (operation !== "regex" || stringThreshold.length > 2 * longestPattern) return patterns;
  const fault = patterns.faultOf(stringThreshold);
  const isJudged = (pattern: string) => pattern === stringThreshold;
  if (fault !== undefined && present?.operation === "regex" && isJudged(present.pattern)) {
    return {
      faultOf: (pattern) => (isJudged(pattern) ? undefined : patterns.faultOf(pattern)),
      // It may be too costly to compile here, so it counts as matching some value of the field.
      matches: (pattern, value) => isJudged(pattern) || patterns.matches(pattern, value),
    };
  }
  return {
    faultOf: (pattern) => (isJudged(pattern) ? fault : patterns.faultOf(pattern)),
    matches: patterns.matches,
  };
}
