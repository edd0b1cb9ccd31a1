import { RE2JS } from "re2js";
import type { Condition } from "../model/condition.ts";
import { estimatedSize } from "./pattern-size.ts";

/** Larger ones are refused: a match takes as many steps as the program is large, for each character of the value. */
const largestProgram = 1_000;
/** Beyond it a pattern isn't even compiled: that takes time in proportion to the program. An estimate may be wrong. */
const largestEstimate = 10 * largestProgram;
const tooComplex = "The pattern is too complex: it repeats too much.";
/** How much is kept compiled, in sizes of programs: a thousand ordinary patterns, or a few of the largest. */
const sizeHeld = 20_000;

/**
 * The patterns of alerts. They are anybody's, so only RE2 ever sees them: no pattern makes it try one thing after
 * another without end. What was compiled is kept, the least used goes first.
 */
export class Patterns {
  readonly #compiled = new Map<string, RE2JS>();
  #size = 0;

  /** Why it can't be a pattern, in a sentence; undefined when it can. */
  readonly faultOf = (pattern: string): string | undefined => {
    if (estimatedSize(pattern) > largestEstimate) return tooComplex;
    try {
      const size = RE2JS.compile(pattern).programSize();
      return size > largestProgram ? tooComplex : undefined;
    } catch {
      // The library's own words quote the pattern.
      return "The pattern must be in RE2 syntax, which has neither look-around nor back-references.";
    }
  };

  /** Whether it matches the whole of the value: `away` doesn't match `auto-away`. */
  readonly matches = (pattern: string, value: string): boolean => this.#get(pattern).matches(value);

  /** How many steps it may take to look at that value. */
  stepsFor(condition: Condition, value: string | null): number {
    if (condition.operation !== "regex" || value === null) return 1;
    return this.#get(condition.pattern).programSize() * value.length;
  }

  #get(pattern: string): RE2JS {
    const held = this.#compiled.get(pattern);
    this.#compiled.delete(pattern);
    const compiled = held ?? RE2JS.compile(pattern);
    this.#compiled.set(pattern, compiled);
    if (!held) this.#makeRoom(compiled.programSize());
    return compiled;
  }

  #makeRoom(added: number): void {
    this.#size += added;
    for (const [pattern, oldest] of this.#compiled) {
      if (this.#size <= sizeHeld) return;
      this.#compiled.delete(pattern);
      this.#size -= oldest.programSize();
    }
  }
}
