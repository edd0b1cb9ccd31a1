/** So long may reading what streams bring hold up everybody else: the store's answers, clients, timers. */
const longestTurnMs = 2;

/**
 * Whose turn it is to be read. When a thousand streams talk at once, reading all that has come would take a second, and
 * a transaction that goes to the database and back ten times would wait as often. So only so much is read in each turn
 * of the event loop, the longest waiting first; what is urgent is read at once.
 */
export class IngestTurns {
  /** In the order in which they came. */
  readonly #waiting = new Set<() => void>();
  #spentMs = 0;
  #isScheduled = false;

  /** Calls `read` now or soon; asked again while it waits, it is called once. `isUrgent` is asked only without room. */
  take(read: () => void, isUrgent: () => boolean): void {
    const hasRoom = this.#waiting.size === 0 && this.#spentMs < longestTurnMs;
    if (hasRoom || isUrgent()) this.#run(read);
    else this.#waiting.add(read);
    this.#schedule();
  }

  /** It has nothing left to be read. */
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
