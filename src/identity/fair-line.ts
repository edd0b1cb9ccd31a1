import { ClientGone } from "../model/errors.ts";

export interface FairLineOptions {
  /** Tasks that run at the same time. */
  readonly atOnce: number;
  /** Tasks that wait, of all sources together. */
  readonly longest: number;
  /** The error for a task that finds no room, or that has to make room. */
  readonly full: () => Error;
}

interface Waiting {
  readonly start: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * A bounded queue of tasks, served round robin over their sources: a task waits for at most one task of each other
 * source before its source is served, however many tasks the others have sent.
 */
export class FairLine {
  readonly #options: FairLineOptions;
  /** In the order in which sources are served: a Map keeps the order of insertion. No list is empty. */
  readonly #ofSource = new Map<string, Waiting[]>();
  #waiting = 0;
  #running = 0;

  constructor(options: FairLineOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** Rejects with ClientGone when `gone` aborts before the task has started. A task that runs is never cut off. */
  async run<Result>(source: string, task: () => Promise<Result>, gone?: AbortSignal): Promise<Result> {
    if (gone?.aborted) throw new ClientGone();
    if (this.#running < this.#options.atOnce) this.#running++;
    else await this.#wait(source, gone);
    try {
      return await task();
    } finally {
      this.#passOn();
    }
  }

  async #wait(source: string, gone: AbortSignal | undefined): Promise<void> {
    if (this.#waiting >= this.#options.longest) this.#makeRoom(source);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { start: resolve, refuse: reject };
    const leave = () => {
      this.#remove(source, waiting);
      reject(new ClientGone());
    };
    const list = this.#ofSource.get(source);
    if (list) list.push(waiting);
    else this.#ofSource.set(source, [waiting]);
    this.#waiting++;
    gone?.addEventListener("abort", leave);
    try {
      await promise;
    } finally {
      gone?.removeEventListener("abort", leave);
    }
  }

  /** The source with the most waiting tasks gives up its newest one, unless the newcomer's source has as many. */
  #makeRoom(source: string): void {
    let largest = source;
    for (const [other, list] of this.#ofSource) if (list.length > this.#lengthOf(largest)) largest = other;
    const newest = this.#ofSource.get(largest)?.at(-1);
    if (!newest || this.#lengthOf(largest) <= this.#lengthOf(source) + 1) throw this.#options.full();
    this.#remove(largest, newest);
    newest.refuse(this.#options.full());
  }

  /** Hands the place to the next task rather than freeing it, so that no newcomer gets ahead of the line. */
  #passOn(): void {
    const [turn] = this.#ofSource;
    if (!turn) {
      this.#running--;
      return;
    }
    const [source, list] = turn;
    const next = list[0]!;
    this.#remove(source, next);
    // The source goes to the end of the round.
    if (this.#ofSource.delete(source)) this.#ofSource.set(source, list);
    next.start();
  }

  #remove(source: string, waiting: Waiting): void {
    const list = this.#ofSource.get(source);
    const at = list?.indexOf(waiting) ?? -1;
    if (!list || at < 0) return;
    list.splice(at, 1);
    this.#waiting--;
    if (list.length === 0) this.#ofSource.delete(source);
  }

  #lengthOf(source: string): number {
    return this.#ofSource.get(source)?.length ?? 0;
  }
}
