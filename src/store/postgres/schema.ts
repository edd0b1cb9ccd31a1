import { setTimeout as pause } from "node:timers/promises";
import { StoreUnavailable } from "../../model/errors.ts";
import { appliedSteps, migrate, nextIndex, recordStep, type SchemaPlan } from "../migrations.ts";
import type { Sql } from "../sql.ts";
import { beginEpoch } from "./epoch.ts";

/** The advisory lock of schema changes: the same number on all nodes. */
const schemaLock = 20_180_831;

/**
 * How a step waits for a table lock. Each try is short, since all other statements queue behind a waiting ALTER TABLE.
 */
export interface LockRetries {
  readonly lockMs: number;
  readonly pauseMs: number;
  readonly tries: number;
}

/** The pause between two tries to take the schema lock. */
export const schemaLockRetryMs = 100;
const defaultRetries: LockRetries = { lockMs: 1_000, pauseMs: 2_000, tries: 60 };

/** The connection that changes the schema. */
export interface SchemaConnection {
  /** Runs the body in one transaction. */
  inTransaction<Result>(body: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** Runs the body without a transaction, in a session that ends with it. */
  withoutTransaction<Result>(body: (sql: Sql) => Promise<Result>): Promise<Result>;
}

/**
 * Takes the schema lock until the transaction ends; false when another node has it. A caller that tries again does so in
 * another transaction: CREATE INDEX CONCURRENTLY on the node with the lock waits for the end of every transaction that
 * ran a statement when it looked.
 */
export function tryLockSchema(sql: Sql): Promise<boolean> {
  return tryLock(sql, "pg_try_advisory_xact_lock");
}

async function tryLock(sql: Sql, tryFunction: string): Promise<boolean> {
  const [answer] = await sql.all<{ isOurs: boolean }>(`SELECT ${tryFunction}(${schemaLock}) AS "isOurs"`);
  return answer!.isOurs;
}

/**
 * Migrates the schema to this version while other nodes may use the database, or migrate it too. Each step is one
 * transaction, so that table locks are short and a killed migration continues after its last step. In an empty database
 * all steps are one transaction.
 */
export async function changeSchema(
  connection: SchemaConnection,
  { plan, lockMs, pauseMs, tries }: Partial<LockRetries> & { readonly plan?: SchemaPlan } = {},
): Promise<void> {
  const allowed = { lockMs: lockMs ?? defaultRetries.lockMs, pauseMs: pauseMs ?? defaultRetries.pauseMs };
  for (let left = tries ?? defaultRetries.tries; ; ) {
    try {
      const next = await connection.inTransaction((sql) => takeStep(sql, allowed.lockMs, plan));
      if (next === "nothing") return;
      if (next === "locked") await pause(schemaLockRetryMs);
      else if (next !== "more") await connection.withoutTransaction((sql) => buildIndex(sql, next, plan));
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      left -= 1;
      if (left === 0) throw new SchemaLocked(error);
      await pause(allowed.pauseMs);
    }
  }
}

type NextIndex = NonNullable<Awaited<ReturnType<typeof nextIndex>>>;

/**
 * Takes one step and returns what is left to do; `locked`: another node changes the schema. An index is not a step of this
 * function: it is returned.
 */
async function takeStep(
  sql: Sql,
  lockMs: number,
  plan: SchemaPlan | undefined,
): Promise<"nothing" | "more" | "locked" | NextIndex> {
  if (!(await tryLockSchema(sql))) return "locked";
  await sql.run(`SET LOCAL lock_timeout = ${lockMs}`);
  const [{ isFresh } = { isFresh: true }] = await sql.all<{ isFresh: boolean }>(
    "SELECT to_regclass('schema_steps') IS NULL AS \"isFresh\"",
  );
  if (!isFresh && (await appliedSteps(sql)) > 0) {
    const index = await nextIndex(sql, plan);
    if (index) return index;
    if ((await migrate(sql, { most: 1, plan })) > 0) return "more";
  } else await migrate(sql, { plan });
  if (!plan) await beginEpoch(sql);
  return "nothing";
}

/** Builds an index without blocking writers. An interrupted build leaves an invalid index, which is dropped first. */
async function buildIndex(sql: Sql, { index, on, number }: NextIndex, plan: SchemaPlan | undefined): Promise<void> {
  while (!(await tryLock(sql, "pg_try_advisory_lock"))) await pause(schemaLockRetryMs);
  if ((await appliedSteps(sql)) >= number) return;
  const [found] = await sql.all<{ isValid: boolean }>(
    'SELECT indisvalid AS "isValid" FROM pg_index WHERE indexrelid = to_regclass($1)',
    [index],
  );
  if (found?.isValid === false) await sql.run(`DROP INDEX CONCURRENTLY ${index}`);
  if (!found?.isValid) await sql.run(`CREATE INDEX CONCURRENTLY ${index} ON ${on}`);
  await sql.run("BEGIN");
  await recordStep(sql, number, plan);
  await sql.run("COMMIT");
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "55P03";
}

class SchemaLocked extends StoreUnavailable {
  constructor(cause: unknown) {
    super(
      "The schema can't be migrated to this version: another session keeps a table locked, perhaps a dump. No step is half done. Start again when that session has ended.",
      { cause },
    );
  }
}
