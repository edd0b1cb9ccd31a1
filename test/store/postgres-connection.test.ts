import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { OutcomeUnknown, StoreUnavailable } from "../../src/model/errors.ts";
import { LentSql } from "../../src/store/postgres/connection.ts";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";

const clock = "0::bigint";
const impossible = "INSERT INTO numbers SELECT 1 / $1::int";

describe("the pipelined statements of a PostgreSQL transaction", { skip: missingPostgres() ?? false }, () => {
  let client: pg.PoolClient;
  let pool: pg.Pool;

  before(async () => {
    pool = new pg.Pool({ connectionString: await (await sharedCluster()).createDatabase(), pipeline: true, max: 1 });
    client = await pool.connect();
    await client.query("CREATE TABLE numbers (number INT NOT NULL)");
  });

  after(async () => {
    client.release();
    await pool.end();
  });

  const begun = () => {
    const sql = new LentSql(client, clock);
    sql.begin();
    return sql;
  };
  const insert = (sql: LentSql, number: number) => sql.post("INSERT INTO numbers VALUES ($1)", [number]);
  const numbers = async () =>
    (await client.query("SELECT number FROM numbers ORDER BY number")).rows.map((r) => r.number);
  const nothingIsLeft = async () => {
    await client.query("ROLLBACK");
    assert.deepEqual(await numbers(), []);
  };

  it("fail with the first error, in whichever order they are awaited", async () => {
    const sql = begun();
    const first = sql.all(impossible, [0]).catch((error) => error);
    const second = await sql.all("SELECT 1").catch((error) => error);
    assert.match(String(second), /transaction is aborted/);
    assert.equal(sql.reasonOf(second), await first);
    sql.end();
    await client.query("ROLLBACK");
  });

  it("run in order, whether they are awaited or not", async () => {
    const sql = begun();
    void insert(sql, 1);
    const seen = sql.all<{ count: number }>("SELECT COUNT(*)::int AS count FROM numbers");
    void insert(sql, 2);
    assert.deepEqual(await seen, [{ count: 1 }]);
    await sql.commit();
    assert.deepEqual(await numbers(), [1, 2]);
    await client.query("TRUNCATE numbers");
  });

  it("roll back the transaction when one that was not awaited fails, with its error", async () => {
    const sql = begun();
    void insert(sql, 1);
    void sql.post(impossible, [0]);
    void insert(sql, 2);
    await assert.rejects(sql.commit(), /division by zero/);
    await nothingIsLeft();
  });

  it("report the first error, not the refusals that follow it", async () => {
    const sql = begun();
    void sql.post(impossible, [0]);
    const refusal = await sql.all("SELECT 1").catch((error) => error);
    assert.match(refusal.message, /aborted/);
    assert.match((sql.reasonOf(refusal) as Error).message, /division by zero/);
    await nothingIsLeft();
  });

  it("are never acknowledged when a body ignored the error of a statement", async () => {
    const sql = begun();
    void insert(sql, 1);
    await sql.run(impossible, [0]).catch(() => undefined);
    await assert.rejects(sql.commit(), /ignored the error/);
    await nothingIsLeft();
  });

  it("work again after the same statement failed, and after its table was changed", async () => {
    for (const divisor of [0, 1, 0, 1]) {
      const sql = begun();
      void sql.post(impossible, [divisor]);
      await (divisor === 0 ? assert.rejects(sql.commit()) : sql.commit());
      if (divisor === 0) await client.query("ROLLBACK");
    }
    await client.query("ALTER TABLE numbers ADD COLUMN note TEXT");
    const sql = begun();
    void sql.post(impossible, [1]);
    assert.equal((await sql.all("SELECT number FROM numbers")).length, 3);
    await sql.commit();
  });

  it("have an unknown outcome when the connection ends before COMMIT is answered", async () => {
    for (const hasPosted of [false, true]) {
      const lost = new pg.Client({ connectionString: pool.options.connectionString, pipeline: true });
      lost.on("error", () => undefined);
      await lost.connect();
      const sql = new LentSql(lost as never, clock);
      sql.begin();
      if (hasPosted) void insert(sql, 1);
      else await sql.all("SELECT 1");
      const committed = sql.commit();
      (lost as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
      await assert.rejects(committed, OutcomeUnknown);
      // The connection was closed before COMMIT was sent, so nothing was changed.
      const late = new LentSql(lost as never, clock);
      late.begin();
      await assert.rejects(
        late.commit(),
        (error) => error instanceof StoreUnavailable && !(error instanceof OutcomeUnknown),
      );
    }
    await client.query("TRUNCATE numbers");
  });

  it("have changed nothing when the server refused the COMMIT", async () => {
    await client.query("CREATE TABLE pairs (one INT UNIQUE DEFERRABLE INITIALLY DEFERRED)");
    const sql = begun();
    void sql.post("INSERT INTO pairs VALUES ($1), ($1)", [1]);
    await assert.rejects(
      sql.commit(),
      (error) => error instanceof StoreUnavailable && !(error instanceof OutcomeUnknown),
    );
    await nothingIsLeft();
  });

  it("are refused when the transaction has ended", async () => {
    const sql = begun();
    await sql.commit();
    await assert.rejects(sql.all("SELECT 1"), /after it had ended/);
  });
});
