/**
 * Bounds the reads that run at once. The owners take turns (round-robin), so that an owner with hundreds of waiting
 * reads delays the next read of another by one turn only.
 */
export class ReadTurns {
  readonly #atMost: number;
  #running = 0;
  /** Waiting reads, by owner. The owner that comes first in the map has the next turn. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(atMost: number) {
    this.#atMost = atMost;
  }

  async run<Result>(owner: string, read: () => Promise<Result>): Promise<Result> {
    await this.#turn(owner);
    try {
      return await read();
    } finally {
      this.#passOn();
    }
  }

  async #turn(owner: string): Promise<void> {
    if (this.#running >= this.#atMost) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const queue = this.#waiting.get(owner) ?? [];
      queue.push(resolve);
      this.#waiting.set(owner, queue);
      await promise;
    } else this.#running += 1;
  }

  #passOn(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#running -= 1;
      return;
    }
    const [owner, queue] = next;
    const begin = queue.shift()!;
    this.#waiting.delete(owner);
    if (queue.length > 0) this.#waiting.set(owner, queue);
    begin();
  }
}
