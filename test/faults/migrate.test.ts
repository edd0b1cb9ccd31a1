import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it, type TestContext } from "node:test";
import pg from "pg";
import { keysFromFile } from "../../src/store/keys/key-file.ts";
import { keyIdOf } from "../../src/store/keys/sealing.ts";
import { adoptKey } from "../../src/store/keys/used-keys.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { folderOf } from "../cli/made-folder.ts";
import { startCluster } from "../set-up/postgres.ts";
import { breezeway, cleanEnvironment } from "../stories/child-service.ts";
import { eventually } from "../stories/world.ts";

const accounts = 10_000;
const each = { attributes: 52, history: 100 };

/** A store with many linked accounts, each with attributes and history. */
async function linkedAccounts(t: TestContext): Promise<string> {
  const folder = folderOf(t);
  const keyId = keyIdOf(keysFromFile(join(folder, "breezeway.key"))[0]);
  const store = await openSqlite({ folder, nowMs: () => 1_000 });
  await store.transaction((tx) => adoptKey(tx, keyId));
  await store.close();
  const database = new DatabaseSync(join(folder, "breezeway.db"));
  const numbers = (name: string, count: number) =>
    `${name} (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM ${name} WHERE n < ${count})`;
  const body = `json_object('changes', json_array(json_array(h.n % 52, '21.' || h.n)), 'cause', 'ecosystem')`;
  for (const statement of [
    "INSERT INTO tenants (id, name, created_ms) VALUES (1, 'Acme', 1)",
    "INSERT INTO device_types (id, name) VALUES (1, 'EcosystemAccount')",
    `WITH RECURSIVE ${numbers("a", accounts)} INSERT INTO users (id, tenant_id, name, password_hash, is_admin, created_ms)
       SELECT n, 1, 'user ' || n, '$argon2id$' || hex(randomblob(40)), 0, n FROM a`,
    `WITH RECURSIVE ${numbers("a", accounts)}
       INSERT INTO devices (id, user_id, type_id, name, is_virtual, last_time_ms, created_ms, tenant_id)
       SELECT n, n, 1, 'Nest account', 1, 1, 1, 1 FROM a`,
    `WITH RECURSIVE ${numbers("a", accounts)}
       INSERT INTO links (user_id, device_id, ecosystem, sealed_token, state, reason, owner, epoch, confirmed_ms, index_map, notices)
       SELECT n, n, 'nest', hex(randomblob(90)), 'live', '', 'node-1', 1, 1, '{"structures":[]}', '[]' FROM a`,
    `WITH RECURSIVE ${numbers("a", accounts)}, ${numbers("s", each.attributes)}
       INSERT INTO attributes (user_id, device_id, number, name, value, time_ms)
       SELECT a.n, a.n, s.n, '', 'value ' || s.n, 1750000000000 + a.n FROM a, s`,
    `WITH RECURSIVE ${numbers("a", accounts)}, ${numbers("h", each.history)}
       INSERT INTO log (user_id, device_id, kind, time_ms, body)
       SELECT a.n, a.n, 'attribute', 1750000000000 + h.n, ${body} FROM h, a`,
  ]) {
    database.exec(statement);
  }
  database.close();
  return folder;
}

describe(`a store of ${accounts} linked accounts with their history`, () => {
  it("moves to PostgreSQL completely, also after a move that was killed", { timeout: 1_800_000 }, async (t) => {
    const folder = await linkedAccounts(t);
    const cluster = await startCluster();
    const databaseUrl = await cluster.createDatabase();
    const environment = { BREEZEWAY_DATA: folder, BREEZEWAY_DATABASE_URL: databaseUrl };
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    t.after(async () => {
      await client.end();
      await cluster.stop();
    });

    const main = new URL("../../src/main.ts", import.meta.url).pathname;
    const killed = spawn(process.execPath, [main, "migrate"], { env: cleanEnvironment(environment), stdio: "ignore" });
    const ended = once(killed, "exit");
    const others = "FROM pg_stat_activity WHERE application_name = 'breezeway migrate'";
    // In the middle of the copy: its rows are not visible yet, but its query is.
    await eventually(t.signal, async () => {
      const { rows } = await client.query(`SELECT 1 ${others} AND query LIKE 'INSERT INTO "attributes"%'`);
      assert.equal(rows.length, 1);
    });
    killed.kill("SIGKILL");
    await ended;
    await eventually(t.signal, async () => assert.equal((await client.query(`SELECT 1 ${others}`)).rowCount, 0));
    assert.equal((await client.query("SELECT 1 FROM pg_tables WHERE schemaname = 'public'")).rowCount, 0);

    const begunMs = performance.now();
    const moved = await breezeway(["migrate", "--json"], { environment });
    const seconds = (performance.now() - begunMs) / 1_000;
    assert.equal(moved.code, 0, moved.stderr);
    const { rows, tables } = JSON.parse(moved.stdout) as { rows: number; tables: { table: string; rows: number }[] };
    const counts = Object.fromEntries(tables.map(({ table, rows: count }) => [table, count]));
    assert.deepEqual(
      [counts.users, counts.links, counts.attributes, counts.log],
      [accounts, accounts, accounts * each.attributes, accounts * each.history],
    );
    t.diagnostic(`${rows} rows copied and compared in ${seconds.toFixed(1)} s`);
    assert.equal((await client.query("SELECT 1 FROM links WHERE owner IS NOT NULL")).rowCount, 0);
  });
});
