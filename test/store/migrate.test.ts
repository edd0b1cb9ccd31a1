import assert from "node:assert/strict";
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it, type TestContext } from "node:test";
import pg from "pg";
import { Conflict } from "../../src/model/errors.ts";
import { digestOfBytes } from "../../src/store/backup/archive.ts";
import { dataFolder } from "../../src/store/disk/data-folder.ts";
import { keysFromFile } from "../../src/store/keys/key-file.ts";
import { keyIdOf } from "../../src/store/keys/sealing.ts";
import { adoptKey } from "../../src/store/keys/used-keys.ts";
import { CopyDiffers, moveToPostgres } from "../../src/store/migrate/move.ts";
import { compactThingStep, schemaVersion } from "../../src/store/migrations.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { logStart } from "../../src/store/tables/log-position.ts";
import { storeFolderOf } from "../cli/made-folder.ts";
import { linkOf, makeHome, node } from "../contracts/store/home.ts";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";

const hostile = `{"NULL",\\"} 'x'; -- ${"\u{1F3E0}"}\n\u0001`;
const first = `first ${"x".repeat(5_000)}`;

/** A home in SQLite with its key, an empty PostgreSQL database, and a connection to it. */
async function prepareMove(t: TestContext) {
  const folder = dataFolder(await storeFolderOf(t));
  const keyId = keyIdOf(keysFromFile(folder.keyFile)[0]);
  const store = await openSqlite({ folder: folder.path, nowMs: () => 1_000 });
  const home = await makeHome(store);
  const [device] = home.devices;
  await store.transaction(async (tx) => {
    await adoptKey(tx, keyId);
    await tx.links.add({ ...linkOf(home, node("this one")), sealedCredential: hostile });
    await tx.links.setRenewing(home.userId, device!, 2 ** 40);
    await tx.attributes.write(home.userId, device!, 1, [
      { key: 1, value: hostile },
      { key: 2, value: null },
      { key: "NULL", value: "" },
    ]);
    // SQLite compresses a large entry.
    for (const body of [first, "last"]) {
      await tx.log.append({ userId: home.userId, deviceId: device!, kind: "device", timeMs: 2 ** 53 - 1, body });
    }
    await tx.nodes.beat(node("this one"));
    // An id of a removed row must not be used again.
    const gone = await tx.devices.add({ userId: home.userId, typeName: "lamp", name: "gone", isVirtual: false });
    await tx.devices.remove(home.userId, gone);
  });
  await store.close();
  // Leaves the lock file in the folder, as a stopped service does.
  folder.lock()();
  const databaseUrl = await (await sharedCluster()).createDatabase();
  const sql = new pg.Client({ connectionString: databaseUrl });
  await sql.connect();
  t.after(() => sql.end());
  const request = { folder, backup: undefined, keyFile: folder.keyFile, nowMs: () => 1_000, databaseUrl };
  const progress: (readonly [number, number])[] = [];
  const move = (change: Partial<Parameters<typeof moveToPostgres>[0]> = {}) =>
    moveToPostgres({ ...request, onProgress: (done, total) => void progress.push([done, total]), ...change });
  const open = async () => {
    const opened = await openPostgres({ url: databaseUrl });
    t.after(() => opened.close());
    return opened;
  };
  return { folder, home, device: device!, sql, move, open, progress };
}

const filesOf = (folder: string) =>
  readdirSync(folder)
    .sort()
    .map((name) => [name, digestOfBytes(readFileSync(join(folder, name)))]);

describe("a store that moves to PostgreSQL", { skip: missingPostgres() ?? false }, () => {
  it("is copied completely, every table is compared, and the source is unchanged", async (t) => {
    const { folder, home, device, move, open, progress } = await prepareMove(t);
    const before = filesOf(folder.path);
    const { tables, rows, schema } = await move();
    assert.deepEqual(filesOf(folder.path), before);
    assert.equal(schema, schemaVersion);
    const source = new DatabaseSync(join(folder.path, "breezeway.db"), { readOnly: true });
    t.after(() => source.close());
    const all = source.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'").all();
    const names = all
      .map(({ name }) => String(name))
      .filter((name) => !["nodes", "schema_steps", "schema_reach"].includes(name));
    assert.deepEqual(tables.map(({ table }) => table).sort(), names.sort());
    for (const { table, rows: count, sha256 } of tables) {
      assert.equal(source.prepare(`SELECT COUNT(*) AS n FROM ${table}`).get()?.n, count, table);
      assert.match(sha256, /^[0-9a-f]{64}$/);
    }
    assert.equal(
      rows,
      tables.reduce((sum, one) => sum + one.rows, 0),
    );
    // Each row is written once and read back once.
    assert.deepEqual(progress.at(-1), [2 * rows, 2 * rows]);

    const moved = await open();
    const { link, attributes, entries, liveNodes } = await moved.read(async (tx) => ({
      link: await tx.links.ofDevice(home.userId, device),
      attributes: await tx.attributes.some(home.userId, device, [1, 2, "NULL"]),
      entries: await tx.log.tail({ transaction: 0, id: 1 }, 10),
      liveNodes: await tx.nodes.alive(1e15),
    }));
    // The node that owned the link is not copied: the link has no owner, and keeps its epoch.
    assert.deepEqual([link?.owner, link?.epoch], [null, 1]);
    assert.deepEqual([link?.sealedCredential, link?.renewingMs], [hostile, 2 ** 40]);
    assert.deepEqual(
      attributes.map(({ key, value }) => [key, value]),
      [
        ["NULL", ""],
        [1, hostile],
        [2, null],
      ],
    );
    assert.deepEqual(liveNodes, []);
    // The copied rows may have forms that older versions can't read.
    assert.equal(await moved.transaction((tx) => tx.nodes.refuseOlder(compactThingStep)), true);
    // A position in the log of SQLite stays valid in PostgreSQL.
    assert.deepEqual(
      entries.map(({ body, timeMs, position }) => [body, timeMs, position]),
      [["last", 2 ** 53 - 1, { transaction: 0, id: 2 }]],
    );
    const next = await moved.transaction(async (tx) => {
      await tx.log.append({ userId: home.userId, deviceId: null, kind: "device", timeMs: 1, body: "next" });
      return tx.devices.add({ userId: home.userId, typeName: "lamp", name: "next", isVirtual: false });
    });
    const gone = source.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'devices'").get()?.seq;
    assert.equal(next, Number(gone) + 1);
    assert.deepEqual(
      (await moved.read((tx) => tx.log.tail(logStart, 10))).map(({ body }) => body),
      [first, "last", "next"],
    );
  });

  it("is rolled back when a single value differs", async (t) => {
    const { sql, move, open } = await prepareMove(t);
    await (await open()).close();
    await sql.query(`CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS
                      $$ BEGIN NEW.value := replace(NEW.value, 'x', 'y'); RETURN NEW; END $$`);
    await sql.query("CREATE TRIGGER spoil BEFORE INSERT ON attributes FOR EACH ROW EXECUTE FUNCTION spoil()");
    await assert.rejects(move(), (error: Error) => {
      assert.ok(error instanceof CopyDiffers);
      assert.match(
        error.message,
        /: attributes \(3 rows [0-9a-f]{16} in SQLite, 3 rows [0-9a-f]{16} in PostgreSQL\)\.$/,
      );
      return true;
    });
    for (const table of ["tenants", "users", "attributes"]) {
      assert.equal((await sql.query(`SELECT 1 FROM ${table}`)).rowCount, 0, table);
    }
    await sql.query("DROP TRIGGER spoil ON attributes");
    await move();
    assert.equal((await sql.query("SELECT 1 FROM attributes")).rowCount, 3);
  });

  it("is rolled back when a row is missing", async (t) => {
    const { sql, move, open } = await prepareMove(t);
    await (await open()).close();
    await sql.query("CREATE RULE lose AS ON INSERT TO log WHERE NEW.body = 'last' DO INSTEAD NOTHING");
    await assert.rejects(move(), /: log \(2 rows .* 1 rows /);
  });

  it("is not copied over existing data, nor while its service runs", async (t) => {
    const { folder, sql, move, open } = await prepareMove(t);
    const unlock = folder.lock();
    await assert.rejects(move(), /Another Breezeway is running/);
    unlock();
    await sql.query("CREATE TABLE orders (id INTEGER)");
    await assert.rejects(move(), /not empty: it holds a table orders that isn't Breezeway's/);
    await sql.query("DROP TABLE orders");
    const store = await open();
    await store.transaction((tx) => tx.nodes.beat(node("somebody")));
    await assert.rejects(move(), /not empty: there are rows in nodes/);
    await store.transaction((tx) => tx.nodes.leave(node("somebody")));
    await move();
    await assert.rejects(move(), (error: Error) => error instanceof Conflict && /rows in/.test(error.message));
  });

  it("is not copied with another schema, without its key, or to a database that can't be reached", async (t) => {
    const { folder, sql, move } = await prepareMove(t);
    const source = new DatabaseSync(join(folder.path, "breezeway.db"));
    t.after(() => source.close());
    source.exec(`DELETE FROM schema_steps WHERE step = ${schemaVersion}`);
    await assert.rejects(move(), new RegExp(`schema version ${schemaVersion - 1}, this Breezeway ${schemaVersion}`));
    source.exec(`INSERT INTO schema_steps VALUES (${schemaVersion}), (${schemaVersion + 1})`);
    await assert.rejects(move(), /Start the version that made it/);
    source.exec(`DELETE FROM schema_steps WHERE step > ${schemaVersion}`);
    const away = `${folder.keyFile}.away`;
    renameSync(folder.keyFile, away);
    await assert.rejects(move(), /There is no key file/);
    writeFileSync(folder.keyFile, `${Buffer.alloc(32, 7).toString("base64url")}\n`, { mode: 0o600 });
    await assert.rejects(move(), /is sealed with key/);
    await assert.rejects(move({ databaseUrl: "postgres://breezeway@127.0.0.1:1/none", keyFile: away }), {
      code: "store_unavailable",
    });
    assert.deepEqual((await sql.query("SELECT 1 FROM pg_tables WHERE schemaname = 'public'")).rows, []);
    await move({ keyFile: away });
  });

  it("is copied after a kill with the commits that are only in the write-ahead log", async (t) => {
    const { folder, move, sql } = await prepareMove(t);
    // The store is not closed: its writes stay in the write-ahead log.
    const killed = new DatabaseSync(join(folder.path, "breezeway.db"));
    t.after(() => killed.close());
    killed.exec("PRAGMA wal_autocheckpoint = 0");
    killed.exec("INSERT INTO settings VALUES ('written', 'last')");
    await move();
    assert.equal((await sql.query("SELECT value FROM settings WHERE name = 'written'")).rows[0]?.value, "last");
    assert.ok(readdirSync(folder.path).includes("breezeway.db-wal"));
  });
});
