import pg from "pg";

/**
 * A client that has a listener for `error` from its construction to its end. PostgreSQL may end a session at any time,
 * and a FATAL that arrives while nobody listens would end the process. The client's next query fails, which is all that
 * the store needs to know.
 */
class GuardedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on("error", () => undefined);
  }
}

export function newPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({ ...config, Client: GuardedClient });
  // The pool repeats the errors of its idle clients, and replaces these clients at the next use.
  pool.on("error", () => undefined);
  return pool;
}
