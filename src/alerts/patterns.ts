import { RE2JS } from "re2js";
import { writeLimits } from "../devices/write.ts";
import type { Condition } from "../model/condition.ts";
import { limits } from "../model/limits.ts";
import { estimatedCost } from "./pattern-cost.ts";

/**
 * Largest allowed program: a match takes up to this many steps for each character of the value, so that one change can
 * evaluate the pattern on the longest value. Alerts of older versions have programs of up to 1,000 instructions.
 */
export const largestProgram = Math.floor(limits.patternStepsPerCause / writeLimits.valueBytes);
/** Patterns that cost more are not even compiled, because that could take more than 10 ms. */
const largestCost = 5_000;
const tooComplex = "The pattern is too complex: it repeats too much, or has too many classes of characters.";
/** Size of the cache, as a sum of costs: a thousand ordinary patterns, or a few of the largest. */
const cacheSize = 50_000;
/** Steps of a match that take as long as compiling an instruction; measured. */
const stepsPerCost = 40;

/** LRU cache of compiled patterns. Patterns come from clients, so they run on RE2 only: it never backtracks. */
export class Patterns {
  readonly #compiled = new Map<string, { readonly program: RE2JS; readonly cost: number }>();
  #size = 0;

  /** Why this text can't be a pattern, in a sentence; undefined when it can. */
  readonly faultOf = (pattern: string): string | undefined => {
    if (estimatedCost(pattern) > largestCost) return tooComplex;
    try {
      const program = this.#compiled.get(pattern)?.program ?? RE2JS.compile(pattern);
      if (program.programSize() > largestProgram) return tooComplex;
      this.#use(pattern, program);
      return undefined;
    } catch {
      // The library's message is not shown, because it quotes the pattern.
      return "The pattern must be in RE2 syntax, which has neither look-around nor back-references.";
    }
  };

  /** Whether the pattern matches the whole value: `away` doesn't match `auto-away`. */
  readonly matches = (pattern: string, value: string): boolean => this.#get(pattern).matches(value);

  /**
   * Estimate of the steps to compile the condition's pattern before `stepsFor` and `matches`: 0 when it is compiled
   * already. Alerts of older versions have patterns that take a second.
   */
  stepsToCompile(condition: Condition, value: string | null): number {
    if (condition.operation !== "regex" || value === null || this.#compiled.has(condition.pattern)) return 0;
    return stepsPerCost * estimatedCost(condition.pattern);
  }

  /** Upper bound of the steps to evaluate the condition on that value. Only a pattern takes steps. It is compiled. */
  stepsFor(condition: Condition, value: string | null): number {
    if (condition.operation !== "regex" || value === null) return 0;
    return this.#get(condition.pattern).programSize() * value.length;
  }

  #get(pattern: string): RE2JS {
    const program = this.#compiled.get(pattern)?.program ?? RE2JS.compile(pattern);
    this.#use(pattern, program);
    return program;
  }

  /** Makes the pattern the latest in the cache. It stays, however large it is: it is about to be matched. */
  #use(used: string, program: RE2JS): void {
    const entry = this.#compiled.get(used) ?? { program, cost: estimatedCost(used) };
    if (!this.#compiled.delete(used)) this.#size += entry.cost;
    this.#compiled.set(used, entry);
    for (const [pattern, oldest] of this.#compiled) {
      if (this.#size <= cacheSize || pattern === used) return;
      this.#compiled.delete(pattern);
      this.#size -= oldest.cost;
    }
  }
}
