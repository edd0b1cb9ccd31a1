import { AsyncLocalStorage } from "node:async_hooks";
import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { StoreUnavailable } from "../../model/errors.ts";
import { TimeSlices, type TimeSlicesParts, type TurnOwner } from "../../runtime/time-slices.ts";
import { makePrivateFile } from "../disk/private-folder.ts";
import { type ProbeSize, Writability } from "../disk/writability.ts";
import { migrate } from "../migrations.ts";
import { noNodeBus } from "../node-bus.ts";
import {
  type FileSpace,
  type OpenStore,
  type PoolUse,
  type Priority,
  type StoreHealth,
  type Transaction,
  transactionOn,
} from "../seam.ts";
import { writeProbe } from "../tables/write-probe.ts";
import { Checkpointer } from "./checkpointer.ts";
import { CommitQueue } from "./commit-queue.ts";
import { Connection, type GiveWay, withSql } from "./connection.ts";
import { isSqliteFailure, unavailable } from "./errors.ts";
import { type FileWork, workOnFile } from "./file-work.ts";

const pageBytes = 4_096;
/** The write-ahead log's length at which a commit runs the checkpoint itself: 16 MB. */
const longestLogPages = 4_096;

/** SQLite's code for auto_vacuum = INCREMENTAL. */
const incrementalVacuum = 2;

export interface SqliteOptions {
  readonly folder: string;
  readonly nowMs: () => number;
  /** Called after each COMMIT with the number of transactions that shared its sync. */
  readonly onCommit?: (transactions: number, syncMs: number) => void;
  /** Whose turn a read takes that begins now; undefined for background work. */
  readonly ownerOfRead?: () => TurnOwner | undefined;
  readonly slices?: Pick<TimeSlicesParts, "turn" | "runtime">;
}

const backgroundOwner: TurnOwner = { tenant: "", holder: "" };
const soonOwner: TurnOwner = { tenant: "soon", holder: "" };
const processSlices = { turn: () => nextTurn(), runtime: { elapsedMs: () => performance.now() } };

export async function openSqlite(options: SqliteOptions): Promise<OpenStore> {
  try {
    return await openFile(options);
  } catch (error) {
    throw isSqliteFailure(error) ? unavailable(error, fileIn(options.folder)) : error;
  }
}

const fileIn = (folder: string) => join(folder, "breezeway.db");

async function openFile(options: SqliteOptions): Promise<OpenStore> {
  const file = fileIn(options.folder);
  makePrivateFile(file);
  const writer = new Connection(file);
  chmodSync(file, 0o600);
  // auto_vacuum can be set only before the first write. It lets compaction.ts release free pages in steps.
  const isNew = writer.database.prepare("PRAGMA page_count").get()?.page_count === 0;
  if (isNew) writer.database.exec("PRAGMA auto_vacuum = INCREMENTAL");
  // synchronous = FULL: acknowledged writes survive a power cut, not only a killed process.
  // secure_delete: removed rows are overwritten with zeros, among them sealed tokens.
  for (const pragma of ["journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"]) {
    writer.database.exec(`PRAGMA ${pragma}`);
  }
  // A passive checkpoint can reset the log only at a moment without commits. Under constant load there is none, and the
  // log would grow without end: then a commit runs the checkpoint.
  writer.database.exec(`PRAGMA wal_autocheckpoint = ${longestLogPages}`);
  // The log grows while a backup reads. Afterwards its file is truncated to this size.
  writer.database.exec(`PRAGMA journal_size_limit = ${2 * longestLogPages * pageBytes}`);
  const store = new SqliteStore(file, writer, options);
  try {
    await store.migrate();
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

/** The store in one SQLite file, for the one process that has locked its folder. */
class SqliteStore implements OpenStore {
  readonly isShared = false;
  readonly nodeBus = noNodeBus;
  readonly #file: string;
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #queue: CommitQueue;
  readonly #checkpointer: Checkpointer;
  readonly #nowMs: () => number;
  readonly #body = new AsyncLocalStorage<true>();
  readonly #writability = new Writability((size) => this.#probe(size));
  readonly #ownerOfRead: () => TurnOwner | undefined;
  /** Reads in time slices. While a slice waits, urgent writes go first. */
  readonly #reads: TimeSlices;
  #isClosed = false;

  constructor(file: string, writer: Connection, options: SqliteOptions) {
    const { nowMs, onCommit, ownerOfRead = () => undefined, slices = processSlices } = options;
    this.#file = file;
    this.#writer = writer;
    this.#reader = new Connection(file, { readOnly: true });
    this.#queue = new CommitQueue(writer, onCommit);
    this.#checkpointer = new Checkpointer(file);
    this.#nowMs = nowMs;
    this.#ownerOfRead = ownerOfRead;
    this.#reads = new TimeSlices({ ...slices, hasUrgentWork: () => this.#queue.hasUrgent });
  }

  async migrate(): Promise<void> {
    await this.#queue.add(() => withSql(this.#writer, this.#nowMs, (sql) => migrate(sql)), { urgent: true });
  }

  async transaction<Result>(body: (tx: Transaction) => Promise<Result>, priority?: Priority): Promise<Result> {
    this.#refuseIfClosed();
    this.#refuseNested("a transaction");
    const result = await this.#writability.observe(() =>
      this.#queue.add(() => this.#run(this.#writer, body), priority),
    );
    this.#checkpointer.committed();
    return result;
  }

  /**
   * Reads run one after another, since they share one connection; tenants take turns. Each sees all writes acknowledged
   * before it began, and no others, although the event loop serves others between its statements.
   */
  async read<Result>(
    body: (tx: Transaction) => Promise<Result>,
    { soon = false }: Pick<Priority, "soon"> = {},
  ): Promise<Result> {
    this.#refuseNested("a read");
    const owner = soon ? soonOwner : (this.#ownerOfRead() ?? backgroundOwner);
    return this.#reads.run(owner, () => this.#readNow(body));
  }

  async health(): Promise<StoreHealth> {
    await Promise.all([this.read((tx) => tx.settings.get("health")), this.#writability.check()]);
    return { kind: "sqlite", waiting: this.#queue.waiting, lastSyncMs: this.#queue.lastSyncMs };
  }

  async #probe(size: ProbeSize): Promise<void> {
    this.#refuseIfClosed();
    const write = () => withSql(this.#writer, this.#nowMs, (sql) => writeProbe(sql, size));
    await this.#queue.add(write, { soon: true });
  }

  async size(): Promise<number> {
    const sizes = ["", "-wal"].map((end) => statSync(`${this.#file}${end}`, { throwIfNoEntry: false })?.size ?? 0);
    return sizes.reduce((sum, size) => sum + size);
  }

  pools(): readonly PoolUse[] {
    return [];
  }

  readonly space: FileSpace = {
    measure: async () => {
      this.#refuseIfClosed();
      const pragma = (name: string) => Object.values(this.#reader.all(`PRAGMA ${name}`, [])[0] as object)[0] as number;
      const pageSize = pragma("page_size");
      return {
        bytes: pragma("page_count") * pageSize,
        pageBytes: pageSize,
        freePages: pragma("freelist_count"),
        isIncremental: pragma("auto_vacuum") === incrementalVacuum,
      };
    },
    releasePages: async (pages) => {
      this.#refuseIfClosed();
      // `all`, not `run`: SQLite releases one page for each row of the result.
      await this.#queue.add(async () => void this.#writer.all(`PRAGMA incremental_vacuum(${pages})`, []));
      this.#checkpointer.committed();
    },
    rebuild: () => this.#workExclusively("rebuild"),
    flush: () => this.#workExclusively("truncate"),
  };

  async #workExclusively(work: FileWork): Promise<void> {
    this.#refuseIfClosed();
    await this.#queue.hold(() => workOnFile(this.#file, work));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#queue.drained();
    // When its turn comes, no read runs. Those behind it are refused.
    await this.#reads.run(backgroundOwner, () => undefined);
    await this.#checkpointer.stop();
    this.#reader.close();
    this.#writer.close();
  }

  async #readNow<Result>(body: (tx: Transaction) => Promise<Result>): Promise<Result> {
    this.#refuseIfClosed();
    try {
      this.#reader.run("BEGIN");
      try {
        return await this.#run(this.#reader, body, () => this.#reads.wait());
      } finally {
        this.#reader.run("COMMIT");
      }
    } catch (error) {
      throw isSqliteFailure(error) ? unavailable(error) : error;
    }
  }

  #run<Result>(connection: Connection, body: (tx: Transaction) => Promise<Result>, giveWay?: GiveWay): Promise<Result> {
    return this.#body.run(true, () => withSql(connection, this.#nowMs, (sql) => body(transactionOn(sql)), giveWay));
  }

  /** A nested transaction would wait for the transaction around it, for ever. */
  #refuseNested(what: string): void {
    if (this.#body.getStore()) throw new Error(`${what} was started inside another`);
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw new StoreUnavailable("The store is closed.");
  }
}
