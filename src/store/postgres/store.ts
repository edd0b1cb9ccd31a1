import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";
import { BreezewayError, StoreUnavailable } from "../../model/errors.ts";
import { migrate } from "../migrations.ts";
import { type OpenStore, type StoreHealth, type Transaction, transactionOn } from "../seam.ts";
import type { Parameter, Sql } from "../sql.ts";

export interface PostgresOptions {
  readonly url: string;
  /** A connection that doesn't come within this time counts as a store that can't be reached. */
  readonly connectTimeoutMs?: number;
  /** The database's clock as an SQL expression in milliseconds; tests give it one that jumps. */
  readonly clock?: string;
}

const databaseClock = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
const pools = { ordinary: 8, urgent: 2 };
const attempts = 6;
const forWriting = "BEGIN";
const forReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/** One number for all Breezeway nodes: whoever holds it changes the schema. */
const migrationLock = 20_180_831;

pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export async function openPostgres(options: PostgresOptions): Promise<OpenStore> {
  const store = new PostgresStore(options);
  try {
    await store.migrate();
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

/** The store on PostgreSQL, 15 or later, shared by any number of nodes. PostgreSQL groups commits by itself. */
class PostgresStore implements OpenStore {
  readonly isShared = true;
  readonly #pool: pg.Pool;
  /** Connections that only urgent transactions use: they never wait behind the others. */
  readonly #urgentPool: pg.Pool;
  readonly #clock: string;
  readonly #body = new AsyncLocalStorage<true>();
  #lastSyncMs = 0;
  #isClosed = false;

  constructor({ url, connectTimeoutMs = 5_000, clock = databaseClock }: PostgresOptions) {
    const connect = { connectionString: url, connectionTimeoutMillis: connectTimeoutMs, application_name: "breezeway" };
    this.#pool = new pg.Pool({ ...connect, max: pools.ordinary });
    this.#urgentPool = new pg.Pool({ ...connect, max: pools.urgent });
    // A connection that breaks while idle is replaced at the next use; without a listener it would end the process.
    for (const pool of [this.#pool, this.#urgentPool]) pool.on("error", () => undefined);
    this.#clock = clock;
  }

  migrate(): Promise<void> {
    return this.#attempt(this.#pool, forWriting, async (sql) => {
      await sql.run(`SELECT pg_advisory_xact_lock(${migrationLock})`);
      await migrate(sql);
    });
  }

  async transaction<Result>(
    body: (tx: Transaction) => Promise<Result>,
    options: { readonly urgent?: boolean } = {},
  ): Promise<Result> {
    if (this.#body.getStore()) throw new Error("a transaction was started inside another");
    const pool = options.urgent ? this.#urgentPool : this.#pool;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(pool, forWriting, (sql) => this.#body.run(true, () => body(transactionOn(sql))));
      } catch (error) {
        if (!isWorthRepeating(error) || attempt === attempts) throw error;
      }
    }
  }

  read<Result>(body: (tx: Transaction) => Promise<Result>): Promise<Result> {
    return this.#attempt(this.#pool, forReading, (sql) => body(transactionOn(sql)));
  }

  async health(): Promise<StoreHealth> {
    await this.read((tx) => tx.settings.get("health"));
    const waiting = this.#pool.waitingCount + this.#urgentPool.waitingCount;
    return { kind: "postgres", waiting, lastSyncMs: this.#lastSyncMs };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.all([this.#pool.end(), this.#urgentPool.end()]);
  }

  async #attempt<Result>(pool: pg.Pool, begin: string, body: (sql: LentSql) => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw new StoreUnavailable("The store is closed.");
    const client = await pool.connect().catch((error) => Promise.reject(unavailable(error)));
    const sql = new LentSql(client, this.#clock);
    try {
      await client.query(begin);
      const result = await body(sql);
      sql.end();
      const syncStartedMs = performance.now();
      await client.query("COMMIT");
      if (begin === forWriting) this.#lastSyncMs = performance.now() - syncStartedMs;
      client.release();
      return result;
    } catch (error) {
      sql.end();
      // A connection whose ROLLBACK fails is broken: it is thrown away, not lent to the next.
      const isUsable = await client.query("ROLLBACK").then(
        () => true,
        () => false,
      );
      client.release(!isUsable);
      throw isOurs(error) ? error : translated(error, isUsable);
    }
  }
}

/** A connection lent to one body: worthless as soon as the body has ended. */
class LentSql implements Sql {
  readonly dialect = "postgres";
  readonly #client: pg.PoolClient;
  readonly #clock: string;
  #isOver = false;

  constructor(client: pg.PoolClient, clock: string) {
    this.#client = client;
    this.#clock = clock;
  }

  end(): void {
    this.#isOver = true;
  }

  async all<Row>(text: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    return (await this.#query(text, parameters)).rows as Row[];
  }

  async run(text: string, parameters: readonly Parameter[] = []): Promise<number> {
    return (await this.#query(text, parameters)).rowCount ?? 0;
  }

  async runEach(text: string, parameterSets: readonly (readonly Parameter[])[]): Promise<void> {
    for (const parameters of parameterSets) await this.#query(text, parameters);
  }

  async nowMs(): Promise<number> {
    return (await this.all<{ now: number }>(`SELECT ${this.#clock} AS now`))[0]!.now;
  }

  #query(text: string, parameters: readonly Parameter[]): Promise<pg.QueryResult> {
    if (this.#isOver) throw new Error("a transaction was used after it had ended");
    return this.#client.query(text, parameters as unknown[]);
  }
}

function isOurs(error: unknown): boolean {
  return error instanceof BreezewayError || !(error instanceof Error);
}

/** Serialisation failures and deadlocks: nothing was changed, and the same body may well succeed now. */
function isWorthRepeating(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "40001" || error.code === "40P01");
}

/** Lost connections, a server that stops or starts, a full disk: the store's trouble, not the caller's. */
function translated(error: unknown, isConnected: boolean): unknown {
  const code = String((error as { code?: unknown }).code ?? "");
  const isTrouble = !isConnected || /^(08|53|57|58|XX)/.test(code) || /^E[A-Z]+$/.test(code);
  return isTrouble ? unavailable(error) : error;
}

function unavailable(error: unknown): StoreUnavailable {
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreUnavailable(`The store can't be used now (${reason}).`, { cause: error });
}
