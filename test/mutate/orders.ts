/** What the main process and its workers say to each other. */
export interface TestKey {
  /** Relative to the repository. */
  readonly file: string;
  readonly name: string;
}

/** A test as it ran without a mutant. */
export interface RecordedTest extends TestKey {
  readonly ms: number;
  /** How many switches it came by. */
  readonly switches: number;
}

export type Order =
  | { readonly kind: "load"; readonly file: string }
  | { readonly kind: "record"; readonly test: TestKey }
  | {
      readonly kind: "try";
      readonly mutant: number;
      readonly tests: readonly RecordedTest[];
      /** With all modules loaded again, for what happens when they are loaded. */
      readonly isAnew: boolean;
    };

/** `isWorn`: the process has grown so much that another should take its place. */
export type Answer = { readonly isWorn?: boolean } & (
  | { readonly kind: "ready" }
  | { readonly kind: "loaded"; readonly tests: readonly string[]; readonly reached: readonly number[] }
  | {
      readonly kind: "recorded";
      readonly ms: number;
      readonly switches: number;
      readonly reached: readonly number[];
    }
  /** `isSound`: the same test still passes in that process without the mutant. */
  | { readonly kind: "killed"; readonly by: string; readonly isSound: boolean }
  /** `isReached` is false when a value that an earlier test left in memory kept the program from the mutant. */
  | { readonly kind: "survived"; readonly isReached: boolean }
  | { readonly kind: "failed"; readonly reason: string }
);
