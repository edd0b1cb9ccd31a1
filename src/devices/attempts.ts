import { limits } from "../model/limits.ts";
import type { Priority, Store } from "../store/seam.ts";

/** Each hop of a chain of alerts can need work twice. */
const mostAttempts = 2 * (limits.alertHopsPerCause + 2);

/** How a caller waits for work outside of its transaction. */
export interface WorkOptions {
  /**
   * The caller can be told that too many of its changes wait. A limited number of urgent changes is never refused nor
   * abandoned; further ones wait like ordinary changes.
   */
  readonly mayRefuse?: boolean;
  /** The work goes before the work of others. */
  readonly urgent?: boolean;
  /** Aborts when the work becomes urgent. */
  readonly becomesUrgent?: AbortSignal | undefined;
  /** Aborts when nobody needs the change any more. Waiting for work ends with ClientGone, and nothing is changed. */
  readonly abandoned?: AbortSignal | undefined;
  /** False: throw WorkNeeded instead of waiting. */
  readonly mayWait?: boolean;
}

/** The transaction was rolled back, because its reactions need work for which the caller does not wait. */
export class WorkNeeded extends Error {}

/**
 * The attempts to carry out one transaction. A reaction that needs work too long for an open transaction asks for it
 * here: the transaction is rolled back, the work is done while others write, and the body runs again.
 */
export class TransactionRetries {
  readonly options: WorkOptions;
  readonly #later = new Set<() => Promise<void>>();
  #made = 0;
  #requests = 0;

  constructor(options: WorkOptions) {
    this.options = options;
  }

  /** False in the last attempt: the reaction must decide without the work. */
  get mayRunAgain(): boolean {
    return this.#made < mostAttempts;
  }

  get isIncomplete(): boolean {
    return this.#later.size > 0;
  }

  /** How often the present attempt has asked for work. */
  get workRequests(): number {
    return this.#requests;
  }

  /** The present attempt is in vain. It may go on, to find what else is needed. */
  runAgainAfter(work: () => Promise<void>): void {
    this.#requests += 1;
    this.#later.add(work);
  }

  /** A body begins. The store may run it several times in one attempt. */
  begin(): void {
    this.#requests = 0;
    this.#later.clear();
  }

  async doWork(): Promise<void> {
    this.#made += 1;
    for (const work of this.#later) await work();
  }
}

const byTransaction = new WeakMap<object, TransactionRetries>();

/** The attempts of an open transaction; undefined when it can't be run again. */
export function attemptsIn(tx: object): TransactionRetries | undefined {
  return byTransaction.get(tx);
}

class Incomplete extends Error {}

/** Runs the transaction as often as its reactions need. */
export async function inAttempts<Tables extends object, Result>(
  store: Store<Tables>,
  body: (tx: Tables) => Promise<Result>,
  priority: Priority | undefined,
  options: WorkOptions,
): Promise<Result> {
  const attempts = new TransactionRetries(options);
  const attempt = async (tx: Tables) => {
    attempts.begin();
    byTransaction.set(tx, attempts);
    try {
      const result = await body(tx);
      if (!attempts.isIncomplete) return result;
    } catch (error) {
      // Without the work the body may have gone wrong: the next attempt decides.
      if (!attempts.isIncomplete) throw error;
    }
    throw new Incomplete("the transaction runs again");
  };
  for (;;) {
    try {
      return await store.transaction(attempt, priority);
    } catch (error) {
      if (!(error instanceof Incomplete)) throw error;
      if (options.mayWait === false) throw new WorkNeeded("the transaction needs work outside of it", { cause: error });
      await attempts.doWork();
    }
  }
}
