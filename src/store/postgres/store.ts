import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";
import { StoreUnavailable } from "../../model/errors.ts";
import type { NodeId } from "../../model/ids.ts";
import { type ProbeSize, Writability } from "../disk/writability.ts";
import type { NodeBus, PresenceLock } from "../node-bus.ts";
import {
  type OpenStore,
  type PoolUse,
  type Priority,
  type StoreHealth,
  type Transaction,
  transactionOn,
} from "../seam.ts";
import { StaleEpoch } from "../tables/log-epoch.ts";
import { writeProbe } from "../tables/write-probe.ts";
import { LentSql } from "./connection.ts";
import { ConnectionLine } from "./connection-line.ts";
import { beginEpoch } from "./epoch.ts";
import { isReadOnly, isSilence, isWorthRepeating, translated, unavailable } from "./errors.ts";
import { newPool } from "./pool.ts";
import { takePresenceLock } from "./presence-lock.ts";
import { refuseReadOnly } from "./read-only.ts";
import { changeSchema } from "./schema.ts";
import { Wake } from "./wake.ts";

export interface PostgresOptions {
  readonly url: string;
  /** A connection that can't be established within this time counts as a store that can't be reached. */
  readonly connectTimeoutMs?: number;
  /** How long a caller waits for a connection that is in use; 20 s. */
  readonly longestWaitMs?: number;
  /** The database's clock as an SQL expression in milliseconds; tests give it one that jumps. */
  readonly clock?: string;
}

export const databaseClock = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
const pools = { ordinary: 3, patient: 6, urgent: 4, reading: 3 };
/** Waiting for a connection that is in use is no outage, up to here. Links wait longer: nobody waits for them. */
const defaultWaitMs = 20_000;
const attempts = 6;
const longestIdleMs = 5_000;
/** A transaction may have to wait for locks; one that only looks, or goes before all others, has nothing to wait for. */
const longestQueryMs = { waiting: 30_000, looking: 5_000 };
const forWriting = "BEGIN";
const forReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

type Lender = Pick<ConnectionLine, "connect">;

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
  readonly #pools: Readonly<Record<keyof typeof pools, pg.Pool>>;
  readonly #ordinary: ConnectionLine;
  /** Patient transactions have connections of their own: they never stand before a caller who waits for an answer. */
  readonly #patient: ConnectionLine;
  /** So have urgent transactions: they never wait behind the others. */
  readonly #urgent: ConnectionLine;
  /** So have reads: transactions that wait for a user's lock would otherwise hold them up. */
  readonly #reading: ConnectionLine;
  readonly #connect: pg.PoolConfig;
  readonly #clock: string;
  readonly #body = new AsyncLocalStorage<true>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #places = new Set<PresenceLock>();
  readonly #wake: Wake;
  #epochBeginning: Promise<void> | undefined;
  readonly #writability = new Writability((size) => this.#probe(size));
  #lastSyncMs = 0;
  #isClosed = false;

  constructor({
    url,
    connectTimeoutMs = 5_000,
    longestWaitMs = defaultWaitMs,
    clock = databaseClock,
  }: PostgresOptions) {
    const connect: pg.PoolConfig = {
      connectionString: url,
      connectionTimeoutMillis: connectTimeoutMs,
      application_name: "breezeway",
      // A node that is frozen inside a transaction must not hold its users' locks until it thaws.
      idle_in_transaction_session_timeout: longestIdleMs,
    };
    // A connection that died without a word would otherwise never answer.
    const { waiting, looking } = longestQueryMs;
    const pooled = { ...connect, pipeline: true };
    this.#pools = {
      ordinary: newPool({ ...pooled, max: pools.ordinary, query_timeout: waiting }),
      patient: newPool({ ...pooled, max: pools.patient, query_timeout: waiting }),
      urgent: newPool({ ...pooled, max: pools.urgent, query_timeout: looking }),
      reading: newPool({ ...pooled, max: pools.reading, query_timeout: looking }),
    };
    this.#ordinary = new ConnectionLine(this.#pools.ordinary, longestWaitMs);
    this.#patient = new ConnectionLine(this.#pools.patient);
    this.#urgent = new ConnectionLine(this.#pools.urgent, longestWaitMs);
    this.#reading = new ConnectionLine(this.#pools.reading, longestWaitMs);
    this.#connect = connect;
    this.#clock = clock;
    this.#wake = new Wake({ config: connect, notify: (channel, payload) => this.#notify(channel, payload) });
  }

  get nodeBus(): NodeBus {
    const wake = this.#wake;
    return {
      get areHeard() {
        return wake.areHeard;
      },
      hear: (heard) => wake.hear(heard),
      takePresenceLock: (id, lost) => this.#takePresenceLock(id, lost),
    };
  }

  /** On a connection of its own: however long it takes, and however long another node is at it, it is waited for. */
  async migrate(): Promise<void> {
    const pool = newPool({ ...this.#connect, pipeline: true, max: 1 });
    try {
      await this.#attempt(pool, forReading, refuseReadOnly);
      await changeSchema({
        attempt: (body) => this.#attempt(pool, forWriting, body),
        outside: (body) => this.#outside(pool, body),
      });
    } finally {
      await pool.end();
    }
  }

  async transaction<Result>(
    body: (tx: Transaction) => Promise<Result>,
    { urgent = false, soon = false, patient = false, hurry }: Priority = {},
  ): Promise<Result> {
    this.#refuseInside("a transaction");
    const pool = urgent || soon ? this.#urgent : patient ? this.#patient : this.#ordinary;
    const write = () => this.#attempts(pool, forWriting, (sql) => body(transactionOn(sql)), hurry);
    return this.#run(() => this.#writability.observe(write));
  }

  async read<Result>(
    body: (tx: Transaction) => Promise<Result>,
    { soon = false }: Pick<Priority, "soon"> = {},
  ): Promise<Result> {
    this.#refuseInside("a read");
    const pool = soon ? this.#urgent : this.#reading;
    return this.#run(() => this.#attempts(pool, forReading, (sql) => body(transactionOn(sql))));
  }

  async health(): Promise<StoreHealth> {
    await Promise.all([this.read((tx) => tx.settings.get("health")), this.#writability.check()]);
    const waiting = Object.values(this.#lines).reduce((sum, line) => sum + line.waitingCount, 0);
    return { kind: "postgres", waiting, lastSyncMs: this.#lastSyncMs };
  }

  async #probe(size: ProbeSize): Promise<void> {
    await this.#run(() =>
      this.#attempt(this.#urgent, forWriting, async (sql) => {
        await refuseReadOnly(sql);
        await writeProbe(sql, size);
      }),
    );
  }

  async size(): Promise<number> {
    const look = (sql: LentSql) => sql.all<{ bytes: number }>("SELECT pg_database_size(current_database()) AS bytes");
    return (await this.#run(() => this.#attempt(this.#reading, forReading, look)))[0]!.bytes;
  }

  pools(): readonly PoolUse[] {
    const lines = this.#lines;
    return Object.entries(this.#pools).map(([pool, { totalCount, idleCount, options }]) => ({
      pool,
      inUse: totalCount - idleCount,
      idle: idleCount,
      most: options.max,
      waiting: lines[pool as keyof typeof pools].waitingCount,
    }));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // A pool that ends forgets those that still wait for a connection: they would be told so only after a timeout.
    await Promise.allSettled(this.#running);
    await this.#wake.stop();
    await Promise.all([...this.#places].map((place) => place.leave()));
    await Promise.all(Object.values(this.#pools).map((pool) => pool.end()));
  }

  async #takePresenceLock(id: NodeId, lost: () => void): Promise<PresenceLock> {
    if (this.#isClosed) throw new StoreUnavailable("The store is closed.");
    const place = await takePresenceLock(this.#connect, id, () => {
      this.#places.delete(place);
      lost();
    });
    this.#places.add(place);
    return place;
  }

  get #lines(): Readonly<Record<keyof typeof pools, ConnectionLine>> {
    return { ordinary: this.#ordinary, patient: this.#patient, urgent: this.#urgent, reading: this.#reading };
  }

  async #notify(channel: string, payload: string): Promise<void> {
    const client = await this.#urgent.connect();
    try {
      await client.query("SELECT pg_notify($1, $2)", [channel, payload]);
      client.release();
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /** It would need a second connection while it holds one: enough of them at once would wait for each other for ever. */
  #refuseInside(what: string): void {
    if (this.#body.getStore()) throw new Error(`${what} was started inside another`);
  }

  async #run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw new StoreUnavailable("The store is closed.");
    const running = work();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  async #attempts<Result>(
    pool: Lender,
    begin: string,
    body: (sql: LentSql) => Promise<Result>,
    hurry?: AbortSignal,
  ): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(pool, begin, body, hurry);
      } catch (error) {
        const isStale = error instanceof StaleEpoch;
        if (!(isStale || isWorthRepeating(error)) || attempt === attempts) throw error;
        if (isStale) await this.#beginEpoch();
      }
    }
  }

  /** The database was restored or promoted. The transactions that noticed wait for one that begins an epoch. */
  #beginEpoch(): Promise<void> {
    this.#epochBeginning ??= this.#attempt(this.#urgent, forWriting, beginEpoch).finally(() => {
      this.#epochBeginning = undefined;
    });
    return this.#epochBeginning;
  }

  async #attempt<Result>(
    pool: Lender,
    begin: string,
    body: (sql: LentSql) => Promise<Result>,
    hurry?: AbortSignal,
  ): Promise<Result> {
    const connecting = hurry ? this.#connectInHurry(pool, hurry) : pool.connect();
    const client = await connecting.catch((error) => Promise.reject(unavailable(error)));
    const sql = new LentSql(client, this.#clock);
    try {
      sql.begin(begin);
      const result = await this.#body.run(true, () => body(sql));
      await this.#conclude(sql, begin);
      client.release();
      this.#wake.tell(sql.hints);
      return result;
    } catch (thrown) {
      const error = sql.reasonOf(thrown);
      sql.end();
      // A connection that is silent, or whose ROLLBACK fails, is broken: it is thrown away, not lent to the next. A
      // session that is read-only stays so after its server accepts writes again: it is replaced too.
      const isUsable =
        !isSilence(error) &&
        !isReadOnly(error) &&
        (await client.query("ROLLBACK").then(
          () => true,
          () => false,
        ));
      client.release(!isUsable);
      throw translated(error, isUsable);
    }
  }

  async #conclude(sql: LentSql, begin: string): Promise<void> {
    const startedMs = performance.now();
    const committed = sql.commit();
    if (begin === forWriting) {
      await committed;
      this.#lastSyncMs = performance.now() - startedMs;
    } else {
      // What was read has been read; whoever has the connection next is answered after this, or hears that it is broken.
      committed.catch(() => undefined);
    }
  }

  /** A connection that is in no transaction, and thrown away with all that its session holds. */
  async #outside<Result>(pool: pg.Pool, body: (sql: LentSql) => Promise<Result>): Promise<Result> {
    const client = await pool.connect().catch((error) => Promise.reject(unavailable(error)));
    try {
      return await body(new LentSql(client, this.#clock));
    } catch (error) {
      throw translated(error, true);
    } finally {
      client.release(true);
    }
  }

  /** A connection of that pool; should it become urgent before there is one, an urgent one. */
  async #connectInHurry(pool: Lender, hurry: AbortSignal): Promise<pg.PoolClient> {
    if (hurry.aborted) return this.#urgent.connect();
    const ordinary = pool.connect();
    const { promise: hurried, resolve } = Promise.withResolvers<"hurried">();
    const tell = () => resolve("hurried");
    hurry.addEventListener("abort", tell, { once: true });
    const first = await Promise.race([ordinary, hurried]).finally(() => hurry.removeEventListener("abort", tell));
    if (first !== "hurried") return first;
    // Nobody uses the one that was asked for first.
    void ordinary.then((client) => client.release()).catch(() => undefined);
    return this.#urgent.connect();
  }
}
