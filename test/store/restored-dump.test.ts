import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import pg from "pg";
import type { ThingChange } from "../../src/devices/thing-writes.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { LentSql } from "../../src/store/postgres/connection.ts";
import { beginEpoch } from "../../src/store/postgres/epoch.ts";
import { databaseClock, openPostgres } from "../../src/store/postgres/store.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import type { Sql } from "../../src/store/sql.ts";
import { logStart } from "../../src/store/tables/log-position.ts";
import { linked } from "../assistants/made-assistant.ts";
import { sharedCluster } from "../set-up/postgres.ts";

const entry = (timeMs: number) => ({
  userId: 1 as UserId,
  deviceId: 1 as DeviceId,
  kind: "device" as const,
  timeMs,
  body: "{}",
});

const smokeIn = (thingId: string): ThingChange => ({
  thingId,
  what: "state",
  fields: [{ trait: "smoke", field: "state", value: "alarm" }],
});

describe("a dump that was restored to another server", () => {
  it("continues: new log entries come after old ones, and no reader waits for ever", async (t) => {
    const url = await (await sharedCluster()).createDatabase();
    const open = async () => {
      const store = await openPostgres({ url });
      t.after(() => store.close());
      return store;
    };
    const first = await open();
    for (const timeMs of [1, 2, 3]) await first.transaction((tx) => tx.log.append(entry(timeMs)));
    const seen = await times(first);
    assert.deepEqual(seen, [1, 2, 3]);
    await first.close();
    // The old server's transaction ids are far ahead. Two of three entries were delivered to webhooks.
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    t.after(() => client.end());
    await client.query("UPDATE log SET xid = ((xid::text::bigint) + 1000000000)::text::xid8");
    await client.query(`UPDATE webhook_feed SET (transaction_id, entry_id) =
      (SELECT xid::text::bigint, id FROM log WHERE time_ms = 2)`);
    await client.query(`INSERT INTO commands (user_id, device_id, attribute, thermostat_id, value, state, requested_ms)
      VALUES (1, 1, 1, 't', 'true', 'queued', 5)`);
    await client.query("ALTER TABLE thing_commands DROP CONSTRAINT thing_commands_user_id_device_id_fkey");
    await client.query(`INSERT INTO thing_commands (user_id, device_id, thing_id, external_key, command, state, step,
      requested_ms) VALUES (1, 1, 't', 'thermostat/t', '{}', 'queued', 0, 5)`);

    const restored = await open();
    await restored.transaction((tx) => tx.log.append(entry(4)));
    assert.deepEqual(await times(restored), [1, 2, 3, 4]);
    const { untold, horizon, sent } = await restored.transaction(async (tx) => ({
      untold: await tx.log.tail(await tx.webhooks.lockFeed(), 10),
      horizon: await tx.log.horizon(),
      sent: [...(await tx.fanRequests.overdue(-1, 10, -1, 10)), ...(await tx.thingCommands.overdue(-1, 10, -1, 10))],
    }));
    assert.deepEqual(
      untold.map(({ timeMs }) => timeMs),
      [3, 4],
    );
    assert.equal(sent.length, 2);
    assert.ok(horizon.transaction > 4);

    // The next start finds nothing to reorder.
    const again = await open();
    assert.deepEqual(await again.read((tx) => tx.log.horizon()), horizon);
  });

  for (const ahead of ["transaction_id, urgent_transaction_id", "transaction_id", "urgent_transaction_id"]) {
    it(`reports everything to assistants again, and their later alarms (${ahead} of the old server)`, async (t) => {
      const { store, client, restart } = await madeStore(t);
      const { feed, log, marks } = await linked(store);
      await log(smokeIn("hall"));
      await feed();
      await client.query("DELETE FROM assistant_marks");
      for (const column of ahead.split(", ")) {
        await client.query(`UPDATE assistant_feed SET ${column} = ${column} + 1000000000`);
      }
      await restart();
      const names = async () => (await marks()).map(({ thingId }) => thingId);
      await log(smokeIn("den"));
      await feed();
      assert.deepEqual(await names(), ["den", ""]);
      await client.query("DELETE FROM assistant_marks");
      await restart();
      await log(smokeIn("attic"));
      await feed();
      assert.deepEqual(await names(), ["attic"]);
    });
  }

  it("is noticed by each position of the log alone", async (t) => {
    const { store, client, restart } = await madeStore(t);
    const horizon = async () => (await store.read((tx) => tx.log.horizon())).transaction;
    await client.query(`INSERT INTO webhooks (owner_id, id, tenant_id, client_id, url, sealed_secret, device_ids,
      attributes, from_transaction, from_entry, created_ms) VALUES (1, 'w', 1, 'c', '', '', '', '', 0, 0, 0)`);
    await store.transaction((tx) => tx.log.append(entry(1)));
    let before = await horizon();
    for (const [table, column] of [
      ["log", "xid"],
      ["webhook_feed", "transaction_id"],
      ["webhooks", "from_transaction"],
      ["log_horizon", "transaction_id"],
    ] as const) {
      await client.query(`UPDATE ${table} SET ${column} = ${column === "xid" ? "'1000000000'" : "1000000000"}`);
      await restart();
      const { rows } = await client.query(`SELECT ${column}::text::bigint AS position FROM ${table}`);
      const reordered = await horizon();
      assert.ok(reordered > before && reordered < 1_000_000_000, `${table}: ${before}, ${reordered}`);
      assert.ok(rows[0].position <= reordered, `${table}: ${rows[0].position}`);
      before = reordered;
    }
  });
});

describe("the start of a node, or a promotion", () => {
  it("leaves the log as it is, although running nodes append entries with later transaction ids meanwhile", async (t) => {
    const { store, client, begin } = await madeStore(t);
    await store.transaction((tx) => tx.log.append(entry(1)));
    await client.query("INSERT INTO nodes (id, beat_ms) VALUES ('running', 0)");
    const rows = async () => ({
      log: (await client.query("SELECT xid::text, id FROM log ORDER BY id")).rows,
      horizon: await store.read((tx) => tx.log.horizon()),
      nodes: (await client.query("SELECT id FROM nodes")).rows,
    });
    const written = await begin(async () => {
      await store.transaction((tx) => tx.log.append(entry(2)));
      return rows();
    });
    assert.deepEqual(await rows(), written);
  });
});

/** A store on a database of its own. `restart` does what the start of a node does. */
async function madeStore(t: TestContext) {
  const url = await (await sharedCluster()).createDatabase({ hasSchema: true });
  const store = await openPostgres({ url });
  t.after(() => store.close());
  const connect = async () => {
    const client = new pg.Client({ connectionString: url, pipeline: true });
    await client.connect();
    t.after(() => client.end());
    return client;
  };
  const client = await connect();
  const own = await connect();
  /** Begins an epoch in a transaction, and runs `meanwhile` after its first statement, when the transaction has its id. */
  const begin = async <Result>(meanwhile: () => Promise<Result>): Promise<Result> => {
    const lent = new LentSql(own as unknown as pg.PoolClient, databaseClock);
    let ran: Promise<Result> | undefined;
    const sql = new Proxy<Sql>(lent, {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return async (...given: unknown[]) => {
          const result = await value.apply(target, given);
          ran ??= meanwhile();
          await ran;
          return result;
        };
      },
    });
    lent.begin();
    await beginEpoch(sql);
    await lent.commit();
    return ran!;
  };
  return { store, client, begin, restart: () => begin(async () => undefined) };
}

async function times(store: OpenStore): Promise<readonly number[]> {
  return (await store.read((tx) => tx.log.tail(logStart, 10))).map(({ timeMs }) => timeMs);
}
