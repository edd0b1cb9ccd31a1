import { LimitReached } from "../model/errors.ts";
import type { TenantId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { FairQueue } from "../runtime/fair-queue.ts";

/** Costly states of one tenant that are written at once, and as many alarms. Each takes two transactions. */
export const costlyWritesAtOnce = 3;

export interface CostlyTurn {
  readonly tenantId: TenantId;
  /** Users of a tenant take turns. */
  readonly user: string;
  /** Aborts when nobody needs the write any more. */
  readonly abandoned?: AbortSignal | undefined;
}

/**
 * Limits on one node how many states with costly patterns a tenant writes at once, so that its transactions don't hold up
 * those of others. Alarms have turns of their own: they wait for other alarms only.
 */
export class CostlyTurns {
  readonly #states = new Map<TenantId, FairQueue>();
  readonly #alarms = new Map<TenantId, FairQueue>();

  /** Throws LimitReached when too many states of the tenant wait, most of them of this user. */
  run<Result>(turn: CostlyTurn, task: () => Promise<Result>): Promise<Result> {
    return inTurn(this.#states, turn, task);
  }

  /** Undefined when too many alarms of the tenant wait, most of them of this user: nothing was done. */
  async runAlarm<Result>(turn: CostlyTurn, task: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await inTurn(this.#alarms, turn, task);
    } catch (error) {
      if (error instanceof TooManyWait) return undefined;
      throw error;
    }
  }
}

async function inTurn<Result>(
  queues: Map<TenantId, FairQueue>,
  { tenantId, user, abandoned }: CostlyTurn,
  task: () => Promise<Result>,
): Promise<Result> {
  const queue = queues.get(tenantId) ?? newQueue(limits.costlyStatesWaiting);
  queues.set(tenantId, queue);
  try {
    return await queue.run(user, task, abandoned);
  } finally {
    if (queue.isIdle && queues.get(tenantId) === queue) queues.delete(tenantId);
  }
}

/** Turns of one request: with many alarms it leaves room for those of other requests. */
export function turnsOfRequest(): FairQueue {
  return newQueue(limits.linesAtOnce);
}

function newQueue(mostWaiting: number): FairQueue {
  return new FairQueue({ atOnce: costlyWritesAtOnce, mostWaiting, fullError: () => new TooManyWait() });
}

class TooManyWait extends LimitReached {
  constructor() {
    super(
      "costlyStatesWaiting",
      `More than ${limits.costlyStatesWaiting} states of this tenant wait for costly patterns of alerts. Nothing was changed. Try again later.`,
    );
  }
}
