import { setTimeout as pause } from "node:timers/promises";
import type pg from "pg";
import { BreezewayError } from "../../model/errors.ts";
import { migrate, schemaVersion } from "../migrations.ts";
import { LentSql } from "../postgres/connection.ts";
import { toStoreError, unavailable } from "../postgres/errors.ts";
import { newPool } from "../postgres/pool.ts";
import { schemaLockRetryMs, tryLockSchema } from "../postgres/schema.ts";
import { databaseClock } from "../postgres/store.ts";
import { nodeTable } from "../tables/nodes.ts";
import { layoutsOf, type TableLayout } from "./layout.ts";
import { sourceRows, TableDigest, type TableSummary } from "./rows.ts";
import { openSource, type Source, type SourceRequest } from "./source.ts";
import {
  advanceIdCounter,
  clearInitialRows,
  copiedRows,
  insertRows,
  refuseForeignTables,
  refuseUsedTables,
} from "./target.ts";

export interface MoveRequest extends SourceRequest {
  /** An empty PostgreSQL database. */
  readonly databaseUrl: string;
  readonly onProgress: (done: number, total: number) => void;
}

export interface MovedStore {
  readonly schema: number;
  readonly rows: number;
  /** The contents of each table, which are equal in both databases. */
  readonly tables: readonly ({ readonly table: string } & TableSummary)[];
}

/**
 * Copies a SQLite store to PostgreSQL, reads the copy back and compares it with the source, all in one transaction: the
 * copy is complete and verified, or absent. After a failure it can be repeated on the same database.
 */
export async function moveToPostgres(request: MoveRequest): Promise<MovedStore> {
  const source = await openSource(request);
  const pool = newPool({
    connectionString: request.databaseUrl,
    connectionTimeoutMillis: 5_000,
    application_name: "breezeway migrate",
    pipeline: true,
    max: 1,
  });
  try {
    const client = await pool.connect().catch((error) => Promise.reject(unavailable(error)));
    try {
      return await copyAndVerify(client, source, request.onProgress);
    } finally {
      // Closing the connection rolls back an open transaction.
      client.release(true);
    }
  } catch (error) {
    throw toStoreError(error, true);
  } finally {
    await pool.end();
    source.close();
  }
}

/** Begins the transaction of the copy. A service that starts on the database waits until it ends. */
async function begunWithSchemaLock(client: pg.PoolClient): Promise<LentSql> {
  for (;;) {
    const sql = new LentSql(client, databaseClock);
    sql.begin();
    if (await tryLockSchema(sql)) return sql;
    await sql.commit();
    await pause(schemaLockRetryMs);
  }
}

async function copyAndVerify(
  client: pg.PoolClient,
  source: Source,
  onProgress: MoveRequest["onProgress"],
): Promise<MovedStore> {
  const sql = await begunWithSchemaLock(client);
  await refuseForeignTables(sql);
  await migrate(sql);
  const layouts = await layoutsOf(source.database, sql);
  await refuseUsedTables(sql, layouts);
  // Each row is written once and read back once.
  const total = 2 * countRows(source, layouts);
  let done = 0;
  const reportDone = (rows: readonly unknown[]) => {
    done += rows.length;
    onProgress(done, total);
  };

  const sourceSummaries = new Map<TableLayout, TableSummary>();
  for (const layout of layouts) {
    await clearInitialRows(sql, layout);
    const digest = new TableDigest(layout);
    for (const rows of sourceRows(source.database, layout)) {
      await insertRows(client, layout, rows);
      digest.add(rows);
      reportDone(rows);
    }
    await advanceIdCounter(sql, source.database, layout);
    sourceSummaries.set(layout, digest.summary());
  }

  const differences: string[] = [];
  for (const [layout, expected] of sourceSummaries) {
    const digest = new TableDigest(layout);
    for await (const rows of copiedRows(client, layout)) {
      digest.add(rows);
      reportDone(rows);
    }
    const found = digest.summary();
    if (found.rows !== expected.rows || found.sha256 !== expected.sha256) {
      differences.push(
        `${layout.name} (${describeSummary(expected)} in SQLite, ${describeSummary(found)} in PostgreSQL)`,
      );
    }
  }
  if (differences.length > 0) throw new CopyDiffers(differences);
  // A version that can't read the source can't read the copied rows either.
  const reach = source.database.prepare("SELECT MAX(oldest) AS oldest FROM schema_reach").get();
  await nodeTable(sql).refuseOlder(Number(reach?.oldest));
  await sql.commit();
  // The planner has no statistics of the new tables yet, and would choose slow plans.
  await client.query("ANALYZE");
  const tables = [...sourceSummaries].map(([{ name }, summary]) => ({ table: name, ...summary }));
  return { schema: schemaVersion, rows: total / 2, tables };
}

function countRows({ database }: Source, layouts: readonly TableLayout[]): number {
  const counts = layouts.map(({ name }) => database.prepare(`SELECT COUNT(*) AS n FROM "${name}"`).get()?.n);
  return counts.reduce<number>((sum, count) => sum + Number(count), 0);
}

function describeSummary({ rows, sha256 }: TableSummary): string {
  return `${rows} rows ${sha256.slice(0, 16)}`;
}

/** The copy was not equal to its source and was rolled back. */
export class CopyDiffers extends BreezewayError {
  readonly code = "copy_differs";

  constructor(differences: readonly string[]) {
    super(`The copy differs from its source and was rolled back: ${differences.join("; ")}.`);
  }
}
