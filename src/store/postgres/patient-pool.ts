import type pg from "pg";

/**
 * Connections for those whom nobody waits for, hundreds of them at a time when a store comes back. A pool would give them
 * up after a while, and all that they had prepared would be lost; here they wait for their turn, however long it takes.
 */
export class PatientPool {
  readonly #pool: pg.Pool;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    this.#free = pool.options.max;
    pool.on("release", () => this.#giveBack());
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  async connect(): Promise<pg.PoolClient> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await this.#pool.connect();
    } catch (error) {
      this.#giveBack();
      throw error;
    }
  }

  #giveBack(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
