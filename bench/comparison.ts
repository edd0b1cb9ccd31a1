import type { Load, Sending } from "./load.ts";

/** One side of a comparison: a server, and the requests that it gets in each round. */
export interface Side extends Sending {
  readonly load: Load;
}

/** Rounds that are not measured: the code is compiled and caches are filled in them. */
const warmUpRounds = 4;
const measuredRounds = 11;
export const rounds = warmUpRounds + measuredRounds;

/**
 * The CPU time of one request, in microseconds, for each side and each measured round. The sides take turns, so that
 * other load on the machine affects all of them.
 */
export async function cpuPerRequest<Name extends string>(
  sides: Readonly<Record<Name, Side>>,
): Promise<Readonly<Record<Name, readonly number[]>>> {
  const names = Object.keys(sides) as Name[];
  const figures = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      const side = sides[name];
      const before = await side.load.process.usage();
      await side.load.send(side);
      const after = await side.load.process.usage();
      if (round >= warmUpRounds) figures[name].push((1_000 * (after.cpuMs - before.cpuMs)) / side.requests);
    }
  }
  return figures;
}

/** The ratio of figure and reference in each round. */
export function ratios(figures: readonly number[], references: readonly number[]): readonly number[] {
  return figures.map((figure, round) => figure / references[round]!);
}

/** The median and the range of all rounds. */
export function summary(figures: readonly number[]): {
  readonly figure: number;
  readonly spread: readonly [number, number];
} {
  const sorted = figures.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle) - 1]!) / 2;
  return { figure: median, spread: [sorted[0]!, sorted.at(-1)!] };
}

/** The medians as a line for the user. */
export function inMicroseconds(figures: Readonly<Record<string, readonly number[]>>): string {
  const shown = Object.entries(figures).map(([name, some]) => `${name} ${summary(some).figure.toFixed(1)} us`);
  return `CPU of one request: ${shown.join(", ")}`;
}
