import { LimitReached } from "../model/errors.ts";
import type { OwnerId } from "../model/ids.ts";
import { type LimitName, limits } from "../model/limits.ts";

/** Queues of tasks with one running task per owner: an owner's slow tasks delay only that owner. */
export class OwnerQueues {
  readonly #limit: LimitName;
  readonly #sentence: string;
  readonly #queues = new Map<OwnerId, { last: Promise<unknown>; length: number }>();

  /** Beyond the limit of waiting tasks, `run` throws LimitReached with this sentence. */
  constructor(limit: LimitName, sentence: string) {
    this.#limit = limit;
    this.#sentence = sentence;
  }

  /** Number of owners with running tasks. */
  get size(): number {
    return this.#queues.size;
  }

  /** Runs `act` after all earlier tasks of the owner. */
  async run<Result>(ownerId: OwnerId, act: () => Promise<Result>): Promise<Result> {
    const queue = this.#queues.get(ownerId) ?? { last: Promise.resolve(), length: 0 };
    if (queue.length > limits[this.#limit]) throw new LimitReached(this.#limit, this.#sentence);
    queue.length += 1;
    this.#queues.set(ownerId, queue);
    const result = queue.last.then(act);
    queue.last = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      queue.length -= 1;
      if (queue.length === 0) this.#queues.delete(ownerId);
    }
  }
}
