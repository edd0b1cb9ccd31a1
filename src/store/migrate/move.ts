import type pg from "pg";
import { BreezewayError } from "../../model/errors.ts";
import { migrate, schemaVersion } from "../migrations.ts";
import { LentSql } from "../postgres/connection.ts";
import { translated, unavailable } from "../postgres/errors.ts";
import { newPool } from "../postgres/pool.ts";
import { lockSchema } from "../postgres/schema.ts";
import { databaseClock } from "../postgres/store.ts";
import { layoutsOf, type TableLayout } from "./layout.ts";
import { Summing, sourceRows, type TableSummary } from "./rows.ts";
import { openSource, type Source, type SourceRequest } from "./source.ts";
import { clearFirstRows, copiedRows, goOnCounting, insertRows, refuseForeign, refuseUsed } from "./target.ts";

export interface MoveRequest extends SourceRequest {
  /** An empty PostgreSQL database. */
  readonly databaseUrl: string;
  readonly tell: (done: number, total: number) => void;
}

export interface MovedStore {
  readonly schema: number;
  readonly rows: number;
  /** What stands in both, table by table. */
  readonly tables: readonly ({ readonly table: string } & TableSummary)[];
}

/**
 * Copies a SQLite store to PostgreSQL, reads the copy back and compares it with what was read here, all in one
 * transaction: it is there wholly and proven, or not at all. Killed or failed, it is begun anew on the same database.
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
      return await moveOn(client, source, request.tell);
    } finally {
      // Whatever it holds open ends with it.
      client.release(true);
    }
  } catch (error) {
    throw translated(error, true);
  } finally {
    await pool.end();
    source.close();
  }
}

async function moveOn(client: pg.PoolClient, source: Source, tell: MoveRequest["tell"]): Promise<MovedStore> {
  const sql = new LentSql(client, databaseClock);
  sql.begin();
  // A service that is started there waits until we are done.
  await lockSchema(sql);
  await refuseForeign(sql);
  await migrate(sql);
  const layouts = await layoutsOf(source.database, sql);
  await refuseUsed(sql, layouts);
  // Each row once on the way there and once on the way back.
  const total = 2 * countRows(source, layouts);
  let done = 0;
  const passed = (rows: readonly unknown[]) => {
    done += rows.length;
    tell(done, total);
  };

  const given = new Map<TableLayout, TableSummary>();
  for (const layout of layouts) {
    await clearFirstRows(sql, layout);
    const summing = new Summing(layout);
    for (const rows of sourceRows(source.database, layout)) {
      await insertRows(client, layout, rows);
      summing.add(rows);
      passed(rows);
    }
    await goOnCounting(sql, source.database, layout);
    given.set(layout, summing.summary());
  }

  const differences: string[] = [];
  for (const [layout, expected] of given) {
    const summing = new Summing(layout);
    for await (const rows of copiedRows(client, layout)) {
      summing.add(rows);
      passed(rows);
    }
    const found = summing.summary();
    if (found.rows !== expected.rows || found.sha256 !== expected.sha256) {
      differences.push(`${layout.name} (${inWords(expected)} in SQLite, ${inWords(found)} in PostgreSQL)`);
    }
  }
  if (differences.length > 0) throw new CopyDiffers(differences);
  await sql.commit();
  // How many rows there are is not known there yet, and the first questions would be answered the long way.
  await client.query("ANALYZE");
  const tables = [...given].map(([{ name }, summary]) => ({ table: name, ...summary }));
  return { schema: schemaVersion, rows: total / 2, tables };
}

function countRows({ database }: Source, layouts: readonly TableLayout[]): number {
  const counts = layouts.map(({ name }) => database.prepare(`SELECT COUNT(*) AS n FROM "${name}"`).get()?.n);
  return counts.reduce<number>((sum, count) => sum + Number(count), 0);
}

function inWords({ rows, sha256 }: TableSummary): string {
  return `${rows} rows ${sha256.slice(0, 16)}`;
}

/** The proof failed, and nothing was kept. */
export class CopyDiffers extends BreezewayError {
  readonly code = "copy_differs";

  constructor(differences: readonly string[]) {
    super(`The copy differs from what was copied, and was given up: ${differences.join("; ")}.`);
  }
}
