import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { Registry } from "../../src/metrics/registry.ts";
import { watch } from "../../src/metrics/watched.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import type { LogEntry } from "../../src/store/tables/log.ts";
import { comparePositions, type LogPosition } from "../../src/store/tables/log-position.ts";
import { readExposition } from "../metrics/read-exposition.ts";
import { isAll } from "../set-up/extent.ts";
import { olderPostgres } from "../set-up/installed-postgres.ts";
import { type Cluster, missingPostgres, startCluster } from "../set-up/postgres.ts";

/** The oldest version that is supported, in `npm run test:all`. */
const older = isAll ? olderPostgres() : undefined;
const servers = older ? [undefined, older] : [undefined];

for (const installation of servers) {
  const name = installation ? ` ${installation.version}` : "";
  describe(`the log beside another database of PostgreSQL${name}`, { skip: missingPostgres() ?? false }, () => {
    let cluster: Cluster;
    let store: OpenStore;
    let own: pg.Client;
    let other: pg.Client;

    before(async () => {
      const settings = { max_prepared_transactions: 4 };
      cluster = await startCluster({ fsync: false, settings, ...(installation && { installation }) });
      const [url, otherUrl] = [await cluster.createDatabase(), await cluster.createDatabase()];
      own = await connected(url);
      other = await connected(otherUrl);
      await other.query("CREATE TABLE loaded (number INT)");
      // A role without rights over the sessions of others.
      await own.query("CREATE ROLE plain LOGIN PASSWORD 'plain'");
      await own.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO plain`);
      const address = new URL(url);
      [address.username, address.password] = ["plain", "plain"];
      store = await openPostgres({ url: address.href });
    });

    after(async () => {
      await store.close();
      await Promise.all([own.end(), other.end()]);
      await cluster.stop();
    });

    const end = () => store.read((tx) => tx.log.end());
    const append = (entry: Partial<LogEntry>) => store.transaction((tx) => tx.log.append({ ...plainEntry, ...entry }));
    const read = async (from: LogPosition) => (await store.read((tx) => tx.log.tail(from, 10))).map(({ body }) => body);
    const load = async () => {
      await other.query("BEGIN");
      await other.query("INSERT INTO loaded VALUES (1)");
      await other.query("SAVEPOINT half");
      await other.query("INSERT INTO loaded VALUES (2)");
    };

    it("is read while a transaction of the other database is open", async () => {
      const from = await end();
      await load();
      try {
        await append({ body: "a" });
        await append({ body: "b" });
        assert.deepEqual(await read(from), ["a", "b"]);
        const { entries } = await store.read((tx) => tx.recentLog.before(undefined, {}, 10));
        assert.deepEqual(
          entries.slice(0, 2).map(({ body }) => body),
          ["b", "a"],
        );
        const last = (await store.read((tx) => tx.log.tail(from, 10))).at(-1)!;
        assert.equal(comparePositions(await end(), last.position), 0);
        assert.equal(await heldBackSeconds(store), 0);
        assert.equal(await store.transaction((tx) => tx.log.removeOlder(2, 10)), 2);
      } finally {
        await other.query("ROLLBACK");
      }
    });

    it("is read without a long wait when its entries are new", { timeout: 30_000 }, async (t) => {
      const from = await end();
      await load();
      try {
        await append({ body: "new", timeMs: await store.read((tx) => tx.clock.nowMs()) });
        let found: readonly string[] = [];
        while (found.length === 0) {
          t.signal.throwIfAborted();
          found = await read(from);
        }
        assert.deepEqual(found, ["new"]);
      } finally {
        await other.query("ROLLBACK");
      }
    });

    it("is read while a transaction of the other database is prepared", async () => {
      const from = await end();
      await load();
      await other.query("PREPARE TRANSACTION 'forgotten'");
      try {
        await append({ body: "a" });
        assert.deepEqual(await read(from), ["a"]);
      } finally {
        await other.query("ROLLBACK PREPARED 'forgotten'");
      }
    });

    it("is read inside a writing transaction up to its own entries", async () => {
      const from = await end();
      await load();
      try {
        await append({ body: "before" });
        const tails = await store.transaction(async (tx) => {
          const first = await tx.log.tail(from, 10);
          await tx.log.append({ ...plainEntry, body: "own" });
          // Waits until the statement before it has run.
          await tx.clock.nowMs();
          await own.query(insertion("meanwhile"));
          return [first, await tx.log.tail(from, 10)];
        });
        assert.deepEqual(
          tails.map((tail) => tail.map(({ body }) => body)),
          [["before"], ["before"]],
        );
        assert.deepEqual(await read(from), ["before", "own", "meanwhile"]);
      } finally {
        await other.query("ROLLBACK");
      }
    });

    for (const [what, hold, release] of [
      ["open", [], ["COMMIT"]],
      ["prepared", ["PREPARE TRANSACTION 'own'"], ["COMMIT PREPARED 'own'"]],
    ] as const) {
      it(`waits for a transaction of its own database that is ${what}, and says for how long`, async () => {
        const from = await end();
        await load();
        try {
          await own.query("BEGIN");
          await own.query(insertion("early"));
          for (const statement of hold) await own.query(statement);
          await append({ body: "late", timeMs: 2 ** 52 });
          await append({ body: "latest" });
          assert.deepEqual(await read(from), []);
          assert.equal(comparePositions(await end(), from), 0);
          const nowMs = await store.read((tx) => tx.clock.nowMs());
          assert.ok((await heldBackSeconds(store))! * 1_000 >= nowMs - plainEntry.timeMs);
          for (const statement of release) await own.query(statement);
          assert.deepEqual(await read(from), ["early", "late", "latest"]);
          assert.equal(await heldBackSeconds(store), 0);
        } finally {
          await other.query("ROLLBACK");
        }
      });
    }
  });
}

const plainEntry: LogEntry = { userId: null, deviceId: null, kind: "alert", timeMs: 1, body: "{}" };
const insertion = (body: string) =>
  `INSERT INTO log (user_id, device_id, kind, time_ms, body) VALUES (0, NULL, 'alert', 1, '${body}')`;

async function connected(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
}

async function heldBackSeconds(store: OpenStore): Promise<number | undefined> {
  const registry = new Registry();
  watch(registry, {
    store,
    links: () => ({ byState: {}, stale: 0, paused: {}, slowed: 0 }),
    eventReaders: () => 0,
    deliveries: async () => ({ waiting: 0, lagMs: 0 }),
    disk: async () => ({ freeBytes: 0, totalBytes: 0 }),
    lastBackupMs: async () => undefined,
  });
  const { samples } = readExposition(await registry.text());
  return samples.find(({ name }) => name === "breezeway_events_held_back_seconds")?.value;
}
