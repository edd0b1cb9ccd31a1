import type { OpenStore } from "../../../src/store/seam.ts";

/** What the contract needs from each database besides the store. */
export interface StoreHarness {
  readonly kind: "sqlite" | "postgres";
  /** A new, unused database. */
  fresh(options?: DatabaseOptions): Promise<TestDatabase>;
}

export interface DatabaseOptions {
  readonly onSmallDisk?: boolean;
  /** Without tables. */
  readonly isEmpty?: boolean;
}

/** One database, and what a test can do to it from outside. */
export interface TestDatabase {
  /** Opens the store as a node does. On PostgreSQL a second call opens a second node. */
  open(): Promise<OpenStore>;
  /** Runs SQL directly, without the store. */
  sql<Row>(text: string): Promise<Row[]>;
  /** Sets the store's clock, which then keeps running. */
  jumpClock(byMs: number): Promise<void>;
  /** From now on a transaction that writes the setting `poison` fails at its COMMIT, not earlier. */
  poisonCommits(): Promise<void>;
  readonly disk: Disk;
  /** The address with which another process opens the same store. */
  readonly address: string;
  /** Closes all stores and removes the database. */
  remove(): Promise<void>;
}

export interface Disk {
  fill(): Promise<void>;
  empty(): Promise<void>;
}

/** Runs a test on a new store. */
export async function onStore(
  harness: StoreHarness,
  test: (store: OpenStore, database: TestDatabase) => Promise<void>,
): Promise<void> {
  await onDatabase(harness, async (database) => test(await database.open(), database));
}

export async function onDatabase(
  harness: StoreHarness,
  test: (database: TestDatabase) => Promise<void>,
  options?: DatabaseOptions,
): Promise<void> {
  const database = await harness.fresh(options);
  try {
    await test(database);
  } finally {
    await database.remove();
  }
}
