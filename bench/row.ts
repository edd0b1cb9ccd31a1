/** One line of the table: a figure, what it is measured against, and what it may be at most or must be at least. */
export interface Result {
  readonly what: string;
  /** What was measured in the same run for comparison; null for a figure that stands alone. */
  readonly reference: string | null;
  readonly figure: number;
  readonly unit: "%" | "kB" | "ms" | "us" | "x";
  /** The smallest and the largest of the repetitions. */
  readonly spread: readonly [number, number] | null;
  /** Null while nobody has promised anything. */
  readonly bar: Bar | null;
}

export type Bar = { readonly atMost: number } | { readonly atLeast: number };

/** Something worth measuring, under the name by which `npm run bench -- <name>` finds it. */
export interface Row {
  readonly name: string;
  /** Measures the real service in its own process. `tell` says what takes so long. */
  readonly measure: (tell: (sentence: string) => void) => Promise<readonly Result[]>;
}

/** Undefined where there is no bar to meet. */
export function isMet({ figure, bar }: Pick<Result, "figure" | "bar">): boolean | undefined {
  if (bar === null) return undefined;
  return "atMost" in bar ? figure <= bar.atMost : figure >= bar.atLeast;
}
