/**
 * Resumes one waiting task in each turn of the event loop, in order, so that all sliced answers together take no more
 * time per turn than one.
 */
export class OneSlicePerTurn {
  readonly #waiting: (() => void)[] = [];

  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#resumeNext);
    });
  }

  readonly #resumeNext = (): void => {
    this.#waiting.shift()!();
    if (this.#waiting.length > 0) setImmediate(this.#resumeNext);
  };
}
