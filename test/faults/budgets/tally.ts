/** The answers that an attacker got: a status with the error code, or the fate of a socket. */
export type Tally = Readonly<Record<string, number>>;

export class Tallied {
  readonly #counts: Record<string, number> = {};

  add(what: string, count = 1): void {
    if (count > 0) this.#counts[what] = (this.#counts[what] ?? 0) + count;
  }

  get tally(): Tally {
    return this.#counts;
  }
}

export function total(tally: Tally): number {
  return Object.values(tally).reduce((sum, count) => sum + count, 0);
}

/** The number of answers that begin with one of these texts. */
export function counted(tally: Tally, ...beginnings: readonly string[]): number {
  const isMeant = (what: string) => beginnings.some((beginning) => what.startsWith(beginning));
  return Object.entries(tally).reduce((sum, [what, count]) => (isMeant(what) ? sum + count : sum), 0);
}

export function shownTally(tally: Tally): string {
  return Object.entries(tally)
    .map(([what, count]) => `${count}x ${what}`)
    .join(", ");
}
