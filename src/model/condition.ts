import { BadParameter } from "./errors.ts";

const numericOperations = [">", ">=", "<", "<=", "=="] as const;
export const operations = ["regex", "equals", ...numericOperations] as const;

export type NumericOperation = (typeof numericOperations)[number];
export type Operation = (typeof operations)[number];

/** The condition on a value under which an alert fires (docs/interface.md, Alerts). */
export type Condition =
  | { readonly operation: "regex"; readonly pattern: string }
  | { readonly operation: "equals"; readonly text: string }
  | { readonly operation: NumericOperation; readonly threshold: number };

/** A condition as a client sends it; a threshold that the operation doesn't use is ignored. */
export interface ConditionInput {
  readonly operation: string;
  readonly threshold: string;
  readonly stringThreshold: string;
}

/**
 * Whether a pattern matches the whole value. Patterns come from clients, so the implementation must run in linear time.
 */
export type Matches = (pattern: string, value: string) => boolean;

export const longestPattern = 256;

/** Parses a condition. `faultOf` says in a sentence what is wrong with a pattern; undefined when it compiles. */
export function readCondition(input: ConditionInput, faultOf: (pattern: string) => string | undefined): Condition {
  const { operation, threshold, stringThreshold } = input;
  if (!isOperation(operation)) {
    throw new BadParameter("operation", `The parameter operation must be one of ${operations.join(" ")}.`);
  }
  if (operation === "regex" || operation === "equals") {
    if (stringThreshold === "") {
      throw new BadParameter("stringThreshold", `The operation ${operation} needs a stringThreshold.`);
    }
    if (operation === "equals") return { operation, text: stringThreshold };
    if ([...stringThreshold].length > longestPattern) {
      throw new BadParameter("stringThreshold", `A pattern must have at most ${longestPattern} characters.`);
    }
    const fault = faultOf(stringThreshold);
    if (fault !== undefined) throw new BadParameter("stringThreshold", fault);
    return { operation, pattern: stringThreshold };
  }
  const number = readNumber(threshold);
  if (number === undefined)
    throw new BadParameter("threshold", `The operation ${operation} needs a number as threshold.`);
  return { operation, threshold: number };
}

/** A blank value satisfies no condition; a value that is not a number satisfies no numeric condition. */
export function isMet(condition: Condition, value: string | null, matches: Matches): boolean {
  if (value === null) return false;
  if (condition.operation === "regex") return matches(condition.pattern, value);
  if (condition.operation === "equals") return value === condition.text;
  const number = readNumber(value);
  return number !== undefined && compare(number, condition.operation, condition.threshold);
}

function isOperation(text: string): text is Operation {
  return (operations as readonly string[]).includes(text);
}

function compare(number: number, operation: NumericOperation, threshold: number): boolean {
  switch (operation) {
    case ">":
      return number > threshold;
    case ">=":
      return number >= threshold;
    case "<":
      return number < threshold;
    case "<=":
      return number <= threshold;
    case "==":
      return number === threshold;
  }
}

const longestNumber = 64;

/** Accepts decimal numbers only: `Number()` would also accept hexadecimal, "Infinity" and blanks. */
function readNumber(text: string): number | undefined {
  if (text.length > longestNumber || !/^[-+.\deE]+$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}
