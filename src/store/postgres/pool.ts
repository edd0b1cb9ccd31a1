import pg from "pg";

/**
 * A client that always has a listener for `error`. PostgreSQL may end a session at any time, and an `error` event without
 * a listener would end the process. The store needs no more: the client's next query fails.
 */
export class GuardedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on("error", () => undefined);
  }
}

export function newPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ ...config, Client: GuardedClient });
  // The pool emits the errors of its idle clients too, and replaces these clients at the next use.
  pool.on("error", () => undefined);
  return pool;
}
