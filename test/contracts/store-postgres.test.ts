import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import pg from "pg";
import { StoreUnavailable } from "../../src/model/errors.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { isAll } from "../set-up/extent.ts";
import { olderPostgres } from "../set-up/installed-postgres.ts";
import { missingPostgres, startCluster } from "../set-up/postgres.ts";
import { onStore, type TestDatabase } from "./store/harness.ts";
import { gate, keep, kept } from "./store/home.ts";
import { harnessOnInstallation, postgresHarness } from "./store/postgres-harness.ts";
import { describeStore } from "./store.contract.ts";

const skip = missingPostgres();

describeStore("the store on PostgreSQL", postgresHarness, skip === undefined ? {} : { skip });

// The oldest supported version, on machines that have it. `npm test` checks its tables and its schema.
const older = olderPostgres();
if (older) {
  describeStore(`the store on PostgreSQL ${older.version}`, harnessOnInstallation(older), { isBrief: !isAll });
}

describe("concurrent transactions on PostgreSQL", { skip: skip ?? false }, () => {
  it("run urgent transactions and reads while all others are blocked", () =>
    onStore(postgresHarness, async (store) => {
      const [holding, end] = [gate(), gate()];
      // Far more than there are connections: an ordinary transaction would wait behind all of them.
      const held = Array.from({ length: 64 }, () =>
        store.transaction(async () => {
          holding.open();
          await end.opened;
        }),
      );
      await holding.opened;
      try {
        await store.transaction(keep("urgent"), { urgent: true });
        assert.ok(await kept(store, "urgent"));
        const becomingUrgent = new AbortController();
        const hurried = store.transaction(keep("hurried"), { becomesUrgent: becomingUrgent.signal });
        becomingUrgent.abort();
        await hurried;
        await store.transaction(keep("soon"), { soon: true });
        assert.ok((await kept(store, "hurried")) && (await kept(store, "soon")));
        assert.ok((await store.health()).waiting > 0);
      } finally {
        end.open();
        await Promise.allSettled(held);
      }
    }));

  it("wait up to 20 seconds for a connection that is in use, without store_unavailable", (t) =>
    onStore(postgresHarness, async (store) => {
      const ordinary = () => store.pools().find(({ pool }) => pool === "ordinary")!;
      const holdAll = async () => {
        const end = gate();
        const holding = Array.from({ length: ordinary().most }, () => gate());
        const held = holding.map(({ open }) =>
          store.transaction(async () => {
            open();
            await end.opened;
          }),
        );
        await Promise.all(holding.map(({ opened }) => opened));
        return () => {
          end.open();
          return Promise.all(held);
        };
      };
      const release = await holdAll();
      t.mock.timers.enable({ apis: ["setTimeout"] });
      const waits = store.transaction(keep("waited")).catch((error) => error);
      while (ordinary().waiting === 0) await nextTurn();
      t.mock.timers.tick(19_999);
      await release();
      assert.ok(!((await waits) instanceof Error));
      assert.ok(await kept(store, "waited"));

      const releaseAgain = await holdAll();
      const givenUp = store.transaction(keep("given up")).catch((error) => error);
      while (ordinary().waiting === 0) await nextTurn();
      t.mock.timers.tick(20_000);
      const refusal = await givenUp;
      t.mock.timers.reset();
      await releaseAgain();
      assert.ok(refusal instanceof StoreUnavailable);
      assert.match(refusal.message, /connections were in use for 20000 ms/);
      assert.equal(await kept(store, "given up"), false);
    }));

  it("are not acknowledged before their COMMIT is answered", { timeout: 30_000 }, (t) =>
    onStore(postgresHarness, async (store, database) => {
      await database.sql(`CREATE FUNCTION hold_commit() RETURNS trigger LANGUAGE plpgsql AS
                       $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$`);
      await database.sql(`CREATE CONSTRAINT TRIGGER hold_commit AFTER INSERT ON settings DEFERRABLE INITIALLY DEFERRED
                       FOR EACH ROW EXECUTE FUNCTION hold_commit()`);
      await database.sql("SELECT pg_advisory_lock(1)");
      let isAcknowledged = false;
      const write = store.transaction(keep("held")).then(() => {
        isAcknowledged = true;
      });
      const heldUp = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
      while (!t.signal.aborted && !isAcknowledged && (await database.sql(heldUp)).length === 0);
      const meanwhile = { isAcknowledged, isKept: await kept(store, "held") };
      await database.sql("SELECT pg_advisory_unlock(1)");
      await write;
      assert.deepEqual(meanwhile, { isAcknowledged: false, isKept: false });
      assert.ok(await kept(store, "held"));
    }),
  );

  it("read one consistent snapshot, whatever is committed meanwhile", () =>
    onStore(postgresHarness, async (store) => {
      const [looked, written] = [gate(), gate()];
      const looks = store.read(async (tx) => {
        const first = await tx.settings.get("fact");
        looked.open();
        await written.opened;
        return [first, await tx.settings.get("fact")];
      });
      await looked.opened;
      await store.transaction(keep("fact")).finally(written.open);
      assert.deepEqual(await looks, [undefined, undefined]);
    }));

  it("are retried after a deadlock, and the caller does not notice", () =>
    onStore(postgresHarness, async (store) => {
      await store.transaction(async (tx) => void (await tx.tenants.add({ name: "t" })));
      const users = await store.transaction(async (tx) => {
        const tenantId = (await tx.tenants.byName("t"))!.id;
        const user = { tenantId, passwordHash: "…", isAdmin: false };
        return [(await tx.users.add({ ...user, name: "a" }))!, (await tx.users.add({ ...user, name: "b" }))!] as const;
      });
      const bothHaveOne = [gate(), gate()] as const;
      let runs = 0;
      const lockInTurn = (mine: 0 | 1) =>
        store.transaction(async (tx) => {
          runs += 1;
          await tx.users.lock(users[mine]);
          bothHaveOne[mine].open();
          await bothHaveOne[mine === 0 ? 1 : 0].opened;
          await tx.users.lock(users[mine === 0 ? 1 : 0]);
          return mine;
        });
      assert.deepEqual(await Promise.all([lockInTurn(0), lockInTurn(1)]), [0, 1]);
      // The server aborts one of the two, on a busy machine both. Then the retries may deadlock again.
      assert.ok(runs >= 3, `${runs} runs`);
    }));

  it(
    "fail with store_unavailable when their connection is cut, and the store keeps working",
    { timeout: 30_000 },
    (t) =>
      onStore(postgresHarness, async (store, database) => {
        const [begun, cut] = [gate(), gate()];
        const broken = store.transaction(async (tx) => {
          await keep("cut")(tx);
          begun.open();
          await cut.opened;
          await keep("after the cut")(tx);
        });
        await begun.opened;
        await cutAll(database, t.signal).finally(cut.open);
        await assert.rejects(broken, StoreUnavailable);
        await store.transaction(keep("next"));
        assert.equal(await kept(store, "cut"), false);
        assert.ok(await kept(store, "next"));
      }),
  );

  it("run on another connection when the pool lent one that was closed", { timeout: 30_000 }, (t) =>
    onStore(postgresHarness, async (store) => {
      const lend = pg.Pool.prototype.connect as () => Promise<pg.PoolClient>;
      t.mock.method(
        pg.Pool.prototype,
        "connect",
        async function (this: pg.Pool) {
          const client = await lend.call(this);
          client.on("error", () => undefined);
          client.connection.stream.destroy();
          await new Promise<void>((ended) => client.once("end", ended));
          return client;
        },
        { times: 1 },
      );
      let runs = 0;
      await store.transaction((tx) => {
        runs += 1;
        return keep("repeated")(tx);
      });
      assert.equal(runs, 2);
      assert.ok(await kept(store, "repeated"));
    }),
  );

  it("fail with store_unavailable while the server can't be reached", async () => {
    const unreachable = openPostgres({ url: "postgres://breezeway@127.0.0.1:1/none", connectTimeoutMs: 1_000 });
    await assert.rejects(unreachable, StoreUnavailable);
  });

  it("are not lost after they were acknowledged when the server crashes", { timeout: 60_000 }, async () => {
    const cluster = await startCluster();
    try {
      const url = await cluster.createDatabase();
      const store = await openPostgres({ url });
      const acknowledged: string[] = [];
      const enough = gate();
      const lanes = Array.from({ length: 8 }, async (_, lane) => {
        for (let i = 0; ; i++) {
          await store.transaction(keep(`${lane} ${i}`));
          acknowledged.push(`${lane} ${i}`);
          if (acknowledged.length === 200) enough.open();
        }
      }).map((lane) => assert.rejects(lane, StoreUnavailable));
      await enough.opened;
      await Promise.all([cluster.crash(), ...lanes]);
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const { rows } = await client.query<{ name: string }>("SELECT name FROM settings");
      await client.end();
      const names = new Set(rows.map(({ name }) => name));
      assert.deepEqual(
        acknowledged.filter((name) => !names.has(name)),
        [],
      );
      await store.transaction(keep("goes on"));
      await store.close();
    } finally {
      await cluster.stop();
    }
  });
});

async function cutAll(database: TestDatabase, signal: AbortSignal): Promise<void> {
  const others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
  await database.sql(`SELECT pg_terminate_backend(pid) ${others}`);
  while (!signal.aborted && (await database.sql(`SELECT 1 ${others}`)).length > 0);
}
