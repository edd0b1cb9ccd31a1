/**
 * Time budget for parsing streams in one turn of the event loop, so that the store's answers, clients and timers don't
 * wait.
 */
const longestTurnMs = 2;

/**
 * Fair scheduler for parsing streams. When a thousand streams send at once, parsing everything would take a second, and
 * a transaction with ten round trips to the database would wait that long ten times. So each turn of the event loop
 * parses for a limited time, oldest first. Urgent text is parsed at once.
 */
export class IngestTurns {
  /** In order of arrival. */
  readonly #waiting = new Set<() => void>();
  #spentMs = 0;
  #isScheduled = false;

  /**
   * Calls `read` now or soon; several calls while it waits count as one. `isUrgent` is evaluated only when there is no
   * time left.
   */
  take(read: () => void, isUrgent: () => boolean): void {
    const hasRoom = this.#waiting.size === 0 && this.#spentMs < longestTurnMs;
    if (hasRoom || isUrgent()) this.#run(read);
    else this.#waiting.add(read);
    this.#schedule();
  }

  /** Removes a stream that has ended. */
  forget(read: () => void): void {
    this.#waiting.delete(read);
  }

  #run(read: () => void): void {
    this.#waiting.delete(read);
    const startedMs = performance.now();
    read();
    this.#spentMs += performance.now() - startedMs;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#spentMs = 0;
      for (const read of this.#waiting) {
        this.#run(read);
        if (this.#spentMs >= longestTurnMs) break;
      }
      if (this.#waiting.size > 0) this.#schedule();
    });
  }
}
