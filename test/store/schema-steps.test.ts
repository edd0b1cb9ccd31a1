import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import pg from "pg";
import { StoreUnavailable } from "../../src/model/errors.ts";
import { NewerSchema, type SchemaPlan } from "../../src/store/migrations.ts";
import { LentSql } from "../../src/store/postgres/connection.ts";
import { changeSchema, type SchemaConnection } from "../../src/store/postgres/schema.ts";
import type { Step } from "../../src/store/schema-steps/step.ts";
import { gate } from "../contracts/store/home.ts";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";
import { eventually } from "../stories/world.ts";

const first: Step = () => ["CREATE TABLE busy (id INTEGER)", "CREATE TABLE ran (step INTEGER)"];
const step = (number: number, ...statements: readonly string[]): Step => {
  return () => [...statements, `INSERT INTO ran VALUES (${number})`];
};
const alter = step(2, "ALTER TABLE busy ADD COLUMN name TEXT");

/** A plan of backward-compatible steps. */
const by = (...steps: readonly Step[]): SchemaPlan => ({ steps, breakingSteps: [] });

/** A database at its first step, with connections to it. */
async function madeDatabase(t: TestContext) {
  const url = await (await sharedCluster()).createDatabase();
  const connect = async () => {
    const client = new pg.Client({ connectionString: url, pipeline: true });
    client.on("error", () => undefined);
    await client.connect();
    // Not `end`, which waits for statements: of a test that fails, one may wait for ever.
    t.after(() => client.connection.stream.destroy());
    return client;
  };
  /** A node's schema connection. */
  const node = async (): Promise<SchemaConnection> => {
    const client = await connect();
    const lent = (given: pg.Client) => new LentSql(given as unknown as pg.PoolClient, "0::bigint");
    return {
      async inTransaction(body) {
        const sql = lent(client);
        try {
          sql.begin();
          const result = await body(sql);
          await sql.commit();
          return result;
        } catch (error) {
          await client.query("ROLLBACK").catch(() => undefined);
          throw error;
        }
      },
      async withoutTransaction(body) {
        const alone = await connect();
        return body(lent(alone)).finally(() => alone.end());
      },
    };
  };
  await changeSchema(await node(), { plan: by(first) });
  const sql = await connect();
  const ran = async () => (await sql.query("SELECT step FROM ran ORDER BY step")).rows.map((row) => row.step);
  const waits = (what: string) =>
    eventually(t.signal, async () => {
      const { rows } = await sql.query(`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'
        AND datname = current_database() AND query LIKE '${what}%'`);
      assert.equal(rows.length, 1);
    });
  return { connect, node, sql, ran, waits };
}

describe("a schema that changes while nodes work", { skip: missingPostgres() ?? false }, () => {
  it("waits for a table lock without blocking other writers", { timeout: 60_000 }, async (t) => {
    const { connect, node, sql, ran, waits } = await madeDatabase(t);
    const [dump, writer] = [await connect(), await connect()];
    await dump.query("BEGIN");
    await dump.query("SELECT * FROM busy");
    const changing = changeSchema(await node(), { plan: by(first, alter), lockMs: 200, pauseMs: 20, tries: 1_000 });
    // They write at the moment at which they could queue behind the waiting step.
    for (let write = 0; write < 3; write++) {
      await waits("ALTER TABLE busy");
      await writer.query("INSERT INTO busy (id) VALUES (1)");
    }
    assert.deepEqual(await ran(), []);
    await dump.query("COMMIT");
    await changing;
    assert.deepEqual(await ran(), [2]);
    assert.equal((await sql.query("SELECT name FROM busy")).rowCount, 3);
  });

  it("gives up after its last try, with a sentence and without changes", { timeout: 60_000 }, async (t) => {
    const { connect, node, ran } = await madeDatabase(t);
    const dump = await connect();
    await dump.query("BEGIN");
    await dump.query("SELECT * FROM busy");
    const plan = by(first, alter);
    const given = changeSchema(await node(), { plan, lockMs: 10, pauseMs: 1, tries: 3 });
    await assert.rejects(given, (error: Error) => {
      assert.ok(error instanceof StoreUnavailable);
      assert.match(error.message, /another session keeps a table locked/);
      return true;
    });
    await dump.query("COMMIT");
    assert.deepEqual(await ran(), []);
    await changeSchema(await node(), { plan });
    assert.deepEqual(await ran(), [2]);
  });

  it("continues after a failed step or a killed node", { timeout: 60_000 }, async (t) => {
    const { connect, node, sql, ran, waits } = await madeDatabase(t);
    const third = step(3, "ALTER TABLE elsewhere ADD COLUMN name TEXT");
    await assert.rejects(changeSchema(await node(), { plan: by(first, alter, third) }), /elsewhere/);
    assert.deepEqual(await ran(), [2]);
    await sql.query("CREATE TABLE elsewhere (id INTEGER)");
    const holder = await connect();
    await holder.query("BEGIN");
    await holder.query("SELECT * FROM elsewhere");
    const killed = changeSchema(await node(), { plan: by(first, alter, third), lockMs: 60_000 });
    const ended = assert.rejects(killed);
    await waits("ALTER TABLE elsewhere");
    await sql.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'ALTER TABLE elsewhere%'`);
    await ended;
    await holder.query("COMMIT");
    await changeSchema(await node(), { plan: by(first, alter, third) });
    assert.deepEqual(await ran(), [2, 3]);
  });

  it("takes each step once when several nodes start at the same time", { timeout: 60_000 }, async (t) => {
    const { node, ran } = await madeDatabase(t);
    const many = [3, 4, 5, 6].map((number) => step(number, `CREATE TABLE made_${number} (id INTEGER)`));
    const plan = by(first, alter, { index: "busy_by_id", on: "busy (id)" }, ...many);
    const nodes = await Promise.all([node(), node(), node(), node()]);
    await Promise.all(nodes.map((one) => changeSchema(one, { plan })));
    assert.deepEqual(await ran(), [2, 3, 4, 5, 6]);
  });

  it("builds an index while the table is written, and again when the build was interrupted", {
    timeout: 60_000,
  }, async (t) => {
    const { connect, node, sql, waits } = await madeDatabase(t);
    await sql.query("INSERT INTO busy SELECT generate_series(1, 1000)");
    const index = { index: "busy_by_id", on: "busy (id)" };
    const [writer, other] = [await connect(), await connect()];
    await writer.query("BEGIN");
    await writer.query("INSERT INTO busy VALUES (0)");
    const broken = assert.rejects(changeSchema(await node(), { plan: by(first, index) }));
    await waits("CREATE INDEX CONCURRENTLY");
    await sql.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONC%'`);
    await broken;
    const valid = async () =>
      (await sql.query("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('busy_by_id')")).rows;
    assert.deepEqual(await valid(), [{ indisvalid: false }]);

    const building = changeSchema(await node(), { plan: by(first, index) });
    await waits("DROP INDEX CONCURRENTLY");
    // Neither a second node that starts meanwhile nor writers block the build.
    const second = changeSchema(await node(), { plan: by(first, index) });
    await other.query("INSERT INTO busy VALUES (-1)");
    await writer.query("COMMIT");
    await Promise.all([building, second]);
    assert.deepEqual(await valid(), [{ indisvalid: true }]);
    assert.deepEqual((await sql.query("SELECT step FROM schema_steps ORDER BY step")).rows, [{ step: 1 }, { step: 2 }]);
  });

  it("is waited for without a transaction that stays open: the build of an index would wait for its end", {
    timeout: 60_000,
  }, async (t) => {
    const { connect, node, ran } = await madeDatabase(t);
    const changing = await connect();
    await changing.query("SELECT pg_advisory_lock(20180831)");
    const waiting = await node();
    const again = gate();
    let transactions = 0;
    const inTransaction: SchemaConnection["inTransaction"] = (body) => {
      transactions += 1;
      if (transactions === 2) again.open();
      return waiting.inTransaction(body);
    };
    const changed = changeSchema({ ...waiting, inTransaction }, { plan: by(first, alter) });
    await again.opened;
    await changing.query("SELECT pg_advisory_unlock(20180831)");
    await changed;
    assert.deepEqual(await ran(), [2]);
  });

  it("is accepted by an older version, unless a step is breaking", { timeout: 60_000 }, async (t) => {
    const { node, ran } = await madeDatabase(t);
    const third = step(3, "CREATE TABLE more (id INTEGER)");
    await changeSchema(await node(), { plan: { steps: [first, alter, third], breakingSteps: [2] } });
    assert.deepEqual(await ran(), [2, 3]);
    await changeSchema(await node(), { plan: by(first, alter) });
    await assert.rejects(changeSchema(await node(), { plan: by(first) }), NewerSchema);
    assert.deepEqual(await ran(), [2, 3]);
  });
});
