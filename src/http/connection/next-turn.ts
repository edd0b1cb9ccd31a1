/** Runs actions in the next turn of the event loop, with one immediate for all connections of a server. */
export class NextTurn {
  #waiting: (() => void)[] = [];

  run(action: () => void): void {
    if (this.#waiting.push(action) > 1) return;
    setImmediate(() => {
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const waitingAction of waiting) waitingAction();
    });
  }
}
