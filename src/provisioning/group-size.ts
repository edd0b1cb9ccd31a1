const mostLines = 100;

/** Adapts the number of lines of a transaction, so that each transaction takes about as long as it may. */
export class GroupSize {
  readonly #longestMs: number;
  #lines = 10;

  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  get lines(): number {
    return this.#lines;
  }

  took(ms: number): void {
    if (ms > this.#longestMs) this.#lines = Math.max(1, Math.floor(this.#lines / 2));
    else if (ms < this.#longestMs / 2) this.#lines = Math.min(mostLines, this.#lines * 2);
  }
}
