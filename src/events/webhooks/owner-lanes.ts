import { LimitReached } from "../../model/errors.ts";
import type { OwnerId } from "../../model/ids.ts";
import { limits } from "../../model/limits.ts";

/** Runs one look-up at a time for each owner: an owner's silent name servers keep only that owner waiting. */
export class OwnerLanes {
  readonly #lanes = new Map<OwnerId, { last: Promise<unknown>; length: number }>();

  /** Owners that have something under way. */
  get size(): number {
    return this.#lanes.size;
  }

  /** Runs `act` when all that the owner asked for before is over. */
  async run<Result>(ownerId: OwnerId, act: () => Promise<Result>): Promise<Result> {
    const lane = this.#lanes.get(ownerId) ?? { last: Promise.resolve(), length: 0 };
    if (lane.length > limits.webhookLookupsWaiting) {
      throw new LimitReached(
        "webhookLookupsWaiting",
        `${limits.webhookLookupsWaiting} addresses of this owner wait to be looked up. Try again when they are answered.`,
      );
    }
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
