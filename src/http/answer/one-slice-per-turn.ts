/** Lets one waiting task go on in each turn of the event loop, in order: together they take no more than one at a time. */
export class OneATurn {
  readonly #waiting: (() => void)[] = [];

  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#goOn);
    });
  }

  readonly #goOn = (): void => {
    this.#waiting.shift()!();
    if (this.#waiting.length > 0) setImmediate(this.#goOn);
  };
}
