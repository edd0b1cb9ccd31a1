import { setTimeout as pause } from "node:timers/promises";
import { StoreUnavailable } from "../../model/errors.ts";
import { appliedSteps, migrate, nextIndex, recordStep, type Way } from "../migrations.ts";
import type { Sql } from "../sql.ts";
import { beginEpoch } from "./epoch.ts";

/** One number for all Breezeway nodes: whoever holds it changes the schema. */
const schemaLock = 20_180_831;

/** How a step waits for tables that others use: shortly, since everybody else waits behind it, and again later. */
export interface Patience {
  readonly lockMs: number;
  readonly pauseMs: number;
  readonly tries: number;
}

const askEveryMs = 100;
const patience: Patience = { lockMs: 1_000, pauseMs: 2_000, tries: 60 };

/** The connection on which the schema is changed. */
export interface SchemaHand {
  /** Runs a body in a transaction of its own. */
  attempt<Result>(body: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** Runs a body in no transaction, in a session that ends with it. */
  outside<Result>(body: (sql: Sql) => Promise<Result>): Promise<Result>;
}

/**
 * Holds every other node off until the transaction ends, however long it takes. It asks again and again: whoever builds
 * an index waits for all who look at the database, and a question that is kept waiting is a look.
 */
export async function lockSchema(sql: Sql): Promise<void> {
  await untilLocked(sql, "pg_try_advisory_xact_lock");
}

async function untilLocked(sql: Sql, tryLock: string): Promise<void> {
  for (;;) {
    const [answer] = await sql.all<{ isOurs: boolean }>(`SELECT ${tryLock}(${schemaLock}) AS "isOurs"`);
    if (answer!.isOurs) return;
    await pause(askEveryMs);
  }
}

/**
 * Brings the schema to this version's while other nodes may be at work, or at the same. Each step is a transaction, so
 * that tables are held no longer than it takes, and whoever was killed in between is followed by the next one from
 * there. In a fresh database nobody works yet, and all steps are one.
 */
export async function changeSchema(
  hand: SchemaHand,
  { way, lockMs, pauseMs, tries }: Partial<Patience> & { readonly way?: Way } = {},
): Promise<void> {
  const allowed = { lockMs: lockMs ?? patience.lockMs, pauseMs: pauseMs ?? patience.pauseMs };
  for (let left = tries ?? patience.tries; ; ) {
    try {
      const next = await hand.attempt((sql) => takeStep(sql, allowed.lockMs, way));
      if (next === "nothing") return;
      if (next !== "more") await hand.outside((sql) => buildIndex(sql, next, way));
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      left -= 1;
      if (left === 0) throw new SchemaHeld(error);
      await pause(allowed.pauseMs);
    }
  }
}

type NextIndex = NonNullable<Awaited<ReturnType<typeof nextIndex>>>;

/** Answers what is left to do. */
async function takeStep(sql: Sql, lockMs: number, way: Way | undefined): Promise<"nothing" | "more" | NextIndex> {
  await lockSchema(sql);
  await sql.run(`SET LOCAL lock_timeout = ${lockMs}`);
  const [{ isFresh } = { isFresh: true }] = await sql.all<{ isFresh: boolean }>(
    "SELECT to_regclass('schema_steps') IS NULL AS \"isFresh\"",
  );
  if (!isFresh && (await appliedSteps(sql)) > 0) {
    const index = await nextIndex(sql, way);
    if (index) return index;
    if ((await migrate(sql, { most: 1, way })) > 0) return "more";
  } else await migrate(sql, { way });
  if (!way) await beginEpoch(sql);
  return "nothing";
}

/** Nobody who writes waits for it. One that was broken off has left an index that is worth nothing. */
async function buildIndex(sql: Sql, { index, on, number }: NextIndex, way: Way | undefined): Promise<void> {
  await untilLocked(sql, "pg_try_advisory_lock");
  if ((await appliedSteps(sql)) >= number) return;
  const [found] = await sql.all<{ isValid: boolean }>(
    'SELECT indisvalid AS "isValid" FROM pg_index WHERE indexrelid = to_regclass($1)',
    [index],
  );
  if (found?.isValid === false) await sql.run(`DROP INDEX CONCURRENTLY ${index}`);
  if (!found?.isValid) await sql.run(`CREATE INDEX CONCURRENTLY ${index} ON ${on}`);
  await sql.run("BEGIN");
  await recordStep(sql, number, way);
  await sql.run("COMMIT");
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "55P03";
}

class SchemaHeld extends StoreUnavailable {
  constructor(cause: unknown) {
    super(
      "The schema can't be brought to this version: somebody else holds a table all the time, perhaps a dump. Nothing is half done; start again when it is over.",
      { cause },
    );
  }
}
