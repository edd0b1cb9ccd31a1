import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import pg from "pg";
import type { Reaction } from "../../src/devices/commit.ts";
import { OutcomeUnknown, OwnershipLost } from "../../src/model/errors.ts";
import { comparePositions, type LogPosition, logStart } from "../../src/store/tables/log-position.ts";
import { onDatabase, onStore, type TestDatabase } from "../contracts/store/harness.ts";
import { gate, keep } from "../contracts/store/home.ts";
import {
  type LinkedHome,
  linkedHomes,
  mirrorOn,
  storedValue,
  whileAGroupRuns,
} from "../contracts/store/linked-homes.ts";
import { postgresHarness } from "../contracts/store/postgres-harness.ts";
import { missingPostgres } from "../set-up/postgres.ts";

const skip = missingPostgres() ?? false;

describe("a group of commits on PostgreSQL", { skip }, () => {
  it("does not wait for a user whose lock another transaction holds", () =>
    onStore(postgresHarness, async (store) => {
      const homes = await linkedHomes(store, 3);
      // A group that waited would fail, and its members would run again.
      const ran: number[] = [];
      const count: Reaction = async (_, { userId }) => {
        ran.push(userId);
        return [];
      };
      const mirror = mirrorOn(store, { reactions: [count] });
      const [locked, end] = [gate(), gate()];
      const holding = store.transaction(async (tx) => {
        await tx.users.lock(homes[1]!.userId);
        locked.open();
        await end.opened;
      });
      await locked.opened;
      const commits = await whileAGroupRuns(store, homes[0]!, () => homes.map((home) => mirror(home, "new")));
      await Promise.all([commits[0], commits[2]]);
      const meanwhile = { value: await storedValue(store, homes[1]!), ran: [...ran] };
      // The next group runs too.
      await mirror(homes[2]!, "newer");
      end.open();
      await Promise.all([holding, commits[1]]);
      assert.deepEqual(meanwhile, { value: undefined, ran: [homes[0]!.userId, homes[2]!.userId] });
      assert.equal(await storedValue(store, homes[1]!), "new");
    }));

  it("refuses a transaction or a read inside a body, as outside of groups", () =>
    onStore(postgresHarness, async (store) => {
      const [home] = await linkedHomes(store, 1);
      const inside = (nested: () => Promise<unknown>) =>
        store.transaction(() => nested(), { background: true, groupedBy: home!.userId });
      await assert.rejects(
        inside(() => store.transaction(async () => undefined)),
        /a transaction was started inside another/,
      );
      await assert.rejects(
        inside(() => store.read(async () => undefined)),
        /a read was started inside another/,
      );
    }));

  it("takes five statements, for one member as for many", (t) =>
    onStore(postgresHarness, async (store) => {
      const homes = await linkedHomes(store, 4);
      const mirror = mirrorOn(store);
      // Opens the connection.
      await mirror(homes[0]!, "first");
      const sent = t.mock.method(pg.Client.prototype, "query").mock;
      const statements = () => {
        const texts = sent.calls.map(({ arguments: [query] }: { arguments: unknown[] }) =>
          typeof query === "string" ? query : (query as pg.QueryConfig).text,
        );
        sent.resetCalls();
        return texts.filter((text) => !text.includes("pg_notify")).length;
      };
      await mirror(homes[0]!, "alone");
      const alone = statements();
      await Promise.all(
        await whileAGroupRuns(store, homes[0]!, () => homes.slice(1).map((home) => mirror(home, "together"))),
      );
      // The group that ran before locks a user and writes nothing.
      const [ofTheOther, together] = [3, statements()];
      assert.deepEqual({ alone, together: together - ofTheOther }, { alone: 5, together: 5 });
    }));

  it("stores the others when the database refuses the rows of one", () =>
    onStore(postgresHarness, async (store, database) => {
      await database.sql("ALTER TABLE attributes ADD CHECK (value <> 'forbidden')");
      const homes = await linkedHomes(store, 4);
      const mirror = mirrorOn(store);
      const values = ["a", "forbidden", "b", "c"];
      const outcomes = await Promise.allSettled(
        await whileAGroupRuns(store, homes[0]!, () => homes.map((home, i) => mirror(home, values[i]!))),
      );
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ["fulfilled", "rejected", "fulfilled", "fulfilled"],
      );
      assert.deepEqual(await Promise.all(homes.map((home) => storedValue(store, home))), ["a", undefined, "b", "c"]);
    }));

  it("reports an unknown outcome to each member when the answer to COMMIT is lost", { timeout: 30_000 }, (t) =>
    onStore(postgresHarness, async (store, database) => {
      const homes = await linkedHomes(store, 3);
      await holdCommitsOf(database, homes[0]!);
      const mirror = mirrorOn(store);
      const commits = Promise.allSettled(
        await whileAGroupRuns(store, homes[2]!, () => [
          mirror(homes[0]!, "unknown"),
          mirror(homes[1]!, "unknown"),
          mirror(homes[2]!, "of an old epoch", { epoch: 2 }),
        ]),
      );
      await untilCommitIsHeld(database, t.signal);
      await database.sql("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted");
      const reasons = (await commits).map((outcome) => outcome.status === "rejected" && outcome.reason.constructor);
      assert.deepEqual(reasons, [OutcomeUnknown, OutcomeUnknown, OwnershipLost]);
      await mirror(homes[1]!, "goes on");
      assert.deepEqual(await Promise.all(homes.map((home) => storedValue(store, home))), [
        undefined,
        "goes on",
        undefined,
      ]);
    }),
  );

  it("delays neither an urgent commit nor one that becomes urgent", { timeout: 30_000 }, (t) =>
    onStore(postgresHarness, async (store, database) => {
      const homes = await linkedHomes(store, 4);
      await holdCommitsOf(database, homes[0]!);
      const mirror = mirrorOn(store);
      const held = mirror(homes[0]!, "held");
      await untilCommitIsHeld(database, t.signal);
      const becomingUrgent = new AbortController();
      const hurried = mirror(homes[1]!, "hurried", { becomesUrgent: becomingUrgent.signal });
      const waiting = mirror(homes[2]!, "waiting");
      while ((await store.health()).waiting < 2) await nextTurn();
      becomingUrgent.abort();
      await Promise.all([hurried, mirror(homes[3]!, "urgent", { urgent: true })]);
      const meanwhile = await Promise.all(homes.map((home) => storedValue(store, home)));
      await database.sql("SELECT pg_advisory_unlock(1)");
      await Promise.all([held, waiting]);
      assert.deepEqual(meanwhile, [undefined, "hurried", undefined, "urgent"]);
    }),
  );

  it("goes on without a member whose body waits for something else", { timeout: 30_000 }, (t) =>
    onStore(postgresHarness, async (store) => {
      const homes = await linkedHomes(store, 2);
      const [begun, end] = [gate(), gate()];
      t.mock.timers.enable({ apis: ["setTimeout"] });
      let runs = 0;
      const hanging = await whileAGroupRuns(store, homes[0]!, () => [
        store.transaction(
          async (tx) => {
            await tx.users.lock(homes[0]!.userId);
            runs += 1;
            begun.open();
            await end.opened;
          },
          { background: true, groupedBy: homes[0]!.userId },
        ),
        mirrorOn(store)(homes[1]!, "goes on"),
      ]);
      await begun.opened;
      t.mock.timers.tick(5_000);
      t.mock.timers.reset();
      await hanging[1];
      assert.equal(await storedValue(store, homes[1]!), "goes on");
      end.open();
      await hanging[0];
      assert.equal(runs, 2);
    }),
  );

  it("of two nodes with the same accounts never deadlocks, and no reader misses an entry", { timeout: 60_000 }, () =>
    onDatabase(postgresHarness, async (database) => {
      const nodes = [await database.open(), await database.open()] as const;
      const homes = await linkedHomes(nodes[0], 8);
      const rounds = 12;
      const work = nodes.map(async (store, index) => {
        const mirror = mirrorOn(store);
        const order = index === 0 ? homes : homes.toReversed();
        let changed = 0;
        for (let round = 0; round < rounds; round++) {
          const commits = await Promise.all(order.map((home) => mirror(home, `${index} ${round}`)));
          changed += commits.flat().length;
          if (round % 4 === 3) await store.transaction(keep(`${index} ${round}`));
        }
        return changed;
      });
      const isOver = Promise.all(work).then((changed) => changed.reduce((a, b) => a + b));
      const seen: { readonly position: LogPosition; readonly deviceId: number; readonly timeMs: number }[] = [];
      let expected: number | undefined;
      void isOver.then((changed) => {
        expected = changed;
      });
      for (let after = logStart; expected === undefined || seen.length < expected; ) {
        const page = await nodes[1].read((tx) => tx.log.tail(after, 5));
        for (const { position, deviceId, timeMs } of page) seen.push({ position, deviceId: deviceId!, timeMs });
        after = page.at(-1)?.position ?? after;
      }
      assert.equal(await isOver, 2 * rounds * homes.length);
      assert.ok(seen.every(({ position }, i) => i === 0 || comparePositions(seen[i - 1]!.position, position) < 0));
      for (const some of Map.groupBy(seen, ({ deviceId }) => deviceId).values()) {
        assert.ok(some.every(({ timeMs }, i) => i === 0 || timeMs > some[i - 1]!.timeMs));
      }
      // A session reports its counters at its end.
      for (const store of nodes) await store.close();
      const [counted] = await database.sql<{ deadlocks: string }>(
        "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
      );
      assert.equal(Number(counted!.deadlocks), 0);
    }),
  );
});

/** The COMMIT of a transaction that logs a change of this home waits for the test's advisory lock. */
async function holdCommitsOf(database: TestDatabase, { userId }: LinkedHome): Promise<void> {
  await database.sql(`CREATE FUNCTION hold_commit() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$`);
  await database.sql(`CREATE CONSTRAINT TRIGGER hold_commit AFTER INSERT ON log DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.user_id = ${userId}) EXECUTE FUNCTION hold_commit()`);
  await database.sql("SELECT pg_advisory_lock(1)");
}

async function untilCommitIsHeld(database: TestDatabase, signal: AbortSignal): Promise<void> {
  const waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
  while (!signal.aborted && (await database.sql(waiting)).length === 0);
}
