import { RE2JS } from "re2js";
import { estimatedCost } from "./pattern-cost.ts";

/** Size of the cache, as a sum of costs: a thousand ordinary patterns, or a few of the largest. At most 30 MB; measured. */
const cacheSize = 50_000;

/** Whether a pattern matches one of the values of a job. A match of more steps is not made. */
export interface PatternQuestion {
  readonly pattern: string;
  readonly valueIndex: number;
  readonly mostSteps: number;
}

/** Questions that are answered together. */
export interface PatternJob {
  readonly values: readonly string[];
  readonly questions: readonly PatternQuestion[];
}

/** The size of the pattern's program, and whether it matches; null when that would take more than `mostSteps`. */
export interface PatternAnswer {
  readonly size: number;
  readonly isMatch: boolean | null;
}

/**
 * Answers questions about patterns, one job at a time. Undefined when the job failed: its questions can be asked alone.
 * Throws PatternsUnavailable when no question can be answered now.
 */
export interface PatternWork {
  run(job: PatternJob): Promise<readonly PatternAnswer[] | undefined>;
}

/** LRU cache of compiled patterns. Patterns come from clients, so they run on RE2 only: it never backtracks. */
export class PatternCache {
  readonly #compiled = new Map<string, { readonly program: RE2JS; readonly cost: number }>();
  #size = 0;

  has(pattern: string): boolean {
    return this.#compiled.has(pattern);
  }

  /** Number of instructions. A match takes up to this many steps for each character of the value. */
  sizeOf(pattern: string): number {
    return this.#get(pattern).programSize();
  }

  /** Whether the pattern matches the whole value: `away` doesn't match `auto-away`. */
  matches(pattern: string, value: string): boolean {
    const program = this.#get(pattern);
    try {
      // A matcher, and not `program.matches`: that one keeps an automaton of up to 8 MB with each program, and takes
      // several times longer on values that are made to add a state to it at each character.
      return program.matcher(value).matches();
    } finally {
      program.reset();
    }
  }

  answer({ values, questions }: PatternJob): readonly PatternAnswer[] {
    return questions.map(({ pattern, valueIndex, mostSteps }) => {
      const value = values[valueIndex]!;
      const size = this.sizeOf(pattern);
      return { size, isMatch: size * value.length > mostSteps ? null : this.matches(pattern, value) };
    });
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
