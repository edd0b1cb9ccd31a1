import { AsyncLocalStorage } from "node:async_hooks";
import { join } from "node:path";
import { StoreUnavailable } from "../../model/errors.ts";
import { migrate } from "../migrations.ts";
import { type OpenStore, type StoreHealth, type Transaction, transactionOn } from "../seam.ts";
import { Checkpointer } from "./checkpointer.ts";
import { CommitQueue } from "./commit-queue.ts";
import { Connection, LentSql } from "./connection.ts";

export interface SqliteOptions {
  readonly folder: string;
  readonly nowMs: () => number;
}

export async function openSqlite(options: SqliteOptions): Promise<OpenStore> {
  const file = join(options.folder, "breezeway.db");
  const writer = new Connection(file);
  // FULL: what was acknowledged survives a power cut, not only a killed process.
  for (const pragma of ["journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "wal_autocheckpoint = 0"]) {
    writer.database.exec(`PRAGMA ${pragma}`);
  }
  const store = new SqliteStore(file, writer, options.nowMs);
  try {
    await store.migrate();
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

/** The store in one file, for one process that has locked its folder. */
class SqliteStore implements OpenStore {
  readonly isShared = false;
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #queue: CommitQueue;
  readonly #checkpointer: Checkpointer;
  readonly #nowMs: () => number;
  readonly #body = new AsyncLocalStorage<true>();
  #lastRead: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(file: string, writer: Connection, nowMs: () => number) {
    this.#writer = writer;
    this.#reader = new Connection(file, { readOnly: true });
    this.#queue = new CommitQueue(writer);
    this.#checkpointer = new Checkpointer(file);
    this.#nowMs = nowMs;
  }

  migrate(): Promise<void> {
    return this.#queue.add(() => this.#lend(this.#writer, migrate), true);
  }

  async transaction<Result>(
    body: (tx: Transaction) => Promise<Result>,
    options: { readonly urgent?: boolean } = {},
  ): Promise<Result> {
    this.#refuseIfClosed();
    if (this.#body.getStore()) throw new Error("a transaction was started inside another");
    const result = await this.#queue.add(
      () => this.#body.run(true, () => this.#lend(this.#writer, (sql) => body(transactionOn(sql)))),
      options.urgent ?? false,
    );
    this.#checkpointer.committed();
    return result;
  }

  /** One after another, so that each sees all that was acknowledged before it began. */
  read<Result>(body: (tx: Transaction) => Promise<Result>): Promise<Result> {
    const result = this.#lastRead.then(async () => {
      this.#refuseIfClosed();
      this.#reader.run("BEGIN");
      try {
        return await this.#lend(this.#reader, (sql) => body(transactionOn(sql)));
      } finally {
        this.#reader.run("COMMIT");
      }
    });
    this.#lastRead = result.catch(() => undefined);
    return result;
  }

  async health(): Promise<StoreHealth> {
    await this.read((tx) => tx.settings.get("health"));
    return { kind: "sqlite", waiting: this.#queue.waiting, lastSyncMs: this.#queue.lastSyncMs };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#queue.drained();
    await this.#lastRead;
    await this.#checkpointer.stop();
    this.#reader.close();
    this.#writer.close();
  }

  async #lend<Result>(connection: Connection, body: (sql: LentSql) => Promise<Result>): Promise<Result> {
    const sql = new LentSql(connection, this.#nowMs);
    try {
      return await body(sql);
    } finally {
      sql.end();
    }
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw new StoreUnavailable("The store is closed.");
  }
}
