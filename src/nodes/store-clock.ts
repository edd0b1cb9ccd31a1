/** What the store's clock said, and when it was asked and heard on the node's own unjumping one. */
export interface ClockLook {
  readonly askedMs: number;
  readonly saidMs: number;
  readonly heardMs: number;
}

/** How far a clock is from another: at least and at most. */
interface Distance {
  readonly least: number;
  readonly most: number;
}

/**
 * The store's clock as a node reckons it between two looks at it. The clocks of nodes may be hours apart, and each may
 * jump; the store's is one for all of them, so whatever one node notes and another reads must be on it.
 */
export class StoreClock {
  readonly #elapsedMs: () => number;
  /** From the node's own unjumping clock to the store's. */
  #ahead: Distance | undefined;

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /** What it said was true at some moment between the question and the answer. */
  seen({ askedMs, saidMs, heardMs }: ClockLook): void {
    const seen = { least: saidMs - heardMs, most: saidMs - askedMs };
    const known = this.#ahead;
    // Each look narrows it down; where none agrees with those before it, the store's clock was set.
    const both = known && { least: Math.max(known.least, seen.least), most: Math.min(known.most, seen.most) };
    this.#ahead = both && both.least <= both.most ? both : seen;
  }

  /** The time that it is there at least; undefined before the first look. */
  get nowMs(): number | undefined {
    return this.#ahead && Math.floor(this.#elapsedMs() + this.#ahead.least);
  }

  /** By how much it may be later there: as long as the quickest look took. */
  get unsureMs(): number {
    return this.#ahead ? Math.ceil(this.#ahead.most - this.#ahead.least) : 0;
  }
}
