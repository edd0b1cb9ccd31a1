import { TooManyRequests } from "../model/errors.ts";
import { type LimitName, limits, type OnLimitReached } from "../model/limits.ts";
import { FairQueue } from "../runtime/fair-queue.ts";
import { type Operator, reachedTenants } from "./operator.ts";

/** Most calls take less. */
const retryAfterSeconds = 1;

/**
 * Bounds the calls of operators that run at the same time on this node: of one operator, and of all operators who reach
 * the same tenants. Further calls wait. A call that finds the queue full throws TooManyRequests before any work is done.
 */
export class OperatorCallTurns {
  readonly #onLimitReached: OnLimitReached;
  readonly #ofOperator = new Map<string, FairQueue>();
  readonly #ofTenants = new Map<string, FairQueue>();

  constructor(onLimitReached: OnLimitReached) {
    this.#onLimitReached = onLimitReached;
  }

  /** Rejects with ClientGone when the client disconnects while the call waits. */
  run<Result>(operator: Operator, call: () => Promise<Result>, disconnected: AbortSignal): Promise<Result> {
    const id = String(operator.operatorId);
    const tenants = reachedTenants(operator)?.toSorted((a, b) => a - b) ?? "all";
    const ownQueue = () => this.#newQueue("operatorCalls", "operatorCallsWaiting");
    const tenantQueue = () => this.#newQueue("operatorCallsOfTenant", "operatorCallsOfTenantWaiting");
    return inQueue(this.#ofOperator, id, ownQueue, (own) =>
      own.run(
        id,
        () => inQueue(this.#ofTenants, String(tenants), tenantQueue, (all) => all.run(id, call, disconnected)),
        disconnected,
      ),
    );
  }

  #newQueue(atOnce: LimitName, waiting: LimitName): FairQueue {
    const fullError = () => {
      this.#onLimitReached(waiting);
      const who = waiting === "operatorCallsWaiting" ? "you" : "operators of the same tenants";
      return new TooManyRequests(
        retryAfterSeconds,
        `${limits[atOnce] + limits[waiting]} calls by ${who} are in progress: more are not taken. Nothing was done.`,
      );
    };
    return new FairQueue({ atOnce: limits[atOnce], mostWaiting: limits[waiting], fullError });
  }
}

/** Keeps a queue only while it has tasks. */
async function inQueue<Result>(
  queues: Map<string, FairQueue>,
  key: string,
  newQueue: () => FairQueue,
  run: (queue: FairQueue) => Promise<Result>,
): Promise<Result> {
  const queue = queues.get(key) ?? newQueue();
  queues.set(key, queue);
  try {
    return await run(queue);
  } finally {
    if (queue.isIdle && queues.get(key) === queue) queues.delete(key);
  }
}
