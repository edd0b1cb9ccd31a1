/**
 * Resumes one waiting task in each turn of the event loop, so that all sliced answers together take no more time per
 * turn than one. Callers are served round robin: a task waits for at most one task of each other caller before its
 * caller is served.
 */
export class OneSlicePerTurn {
  /** Waiting tasks by caller, in the order in which callers are served. No list is empty. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Number of callers with waiting tasks. */
  get size(): number {
    return this.#waiting.size;
  }

  next(caller: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.size === 0) setImmediate(this.#resumeNext);
      const ofCaller = this.#waiting.get(caller);
      if (ofCaller) ofCaller.push(resolve);
      else this.#waiting.set(caller, [resolve]);
    });
  }

  readonly #resumeNext = (): void => {
    const [caller, ofCaller] = this.#waiting.entries().next().value!;
    const resume = ofCaller.shift()!;
    // Round robin: the caller moves to the end.
    this.#waiting.delete(caller);
    if (ofCaller.length > 0) this.#waiting.set(caller, ofCaller);
    resume();
    if (this.#waiting.size > 0) setImmediate(this.#resumeNext);
  };
}
