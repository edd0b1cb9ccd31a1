import { ClientGone } from "../model/errors.ts";

export interface FairQueueOptions {
  /** Tasks that run at the same time. */
  readonly atOnce: number;
  /** Tasks of one source that run at the same time. */
  readonly atOncePerSource?: number;
  /** The limit of waiting tasks, of all sources together. */
  readonly mostWaiting: number;
  /** The limit of waiting tasks of one source. */
  readonly mostWaitingPerSource?: number;
  /** The error for a task that is refused, or evicted, because the queue is full. */
  readonly fullError: () => Error;
}

interface WaitingTask {
  readonly start: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * A bounded queue of tasks, served round robin over their sources: a task waits for at most one task of each other
 * source before its source is served, however many tasks the others have sent.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  /** Waiting tasks by source, in the order in which sources are served (a Map keeps insertion order). No list is empty. */
  readonly #ofSource = new Map<string, WaitingTask[]>();
  /** The number of running tasks by source. No number is 0. */
  readonly #runningOf = new Map<string, number>();
  #waiting = 0;
  #running = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** Rejects with ClientGone when `disconnected` aborts before the task has started. A running task is never interrupted. */
  async run<Result>(source: string, task: () => Promise<Result>, disconnected?: AbortSignal): Promise<Result> {
    if (disconnected?.aborted) throw new ClientGone();
    if (this.#hasSlot(source)) this.#count(source, 1);
    else await this.#wait(source, disconnected);
    try {
      return await task();
    } finally {
      this.#count(source, -1);
      this.#startNext();
    }
  }

  async #wait(source: string, disconnected: AbortSignal | undefined): Promise<void> {
    const { mostWaiting, mostWaitingPerSource = mostWaiting, fullError } = this.#options;
    if (this.#lengthOf(source) >= mostWaitingPerSource) throw fullError();
    if (this.#waiting >= mostWaiting) this.#makeRoom(source);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: WaitingTask = { start: resolve, reject };
    const leave = () => {
      this.#remove(source, waiting);
      reject(new ClientGone());
    };
    const list = this.#ofSource.get(source);
    if (list) list.push(waiting);
    else this.#ofSource.set(source, [waiting]);
    this.#waiting++;
    disconnected?.addEventListener("abort", leave);
    try {
      await promise;
    } finally {
      disconnected?.removeEventListener("abort", leave);
    }
  }

  /** Evicts the newest task of the source with the most waiting tasks, unless the new task's source has as many. */
  #makeRoom(source: string): void {
    let largest = source;
    for (const [other, list] of this.#ofSource) if (list.length > this.#lengthOf(largest)) largest = other;
    const newest = this.#ofSource.get(largest)?.at(-1);
    if (!newest || this.#lengthOf(largest) <= this.#lengthOf(source) + 1) throw this.#options.fullError();
    this.#remove(largest, newest);
    newest.reject(this.#options.fullError());
  }

  /**
   * Gives the free slot to the first source that may use it, at once, so that no new task can overtake the queue. An
   * ended task frees one slot: there is never more than one task to start.
   */
  #startNext(): void {
    const [next] = this.#ofSource.entries().filter(([source]) => this.#hasSlot(source));
    if (!next) return;
    const [source, list] = next;
    const task = list[0]!;
    this.#remove(source, task);
    // Round robin: the source moves to the end.
    if (this.#ofSource.delete(source)) this.#ofSource.set(source, list);
    this.#count(source, 1);
    task.start();
  }

  #hasSlot(source: string): boolean {
    const { atOnce, atOncePerSource = atOnce } = this.#options;
    return this.#running < atOnce && (this.#runningOf.get(source) ?? 0) < atOncePerSource;
  }

  #count(source: string, by: 1 | -1): void {
    this.#running += by;
    const running = (this.#runningOf.get(source) ?? 0) + by;
    if (running > 0) this.#runningOf.set(source, running);
    else this.#runningOf.delete(source);
  }

  #remove(source: string, waiting: WaitingTask): void {
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

/** A queue for tasks that are bounded already, such as those of requests under way. */
export function oneAtATime(): FairQueue {
  const fullError = () => new Error("a queue without a limit is never full");
  return new FairQueue({ atOnce: 1, mostWaiting: Number.POSITIVE_INFINITY, fullError });
}
