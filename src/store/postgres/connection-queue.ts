import type pg from "pg";
import type { TurnOwner } from "../../runtime/time-slices.ts";
import { FairWaiters } from "./fair-waiters.ts";

interface Waiter {
  readonly proceed: () => void;
  readonly reject: (error: unknown) => void;
}

/** Other callers that may follow each other while `soon` ones wait: without a limit these would wait for ever under load. */
const othersInARow = 3;

/**
 * A queue in front of a pg pool: tenants take turns, and callers that are only `soon` come after the others, except that
 * one of them has its turn after three others. The pool has only one time limit, for both establishing a connection and
 * waiting until a connection is released. Callers wait in this queue instead, so that a timeout of the pool always means
 * that the server can't be reached, never that all connections are in use.
 */
export class ConnectionQueue {
  readonly #pool: pg.Pool;
  readonly #longestWaitMs: number | undefined;
  readonly #presentOwner: () => TurnOwner | undefined;
  readonly #waiters = new FairWaiters<Waiter>();
  readonly #soon = new FairWaiters<Waiter>();
  /** How many waiters have had their turn since the last `soon` one. */
  #inARow = 0;
  /** How many more callers may ask the pool for a connection now. */
  #freeSlots: number;
  #inUse = 0;

  /** Without `longestWaitMs` callers wait without a limit. `presentOwner`: whose work asks for a connection. */
  constructor(pool: pg.Pool, longestWaitMs?: number, presentOwner: () => TurnOwner | undefined = () => undefined) {
    this.#presentOwner = presentOwner;
    this.#pool = pool;
    this.#longestWaitMs = longestWaitMs;
    this.#freeSlots = pool.options.max;
    pool.on("release", () => {
      this.#inUse -= 1;
      this.#passOn();
    });
  }

  get waitingCount(): number {
    return this.#waiters.size + this.#soon.size;
  }

  async connect({ soon = false } = {}): Promise<pg.PoolClient> {
    if (this.#freeSlots > 0) this.#freeSlots -= 1;
    else await this.#waitForTurn(soon ? this.#soon : this.#waiters);
    try {
      const client = await this.#pool.connect();
      this.#inUse += 1;
      return client;
    } catch (error) {
      this.#rejectWaitersIfUnreachable(error);
      this.#passOn();
      throw error;
    }
  }

  /** In a queue with a time limit: when no connection is in use and none can be established, all waiting callers fail. */
  #rejectWaitersIfUnreachable(error: unknown): void {
    if (this.#longestWaitMs === undefined || this.#inUse > 0) return;
    for (const { reject } of [...this.#waiters.takeAll(), ...this.#soon.takeAll()]) reject(error);
  }

  /** Lets the next waiting caller ask the pool for a connection. */
  #passOn(): void {
    const isSoonTurn = this.#soon.size > 0 && (this.#waiters.size === 0 || this.#inARow >= othersInARow);
    const next = (isSoonTurn ? this.#soon : this.#waiters).takeNext();
    if (!next) {
      this.#freeSlots += 1;
      return;
    }
    this.#inARow = isSoonTurn ? 0 : this.#inARow + 1;
    next.proceed();
  }

  #waitForTurn(waiters: FairWaiters<Waiter>): Promise<void> {
    return new Promise((resolve, reject) => {
      const longestMs = this.#longestWaitMs;
      const onTimeout = () => {
        leave();
        reject(new Error(`all ${this.#pool.options.max} connections were in use for ${longestMs} ms`));
      };
      const timer = longestMs === undefined ? undefined : setTimeout(onTimeout, longestMs);
      const waiter: Waiter = {
        proceed: () => {
          clearTimeout(timer);
          resolve();
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      const leave = waiters.add(waiter, this.#presentOwner());
    });
  }
}
