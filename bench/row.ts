/** One line of the table: a figure, its reference, and its target. */
export interface Result {
  readonly what: string;
  /** What the figure is divided by or compared with, measured in the same run; null for an absolute figure. */
  readonly reference: string | null;
  readonly figure: number;
  readonly unit: "%" | "kB" | "ms" | "us" | "x";
  /** The smallest and the largest of the repetitions. */
  readonly spread: readonly [number, number] | null;
  /** The target; null when there is none. */
  readonly bar: Bar | null;
}

export type Bar = { readonly atMost: number } | { readonly atLeast: number };

/** A measurement, with its name for `npm run bench -- <name>`. */
export interface Row {
  readonly name: string;
  /** It takes very long: `npm run bench` without names leaves it out. */
  readonly isOnlyByName?: true;
  /** Measures the real service in its own process. `progress` prints a sentence for the user who waits. */
  readonly measure: (progress: (sentence: string) => void) => Promise<readonly Result[]>;
}

/** Whether the figure meets its target; undefined without a target. */
export function isMet({ figure, bar }: Pick<Result, "figure" | "bar">): boolean | undefined {
  if (bar === null) return undefined;
  return "atMost" in bar ? figure <= bar.atMost : figure >= bar.atLeast;
}
