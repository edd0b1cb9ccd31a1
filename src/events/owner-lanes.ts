import { LimitReached } from "../model/errors.ts";
import type { OwnerId } from "../model/ids.ts";
import { type LimitName, limits } from "../model/limits.ts";

/** Runs one task at a time for each owner, in order: an owner's slow tasks keep only that owner waiting. */
export class OwnerLanes {
  readonly #limit: LimitName;
  readonly #sentence: string;
  readonly #lanes = new Map<OwnerId, { last: Promise<unknown>; length: number }>();

  /** Beyond the limit of waiting tasks, an owner is refused with the sentence. */
  constructor(limit: LimitName, sentence: string) {
    this.#limit = limit;
    this.#sentence = sentence;
  }

  /** Owners that have something under way. */
  get size(): number {
    return this.#lanes.size;
  }

  /** Runs `act` when all that the owner asked for before is over. */
  async run<Result>(ownerId: OwnerId, act: () => Promise<Result>): Promise<Result> {
    const lane = this.#lanes.get(ownerId) ?? { last: Promise.resolve(), length: 0 };
    if (lane.length > limits[this.#limit]) throw new LimitReached(this.#limit, this.#sentence);
    lane.length += 1;
    this.#lanes.set(ownerId, lane);
    const result = lane.last.then(act);
    lane.last = result.catch(() => undefined);
    try {
      return await result;
    } finally {
      lane.length -= 1;
      if (lane.length === 0) this.#lanes.delete(ownerId);
    }
  }
}
