import type pg from "pg";

interface Waiting {
  readonly proceed: () => void;
  readonly refuse: (error: unknown) => void;
}

/**
 * Lends the connections of a pool in the order in which they are asked for. pg's pool has one time limit for two things:
 * establishing a connection, and waiting for one that is in use. Callers wait here instead, so that the limit of the pool
 * means that the server can't be reached, and a busy server isn't mistaken for one.
 */
export class ConnectionLine {
  readonly #pool: pg.Pool;
  readonly #longestWaitMs: number | undefined;
  readonly #waiting = new Set<Waiting>();
  /** Connections that nobody uses or establishes. */
  #free: number;
  #lent = 0;

  /** Without `longestWaitMs` callers wait for their turn, however long it takes. */
  constructor(pool: pg.Pool, longestWaitMs?: number) {
    this.#pool = pool;
    this.#longestWaitMs = longestWaitMs;
    this.#free = pool.options.max;
    pool.on("release", () => {
      this.#lent -= 1;
      this.#giveBack();
    });
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  async connect(): Promise<pg.PoolClient> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn();
    try {
      const client = await this.#pool.connect();
      this.#lent += 1;
      return client;
    } catch (error) {
      this.#refuseAll(error);
      this.#giveBack();
      throw error;
    }
  }

  /** Callers with a time limit don't wait for a server to which no connection is left and none can be made. */
  #refuseAll(error: unknown): void {
    if (this.#longestWaitMs === undefined || this.#lent > 0) return;
    for (const { refuse } of this.#waiting) refuse(error);
    this.#waiting.clear();
  }

  #giveBack(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next.proceed();
  }

  #turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const longestMs = this.#longestWaitMs;
      const tooLong = () => {
        this.#waiting.delete(waiting);
        reject(new Error(`all ${this.#pool.options.max} connections were in use for ${longestMs} ms`));
      };
      const timer = longestMs === undefined ? undefined : setTimeout(tooLong, longestMs);
      const waiting: Waiting = {
        proceed: () => {
          clearTimeout(timer);
          resolve();
        },
        refuse: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      this.#waiting.add(waiting);
    });
  }
}
