import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type pg from "pg";
import { freePort } from "../set-up/free-port.ts";
import { fleetAtWork, leave, portOf, type WorkPlan } from "./fleet-at-work.ts";
import { nextSchema, nextVersion } from "./next-version.ts";

export interface UpgradePlan extends WorkPlan {
  /** The number of rows of the table that gets an index. */
  readonly rows: number;
  /** Whether an old node is restarted after the schema was migrated. */
  readonly withOldNode: boolean;
}

/** Replaces three nodes by nodes of the next version, one by one, while people call through nginx: no call fails. */
export async function upgradeUnderLoad(test: TestContext, plan: UpgradePlan): Promise<void> {
  const tree = nextVersion(test);
  let port = await freePort();
  const atWork = await fleetAtWork(test, plan, [port]);
  const { fleet, work, answers } = atWork;
  await fillTable(fleet.sql, plan.rows);
  for (const number of [1, 2, 3]) {
    await answers(3);
    const startedMs = Date.now();
    await fleet.startNode(`next ${number}`, { port, tree });
    test.diagnostic(`the next version's node ${number} took ${Date.now() - startedMs} ms to start`);
    assert.equal(await schemaOf(fleet.sql), nextSchema.version);
    if (plan.withOldNode && number === 1) {
      // As a supervisor does after a crash. It is added at the end, so that it is stopped with the others.
      const again = await fleet.startNode("old again");
      fleet.nodes.splice(fleet.nodes.indexOf(again), 1);
      fleet.nodes.splice(2, 0, again);
    }
    await answers(3);
    port = portOf(await leave(test, atWork));
    assert.deepEqual(work.failures, []);
  }
  if (plan.withOldNode) await leave(test, atWork);
  await answers(3);
  await work.stop();
  await work.assertNothingLost();
  const accounts = fleet.homes.map(({ accountId }) => accountId);
  await fleet.change(accounts);
  await fleet.untilMirrored(test.signal);
  test.diagnostic(`${work.answered} calls answered, none failed`);
}

/** Adds rows of no user, without firing the recording trigger. */
async function fillTable(sql: pg.Pool, rows: number): Promise<void> {
  const client = await sql.connect();
  await client.query("SET session_replication_role = replica");
  await client.query(
    `INSERT INTO ${nextSchema.onTable} (user_id, device_id, number, name, value, time_ms)
     SELECT -1, n / 500, n % 500, '', 'x', n FROM generate_series(1, $1::int) n`,
    [rows],
  );
  client.release(true);
}

async function schemaOf(sql: pg.Pool): Promise<number> {
  const { rows } = await sql.query("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)", [
    nextSchema.index,
  ]);
  assert.deepEqual(rows, [{ indisvalid: true }]);
  return (await sql.query("SELECT MAX(step)::int AS step FROM schema_steps")).rows[0].step;
}
