/** Runs actions in the next turn of the event loop. One immediate serves all connections of a server. */
export class Turns {
  #waiting: (() => void)[] = [];

  next(action: () => void): void {
    if (this.#waiting.push(action) > 1) return;
    setImmediate(() => {
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const run of waiting) run();
    });
  }
}
