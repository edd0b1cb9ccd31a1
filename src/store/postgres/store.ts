import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { StoreUnavailable } from "../../model/errors.ts";
import type { NodeId } from "../../model/ids.ts";
import type { TurnOwner } from "../../runtime/time-slices.ts";
import { type ProbeSize, Writability } from "../disk/writability.ts";
import { GroupPace } from "../groups/group-pace.ts";
import { GroupQueue } from "../groups/group-queue.ts";
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
import { ConnectionQueue } from "./connection-queue.ts";
import { beginEpoch } from "./epoch.ts";
import { ClosedConnection, isQueryTimeout, isReadOnly, isRetryable, toStoreError, unavailable } from "./errors.ts";
import { groupTables } from "./group-tables.ts";
import { HintChannel } from "./hint-channel.ts";
import { newPool } from "./pool.ts";
import { takePresenceLock } from "./presence-lock.ts";
import { refuseReadOnly } from "./read-only.ts";
import { changeSchema } from "./schema.ts";

export interface PostgresOptions {
  readonly url: string;
  /** The time limit for establishing a connection. Beyond it the store counts as unreachable. */
  readonly connectTimeoutMs?: number;
  /** How long a caller waits for a connection that is in use; 20 s by default. */
  readonly longestWaitMs?: number;
  /** Called after each COMMIT of a group with the number of its transactions, and how long the COMMIT took. */
  readonly onGroupCommit?: (transactions: number, syncMs: number) => void;
  /** The database's clock as an SQL expression in milliseconds. Tests set one that jumps. */
  readonly clock?: string;
  /** Whose turns the present work takes while all connections are in use; undefined for background work. */
  readonly presentOwner?: () => TurnOwner | undefined;
}

export const databaseClock = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
const poolSizes = { ordinary: 3, patient: 5, grouped: 1, urgent: 4, reading: 3 };
/** How long a caller waits for a connection that is in use. Background work waits without a limit. */
const defaultWaitMs = 20_000;
const mostAttempts = 6;
const longestIdleMs = 5_000;
/** Ordinary transactions may wait for row locks. Reads and urgent transactions have shorter waits, groups never wait. */
const longestQueryMs = { locking: 30_000, short: 5_000 };
const beginWrite = "BEGIN";
const beginRead = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/** A hint need not survive a crash, so its transaction does not wait for the disk. */
const notification = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";

type ConnectionSource = Pick<ConnectionQueue, "connect">;

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

/** The store on PostgreSQL, 15 or later, shared by any number of nodes. */
class PostgresStore implements OpenStore {
  readonly isShared = true;
  readonly #pools: Readonly<Record<keyof typeof poolSizes, pg.Pool>>;
  readonly #ordinary: ConnectionQueue;
  /** Background work has its own connections, so that it never delays a caller who waits for an answer. */
  readonly #patient: ConnectionQueue;
  /** Groups of transactions have one of their own: one group runs at a time (groups/group-queue.ts). */
  readonly #grouped: ConnectionQueue;
  readonly #groups: GroupQueue;
  /** Urgent transactions have their own. Those that are `soon` use what they leave, and every fourth turn under load. */
  readonly #urgent: ConnectionQueue;
  readonly #soon: ConnectionSource = { connect: () => this.#urgent.connect({ soon: true }) };
  /** Reads have their own, so that they never wait for transactions that wait for a user's lock. */
  readonly #reading: ConnectionQueue;
  readonly #connect: pg.PoolConfig;
  readonly #clock: string;
  readonly #body = new AsyncLocalStorage<true>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #presenceLocks = new Set<PresenceLock>();
  readonly #hintChannel: HintChannel;
  #epochBeginning: Promise<void> | undefined;
  readonly #writability = new Writability((size) => this.#probe(size));
  #lastSyncMs = 0;
  readonly #pace = new GroupPace({ nowMs: () => performance.now(), sleep });
  #isClosed = false;

  constructor({
    url,
    connectTimeoutMs = 5_000,
    longestWaitMs = defaultWaitMs,
    clock = databaseClock,
    onGroupCommit = () => undefined,
    presentOwner,
  }: PostgresOptions) {
    const connect: pg.PoolConfig = {
      connectionString: url,
      connectionTimeoutMillis: connectTimeoutMs,
      application_name: "breezeway",
      // A node that freezes inside a transaction must not hold users' locks until it continues.
      idle_in_transaction_session_timeout: longestIdleMs,
    };
    // Query timeouts detect connections that died without a reset.
    const { locking, short } = longestQueryMs;
    const pooled = { ...connect, pipeline: true };
    this.#pools = {
      ordinary: newPool({ ...pooled, max: poolSizes.ordinary, query_timeout: locking }),
      patient: newPool({ ...pooled, max: poolSizes.patient, query_timeout: locking }),
      grouped: newPool({ ...pooled, max: poolSizes.grouped, query_timeout: short }),
      urgent: newPool({ ...pooled, max: poolSizes.urgent, query_timeout: short }),
      reading: newPool({ ...pooled, max: poolSizes.reading, query_timeout: short }),
    };
    this.#ordinary = new ConnectionQueue(this.#pools.ordinary, longestWaitMs, presentOwner);
    this.#patient = new ConnectionQueue(this.#pools.patient);
    // Lists of rows are parameters of the statements: plans for their present lengths would be made again and again.
    this.#pools.grouped.on("connect", (client) => {
      client.query("SET plan_cache_mode = force_generic_plan").catch(() => undefined);
    });
    this.#grouped = new ConnectionQueue(this.#pools.grouped);
    this.#groups = new GroupQueue({
      together: async (work) => {
        // What arrives in the same turn of the event loop joins the group.
        await nextTurn();
        await this.#pace.turn();
        await this.#attempts(this.#grouped, beginWrite, (sql) => withinTimeLimit(work(groupTables(sql))));
      },
      alone: (body, becomesUrgent) =>
        this.#attempts(this.#patient, beginWrite, (sql) => body(transactionOn(sql)), becomesUrgent),
      committed: (transactions) => {
        this.#pace.committed(transactions);
        onGroupCommit(transactions, this.#lastSyncMs);
      },
    });
    this.#urgent = new ConnectionQueue(this.#pools.urgent, longestWaitMs, presentOwner);
    this.#reading = new ConnectionQueue(this.#pools.reading, longestWaitMs, presentOwner);
    this.#connect = connect;
    this.#clock = clock;
    this.#hintChannel = new HintChannel({
      config: connect,
      notify: (channel, payload) => this.#notify(channel, payload),
    });
  }

  get nodeBus(): NodeBus {
    const hintChannel = this.#hintChannel;
    return {
      get receivesHints() {
        return hintChannel.receivesHints;
      },
      onHint: (listener) => hintChannel.onHint(listener),
      takePresenceLock: (id, onLost) => this.#takePresenceLock(id, onLost),
    };
  }

  /** Migrates the schema on a connection without a query timeout: a step, or another node's migration, may take long. */
  async migrate(): Promise<void> {
    const pool = newPool({ ...this.#connect, pipeline: true, max: 1 });
    try {
      await this.#attempt(pool, beginRead, refuseReadOnly);
      await changeSchema({
        inTransaction: (body) => this.#attempt(pool, beginWrite, body),
        withoutTransaction: (body) => this.#withoutTransaction(pool, body),
      });
    } finally {
      await pool.end();
    }
  }

  async transaction<Result>(
    body: (tx: Transaction) => Promise<Result>,
    { urgent = false, soon = false, background = false, groupedBy, becomesUrgent }: Priority = {},
  ): Promise<Result> {
    this.#refuseNested("a transaction");
    if (groupedBy !== undefined && !urgent && !soon && !becomesUrgent?.aborted) {
      // A group runs in the asynchronous context of the caller that started it, each body in that of its own caller,
      // where `#attempt` can't mark it.
      const own = AsyncLocalStorage.bind((tx: Transaction) => this.#body.run(true, () => body(tx)));
      return this.#run(() => this.#writability.observe(() => this.#groups.add(groupedBy, own, becomesUrgent)));
    }
    const pool = urgent ? this.#urgent : soon ? this.#soon : background ? this.#patient : this.#ordinary;
    const write = () => this.#attempts(pool, beginWrite, (sql) => body(transactionOn(sql)), becomesUrgent);
    return this.#run(() => this.#writability.observe(write));
  }

  async read<Result>(
    body: (tx: Transaction) => Promise<Result>,
    { soon = false }: Pick<Priority, "soon"> = {},
  ): Promise<Result> {
    this.#refuseNested("a read");
    const pool = soon ? this.#soon : this.#reading;
    return this.#run(() => this.#attempts(pool, beginRead, (sql) => body(transactionOn(sql))));
  }

  async health(): Promise<StoreHealth> {
    await Promise.all([this.read((tx) => tx.settings.get("health")), this.#writability.check()]);
    const waiting = Object.values(this.#queues).reduce((sum, queue) => sum + queue.waitingCount, 0);
    return { kind: "postgres", waiting: waiting + this.#groups.waitingCount, lastSyncMs: this.#lastSyncMs };
  }

  async #probe(size: ProbeSize): Promise<void> {
    await this.#run(() =>
      this.#attempt(this.#urgent, beginWrite, async (sql) => {
        await refuseReadOnly(sql);
        await writeProbe(sql, size);
      }),
    );
  }

  async size(): Promise<number> {
    const query = (sql: LentSql) => sql.all<{ bytes: number }>("SELECT pg_database_size(current_database()) AS bytes");
    return (await this.#run(() => this.#attempt(this.#reading, beginRead, query)))[0]!.bytes;
  }

  pools(): readonly PoolUse[] {
    const queues = this.#queues;
    return Object.entries(this.#pools).map(([pool, { totalCount, idleCount, options }]) => ({
      pool,
      inUse: totalCount - idleCount,
      idle: idleCount,
      most: options.max,
      waiting: queues[pool as keyof typeof poolSizes].waitingCount,
    }));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // A pool that ends drops callers that still wait for a connection: they would fail only after a timeout.
    await Promise.allSettled(this.#running);
    await this.#hintChannel.stop();
    await Promise.all([...this.#presenceLocks].map((lock) => lock.release()));
    await Promise.all(Object.values(this.#pools).map((pool) => pool.end()));
  }

  async #takePresenceLock(id: NodeId, onLost: () => void): Promise<PresenceLock> {
    if (this.#isClosed) throw new StoreUnavailable("The store is closed.");
    const lock = await takePresenceLock(this.#connect, id, () => {
      this.#presenceLocks.delete(lock);
      onLost();
    });
    this.#presenceLocks.add(lock);
    return lock;
  }

  get #queues(): Readonly<Record<keyof typeof poolSizes, ConnectionQueue>> {
    return {
      ordinary: this.#ordinary,
      patient: this.#patient,
      grouped: this.#grouped,
      urgent: this.#urgent,
      reading: this.#reading,
    };
  }

  async #notify(channel: string, payload: string): Promise<void> {
    const client = await this.#urgent.connect();
    try {
      await client.query({ name: "notify", text: notification, values: [channel, payload] });
      client.release();
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /** A nested transaction would need a second connection: with enough of them at once, all would wait for ever. */
  #refuseNested(what: string): void {
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
    pool: ConnectionSource,
    begin: string,
    body: (sql: LentSql) => Promise<Result>,
    becomesUrgent?: AbortSignal,
  ): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(pool, begin, body, becomesUrgent);
      } catch (error) {
        const isStale = error instanceof StaleEpoch;
        const isRetried = isStale || error instanceof ClosedConnection || isRetryable(error);
        if (!isRetried || attempt === mostAttempts) throw error;
        if (isStale) await this.#beginEpoch();
      }
    }
  }

  /** Begins a new epoch after a restore or a promotion. Single-flight: all transactions that noticed share one attempt. */
  #beginEpoch(): Promise<void> {
    this.#epochBeginning ??= this.#attempt(this.#urgent, beginWrite, beginEpoch).finally(() => {
      this.#epochBeginning = undefined;
    });
    return this.#epochBeginning;
  }

  async #attempt<Result>(
    pool: ConnectionSource,
    begin: string,
    body: (sql: LentSql) => Promise<Result>,
    becomesUrgent?: AbortSignal,
  ): Promise<Result> {
    const connecting = becomesUrgent ? this.#connectOrBecomeUrgent(pool, becomesUrgent) : pool.connect();
    const client = await connecting.catch((error) => Promise.reject(unavailable(error)));
    const sql = new LentSql(client, this.#clock);
    try {
      sql.begin(begin);
      const result = await this.#body.run(true, () => body(sql));
      await this.#conclude(sql, begin);
      client.release();
      this.#hintChannel.publish(sql.hints);
      return result;
    } catch (thrown) {
      const error = sql.reasonOf(thrown);
      sql.end();
      // A connection that timed out, or whose ROLLBACK fails, is broken and must be closed. A read-only session is
      // closed too: it would stay read-only after its server accepts writes again.
      const isUsable =
        !isQueryTimeout(error) &&
        !isReadOnly(error) &&
        (await client.query("ROLLBACK").then(
          () => true,
          () => false,
        ));
      client.release(!isUsable);
      if (sql.isBeginUnsent) throw new ClosedConnection(unavailable(error).message, { cause: error });
      throw toStoreError(error, isUsable);
    }
  }

  async #conclude(sql: LentSql, begin: string): Promise<void> {
    const startedMs = performance.now();
    const committed = sql.commit();
    if (begin === beginWrite) {
      await committed;
      this.#lastSyncMs = performance.now() - startedMs;
    } else {
      // A read has its result already. If COMMIT fails, the connection is broken: a transaction that gets it before it
      // has sent BEGIN is repeated on another one.
      committed.catch(() => undefined);
    }
  }

  /** The connection is closed afterwards, which releases the locks of its session. */
  async #withoutTransaction<Result>(pool: pg.Pool, body: (sql: LentSql) => Promise<Result>): Promise<Result> {
    const client = await pool.connect().catch((error) => Promise.reject(unavailable(error)));
    try {
      return await body(new LentSql(client, this.#clock));
    } catch (error) {
      throw toStoreError(error, true);
    } finally {
      client.release(true);
    }
  }

  /** Waits for a connection of that pool. If the transaction becomes urgent meanwhile, it takes an urgent connection. */
  async #connectOrBecomeUrgent(pool: ConnectionSource, becomesUrgent: AbortSignal): Promise<pg.PoolClient> {
    if (becomesUrgent.aborted) return this.#urgent.connect();
    const ordinary = pool.connect();
    const { promise: hurried, resolve } = Promise.withResolvers<"hurried">();
    const onHurry = () => resolve("hurried");
    becomesUrgent.addEventListener("abort", onHurry, { once: true });
    const first = await Promise.race([ordinary, hurried]).finally(() =>
      becomesUrgent.removeEventListener("abort", onHurry),
    );
    if (first !== "hurried") return first;
    // The ordinary connection is not needed any more.
    void ordinary.then((client) => client.release()).catch(() => undefined);
    return this.#urgent.connect();
  }
}

/** A body that waits for anything but its statements must not hold up the other members of its group. */
async function withinTimeLimit(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("a group of transactions took too long")), longestIdleMs);
  });
  await Promise.race([work, expired]).finally(() => clearTimeout(timer));
}
