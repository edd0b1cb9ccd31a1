import { setTimeout as pause } from "node:timers/promises";
import { StoreUnavailable } from "../../model/errors.ts";
import { appliedSteps, migrate, type Step } from "../migrations.ts";
import type { Sql } from "../sql.ts";
import { comeBackIfRestored } from "./come-back.ts";

/** One number for all Breezeway nodes: whoever holds it changes the schema. */
const schemaLock = 20_180_831;

/** How a step waits for tables that others use: shortly, since everybody else waits behind it, and again later. */
export interface Patience {
  readonly lockMs: number;
  readonly pauseMs: number;
  readonly tries: number;
}

const patience: Patience = { lockMs: 1_000, pauseMs: 2_000, tries: 60 };

/** Runs a body in a transaction of its own. */
export type Attempt = <Result>(body: (sql: Sql) => Promise<Result>) => Promise<Result>;

/** Holds every other node off until the transaction ends, however long it takes. */
export async function lockSchema(sql: Sql): Promise<void> {
  await sql.run(`SELECT pg_advisory_xact_lock(${schemaLock})`);
}

/**
 * Brings the schema to this version's while other nodes may be at work, or at the same. Each step is a transaction, so
 * that tables are held no longer than it takes, and whoever was killed in between is followed by the next one from
 * there. In a fresh database nobody works yet, and all steps are one.
 */
export async function changeSchema(
  attempt: Attempt,
  { steps, lockMs, pauseMs, tries }: Partial<Patience> & { readonly steps?: readonly Step[] } = {},
): Promise<void> {
  const allowed = { lockMs: lockMs ?? patience.lockMs, pauseMs: pauseMs ?? patience.pauseMs };
  for (let left = tries ?? patience.tries; ; ) {
    try {
      if (await attempt((sql) => takeStep(sql, allowed.lockMs, steps))) return;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      left -= 1;
      if (left === 0) throw new SchemaHeld(error);
      await pause(allowed.pauseMs);
    }
  }
}

/** Answers whether nothing is left to do. */
async function takeStep(sql: Sql, lockMs: number, steps: readonly Step[] | undefined): Promise<boolean> {
  await lockSchema(sql);
  await sql.run(`SET LOCAL lock_timeout = ${lockMs}`);
  const [{ isFresh } = { isFresh: true }] = await sql.all<{ isFresh: boolean }>(
    "SELECT to_regclass('schema_steps') IS NULL AS \"isFresh\"",
  );
  const most = isFresh || (await appliedSteps(sql)) === 0 ? Number.POSITIVE_INFINITY : 1;
  const left = await migrate(sql, { most, ...(steps && { to: steps }) });
  if (left === 0 && !steps) await comeBackIfRestored(sql);
  return left === 0;
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
