import { RE2JS } from "re2js";
import type { Condition } from "../model/condition.ts";
import { estimatedSize } from "./pattern-size.ts";

/** Largest allowed program: a match takes up to this many steps for each character of the value. */
const largestProgram = 1_000;
/**
 * Patterns with a larger estimate are not even compiled, because compiling takes time in proportion to the program. The
 * limit is generous because the estimate may be wrong.
 */
const largestEstimate = 10 * largestProgram;
const tooComplex = "The pattern is too complex: it repeats too much.";
/** Size of the cache, as a sum of program sizes: a thousand ordinary patterns, or a few of the largest. */
const cacheSize = 20_000;

/** LRU cache of compiled patterns. Patterns come from clients, so they run on RE2 only: it never backtracks. */
export class Patterns {
  readonly #compiled = new Map<string, RE2JS>();
  #size = 0;

  /** Why this text can't be a pattern, in a sentence; undefined when it can. */
  readonly faultOf = (pattern: string): string | undefined => {
    if (estimatedSize(pattern) > largestEstimate) return tooComplex;
    try {
      const size = RE2JS.compile(pattern).programSize();
      return size > largestProgram ? tooComplex : undefined;
    } catch {
      // The library's message is not shown, because it quotes the pattern.
      return "The pattern must be in RE2 syntax, which has neither look-around nor back-references.";
    }
  };

  /** Whether the pattern matches the whole value: `away` doesn't match `auto-away`. */
  readonly matches = (pattern: string, value: string): boolean => this.#get(pattern).matches(value);

  /** Upper bound of the steps to evaluate the condition on that value. */
  stepsFor(condition: Condition, value: string | null): number {
    if (condition.operation !== "regex" || value === null) return 1;
    return this.#get(condition.pattern).programSize() * value.length;
  }

  #get(pattern: string): RE2JS {
    const cached = this.#compiled.get(pattern);
    this.#compiled.delete(pattern);
    const compiled = cached ?? RE2JS.compile(pattern);
    this.#compiled.set(pattern, compiled);
    if (!cached) this.#makeRoom(compiled.programSize());
    return compiled;
  }

  #makeRoom(added: number): void {
    this.#size += added;
    for (const [pattern, oldest] of this.#compiled) {
      if (this.#size <= cacheSize) return;
      this.#compiled.delete(pattern);
      this.#size -= oldest.programSize();
    }
  }
}
