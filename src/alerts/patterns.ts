import { writeLimits } from "../devices/write.ts";
import { limits } from "../model/limits.ts";
import { PatternCache } from "./pattern-cache.ts";
import { estimatedCost } from "./pattern-cost.ts";

/**
 * Largest allowed program: a match takes up to this many steps for each character of the value, so that one change can
 * evaluate the pattern on the longest value. Alerts of older versions have programs of up to 1,000 instructions.
 */
export const largestProgram = Math.floor(limits.patternStepsPerCause / writeLimits.valueBytes);
/** New patterns that cost more are not even compiled, because that could take more than 10 ms. */
const largestCost = 5_000;
/** The same for patterns of older versions, which may take 0.2 seconds. They are compiled outside of the event loop. */
const largestKeptCost = 50_000;
const tooComplex = "The pattern is too complex: it repeats too much, or has too many classes of characters.";
/** Steps of a match that take as long as compiling an instruction; measured. */
const stepsPerCost = 60;
/** Patterns whose cost and size are remembered: 5 MB. */
const mostFacts = 10_000;

interface Facts {
  readonly cost: number;
  /** Instructions of the program; undefined until it was compiled once. */
  size: number | undefined;
}

/** The patterns of alerts: what they cost, and their programs. */
export class Patterns {
  readonly #programs = new PatternCache();
  readonly #facts = new Map<string, Facts>();

  /** Why this text can't be a pattern, in a sentence; undefined when it can. */
  readonly faultOf = (pattern: string): string | undefined => {
    if (estimatedCost(pattern) > largestCost) return tooComplex;
    try {
      return this.sizeOf(pattern) > largestProgram ? tooComplex : undefined;
    } catch {
      // The library's message is not shown, because it quotes the pattern.
      return "The pattern must be in RE2 syntax, which has neither look-around nor back-references.";
    }
  };

  /** Whether the pattern matches the whole value. */
  readonly matches = (pattern: string, value: string): boolean => this.#programs.matches(pattern, value);

  /** What compiling the pattern costs, in instructions, whether it is in memory or not. */
  costOf(pattern: string): number {
    return this.#factsOf(pattern).cost;
  }

  /** Whether the pattern is never compiled. Older versions accepted patterns that take a second. */
  isTooCostly(pattern: string): boolean {
    return this.costOf(pattern) > largestKeptCost;
  }

  /** The steps of a match in the time that compiling the pattern takes now: 0 when it is in memory. */
  stepsToCompile(pattern: string): number {
    return this.#programs.has(pattern) ? 0 : stepsPerCost * this.costOf(pattern);
  }

  /** The size of the pattern's program, if it was compiled before. */
  knownSize(pattern: string): number | undefined {
    return this.#factsOf(pattern).size;
  }

  /** Compiles the pattern, unless it is in memory. */
  sizeOf(pattern: string): number {
    const size = this.#programs.sizeOf(pattern);
    this.remember(pattern, size);
    return size;
  }

  /** Another thread has compiled the pattern. */
  remember(pattern: string, size: number): void {
    this.#factsOf(pattern).size = size;
  }

  #factsOf(pattern: string): Facts {
    const known = this.#facts.get(pattern);
    if (known) return known;
    const facts: Facts = { cost: estimatedCost(pattern), size: undefined };
    this.#facts.set(pattern, facts);
    for (const [oldest] of this.#facts) {
      if (this.#facts.size <= mostFacts) break;
      this.#facts.delete(oldest);
    }
    return facts;
  }
}
