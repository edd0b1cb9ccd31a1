import assert from "node:assert/strict";
import { it } from "node:test";
import type { OpenStore } from "../../../src/store/seam.ts";
import type { LogEntry } from "../../../src/store/tables/log.ts";
import { comparePositions, type LogPosition, logStart } from "../../../src/store/tables/log-position.ts";
import type { RecentFilter } from "../../../src/store/tables/recent-log.ts";
import { onDatabase, onStore, type StoreHarness } from "./harness.ts";
import { gate, type Home, makeHome } from "./home.ts";

export function logTailCases(harness: StoreHarness): void {
  it("returns entries in the order of appending, in pages, each once", { timeout: 30_000 }, (t) =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const entries = ["a", "b", "c", "d", "e"].map((body) => entryOf(home, body));
      await store.transaction(async (tx) => {
        await tx.log.append(entries[0]!);
        await tx.log.appendAll(entries.slice(1));
        await tx.log.appendAll([]);
        await tx.log.append({ ...entryOf(home, "of no device"), deviceId: null, kind: "revocation" });
      });
      const reader = new TailReader(store, 2);
      await reader.until(6, t.signal);
      assert.deepEqual(
        reader.seen.map(({ body }) => body),
        ["a", "b", "c", "d", "e", "of no device"],
      );
      assert.deepEqual(await store.read((tx) => tx.log.ofDevice(home.userId, home.devices[0]!)), entries);
      await reader.look();
      assert.equal(reader.seen.length, 6);
    }),
  );

  it("hides nothing as long as it has no entries", () =>
    onStore(harness, async (store) => assert.equal(await store.read((tx) => tx.log.hiddenForMs()), 0)));

  it("is read backwards, by tenant and user, without looking at more than it is told to", () =>
    onStore(harness, async (store) => {
      const [home, other] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
      await store.transaction(async (tx) => {
        await tx.log.appendAll([entryOf(home, "a"), entryOf(other, "b"), entryOf(home, "c".repeat(3_000))]);
        await tx.log.append({ ...entryOf(home, "of nobody"), userId: null, deviceId: null, kind: "revocation" });
        await tx.log.append(entryOf(other, "d"));
      });
      const read = async (filter: RecentFilter, looks: number, before?: LogPosition) => {
        const { entries, lookedAt } = await store.read((tx) => tx.recentLog.before(before, filter, looks));
        return { found: entries.map(({ body }) => body[0]), place: lookedAt?.position, entries };
      };
      const all = await read({}, 10);
      assert.deepEqual([all.found, all.place], [["d", "c", "b", "a"], undefined]);
      assert.deepEqual(
        all.entries.map(({ userId, tenantId }) => [userId, tenantId]),
        [other, home, other, home].map(({ userId }) => [userId, home.tenantId]),
      );
      assert.equal(all.entries[1]!.body.length, 3_000);
      assert.deepEqual((await read({ userId: home.userId }, 10)).found, ["c", "a"]);
      assert.deepEqual((await read({ tenantIds: [home.tenantId] }, 10)).found, ["d", "c", "b", "a"]);
      assert.deepEqual((await read({ tenantIds: [] }, 10)).found, []);
      const first = await read({ userId: home.userId }, 2);
      assert.deepEqual(first.found, [], "the newest two are of another user and of nobody");
      const second = await read({ userId: home.userId }, 2, first.place);
      assert.deepEqual(second.found, ["c"]);
      assert.deepEqual((await read({ userId: home.userId }, 2, second.place)).found, ["a"]);
    }));

  it("returns the changes of a device in pages that never end between two entries of one time", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const entries = [10, 20, 20, 20, 30].map((timeMs, index) => ({ ...entryOf(home, `${index}`), timeMs }));
      await store.transaction((tx) => tx.log.appendAll(entries));
      const page = async (fromMs: number, limit: number) => {
        const range = { fromMs, toMs: 99 };
        const found = await store.read((tx) => tx.log.changes(home.userId, home.devices[0]!, range, limit));
        return found.map(({ body }) => body);
      };
      assert.deepEqual(await page(0, 1), ["0"]);
      assert.deepEqual(await page(0, 2), ["0", "1", "2", "3"]);
      assert.deepEqual(await page(20, 3), ["1", "2", "3"]);
      assert.deepEqual(await page(0, 5), ["0", "1", "2", "3", "4"]);
    }));

  it("returns large entries as they were appended, which SQLite compresses", () =>
    onStore(harness, async (store, database) => {
      const home = await makeHome(store);
      const [deviceId] = home.devices;
      const bodies = [1_999, 2_000, 100_000].map((length) => `{"é\u2028":"${"x".repeat(length - 9)}"}`);
      const entries = bodies.map((body) => entryOf(home, body));
      const revocation = { ...entryOf(home, bodies[2]!), deviceId: null, kind: "revocation" as const };
      await store.transaction(async (tx) => {
        for (const entry of [...entries, revocation]) await tx.log.append(entry);
      });
      const read = await store.read(async (tx) => ({
        tail: (await tx.log.tail(logStart, 10)).map(({ body }) => body),
        ofDevice: await tx.log.ofDevice(home.userId, deviceId!),
        changes: await tx.log.changes(home.userId, deviceId!, { fromMs: 0, toMs: 2 ** 52 }, 10),
        revocations: await tx.log.revocations(logStart, 10),
      }));
      assert.deepEqual(read, {
        tail: [...bodies, bodies[2]],
        ofDevice: entries,
        changes: entries,
        revocations: [bodies[2]],
      });
      if (store.isShared) return;
      const stored = await database.sql<{ bytes: number }>("SELECT octet_length(body) AS bytes FROM log ORDER BY id");
      assert.deepEqual(
        stored.map(({ bytes }) => bytes < 1_000),
        [false, true, true, true],
      );
      await assert.rejects(store.transaction((tx) => tx.log.append(entryOf(home, "\0".repeat(3_000)))));
    }));

  it("knows its end, and its horizon after retention has removed old entries", { timeout: 30_000 }, (t) =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const append = (...timesMs: number[]) =>
        store.transaction(async (tx) => {
          for (const timeMs of timesMs) await tx.log.append({ ...entryOf(home, String(timeMs)), timeMs });
        });
      const end = await store.read((tx) => tx.log.end());
      // An entry of a clock that ran ahead does not delay retention.
      await append(1, 2, 9_000, 3);
      await append(4, 5, 6);
      const reader = new TailReader(store, 10);
      await reader.until(7, t.signal);
      const all = await store.read((tx) => tx.log.tail(end, 10));
      assert.deepEqual(
        all.map(({ timeMs }) => timeMs),
        [1, 2, 9_000, 3, 4, 5, 6],
      );
      assert.ok(comparePositions(all.at(-1)!.position, await store.read((tx) => tx.log.end())) <= 0);
      assert.deepEqual(await store.read((tx) => tx.log.horizon()), logStart);

      const removals: number[] = [];
      for (let i = 0; i < 3; i++) removals.push(await store.transaction((tx) => tx.log.removeOlder(5, 4)));
      assert.deepEqual(removals, [4, 1, 0]);
      assert.deepEqual(await store.read((tx) => tx.log.horizon()), all[4]!.position);
      const left = await store.read((tx) => tx.log.tail(logStart, 10));
      assert.deepEqual(
        left.map(({ timeMs }) => timeMs),
        [5, 6],
      );
      const changes = (fromMs: number, toMs: number, limit: number) =>
        store.read((tx) => tx.log.changes(home.userId, home.devices[0]!, { fromMs, toMs }, limit));
      assert.deepEqual(
        (await changes(5, 6, 10)).map(({ body }) => body),
        ["5"],
      );
      assert.equal((await changes(0, 100, 1)).length, 1);
      assert.equal((await changes(7, 100, 10)).length, 0);
    }),
  );

  it("removes old entries behind many of a clock that ran ahead", { timeout: 30_000 }, () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const nowMs = await store.read((tx) => tx.clock.nowMs());
      const append = (count: number, timeMs: number) => {
        const entries = Array.from({ length: count }, (_, i) => ({ ...entryOf(home, "x"), timeMs: timeMs + i }));
        return store.transaction((tx) => tx.log.appendAll(entries));
      };
      const yearMs = 365 * 86_400_000;
      const removed = async () => {
        const removals: number[] = [];
        for (let i = 0; i < 3; i++)
          removals.push(await store.transaction((tx) => tx.log.removeOlder(nowMs - 1_000, 10)));
        return removals;
      };
      await append(20, nowMs + yearMs);
      assert.deepEqual(await removed(), [0, 0, 0], "their age is unknown");
      await append(5, nowMs - 500);
      assert.deepEqual(await removed(), [0, 0, 0], "what follows is not old enough");
      await append(20, nowMs + yearMs);
      await store.transaction((tx) => tx.log.removeOfDevice(home.userId, home.devices[0]!));
      await append(20, nowMs + yearMs);
      await append(5, nowMs - 5_000);
      await append(1, nowMs);
      assert.deepEqual(await removed(), [10, 10, 5]);
      assert.equal((await store.read((tx) => tx.log.tail(logStart, 10))).length, 1);
    }),
  );

  it("removes a long history of a device in slices, and shows none of it meanwhile", { timeout: 30_000 }, (t) =>
    onStore(harness, async (store, database) => {
      const [home, other] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
      const { userId } = home;
      const deviceId = home.devices[0]!;
      const long = Array.from({ length: 2_700 }, (_, timeMs) => ({ ...entryOf(home, "x"), timeMs }));
      await store.transaction((tx) => tx.log.appendAll([...long, entryOf(other, "of Bob")]));
      const removed = await store.transaction(async (tx) => {
        const removed = await tx.log.removeOfDevice(userId, deviceId);
        await tx.devices.remove(userId, deviceId);
        await tx.log.append({ ...entryOf(home, "removed"), kind: "device" });
        return removed;
      });
      assert.equal(removed, 2_000);
      const reader = new TailReader(store, 1_000);
      await reader.until(2, t.signal);
      assert.deepEqual(
        reader.seen.map(({ body }) => body),
        ["of Bob", "removed"],
      );
      await store.read(async (tx) => {
        assert.deepEqual(await tx.log.changes(userId, deviceId, { fromMs: 0, toMs: 9_999 }, 9), []);
        assert.deepEqual(
          (await tx.log.ofDevice(userId, deviceId)).map(({ body }) => body),
          ["removed"],
        );
      });
      const rows = async () => (await database.sql("SELECT id FROM log")).length;
      assert.equal(await rows(), 702);
      const slices: number[] = [];
      for (let i = 0; i < 3; i++) slices.push(await store.transaction((tx) => tx.log.removeOlder(0, 500)));
      assert.deepEqual([slices, await rows()], [[500, 200, 0], 2]);
      assert.deepEqual(await database.sql("SELECT * FROM removed_histories"), []);
      assert.deepEqual(await store.read((tx) => tx.log.horizon()), logStart);
    }),
  );

  it("removes a user with what is left of long histories", () =>
    onStore(harness, async (store, database) => {
      const home = await makeHome(store);
      const long = Array.from({ length: 2_001 }, (_, timeMs) => ({ ...entryOf(home, "x"), timeMs }));
      await store.transaction((tx) => tx.log.appendAll(long));
      await store.transaction((tx) => tx.log.removeOfDevice(home.userId, home.devices[0]!));
      assert.equal((await database.sql("SELECT * FROM removed_histories")).length, 1);
      assert.equal(await store.transaction((tx) => tx.log.removeOfUser(home.userId)), 1);
      assert.deepEqual(await database.sql("SELECT * FROM removed_histories"), []);
    }));

  it("never skips and never repeats an entry of 8 concurrent writers", { timeout: 60_000 }, (t) =>
    onDatabase(harness, async (database) => {
      const stores =
        harness.kind === "postgres" ? [await database.open(), await database.open()] : [await database.open()];
      const home = await makeHome(stores[0]!);
      const perWriter = 60;
      const reader = new TailReader(stores.at(-1)!, 50);
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        for (let i = 0; i < perWriter; i++) {
          const store = stores[writer % stores.length]!;
          await store.transaction((tx) => tx.log.append(entryOf(home, `${writer} ${i}`)));
        }
      });
      await Promise.all([...writers, reader.until(8 * perWriter, t.signal)]);
      await reader.look();
      assert.equal(new Set(reader.seen.map(({ body }) => body)).size, 8 * perWriter);
      assert.equal(reader.seen.length, 8 * perWriter);
      for (let writer = 0; writer < 8; writer++) {
        const own = reader.seen.filter(({ body }) => body.startsWith(`${writer} `)).map(({ body }) => body);
        assert.deepEqual(
          own,
          Array.from({ length: perWriter }, (_, i) => `${writer} ${i}`),
        );
      }
    }),
  );

  if (harness.kind === "postgres") {
    it("waits for a transaction that began early and ends late", { timeout: 30_000 }, (t) =>
      onStore(harness, async (store) => {
        const home = await makeHome(store);
        const [appended, end] = [gate(), gate()];
        const late = store.transaction(async (tx) => {
          await tx.log.append(entryOf(home, "early, ends late"));
          appended.open();
          await end.opened;
        });
        await appended.opened;
        const reader = new TailReader(store, 3);
        try {
          for (let i = 0; i < 5; i++) {
            await store.transaction((tx) => tx.log.append(entryOf(home, `meanwhile ${i}`)));
            await reader.look();
          }
        } finally {
          end.open();
        }
        await late;
        await reader.until(6, t.signal);
        assert.equal(new Set(reader.seen.map(({ body }) => body)).size, 6);
      }),
    );

    it("keeps the order of a user's entries when a transaction over several users waits", { timeout: 30_000 }, (t) =>
      onStore(harness, async (store, database) => {
        const homes: Home[] = [];
        for (const name of ["Ada", "Bob", "Cleo"]) homes.push(await makeHome(store, { name }));
        const [ada, bob, cleo] = homes as [Home, Home, Home];
        const { isHeld, release } = lockedBy(store, bob);
        await isHeld;
        // It has Ada's lock, so it has its transaction id, and waits for Bob's.
        const batch = store.transaction(async (tx) => {
          const ids = homes.map(({ userId }) => userId);
          await tx.users.lockOfTenant(ada.tenantId, ids);
          await tx.log.append(entryOf(cleo, "new"));
          await tx.log.appendAll([entryOf(ada, "new"), entryOf(cleo, "newest")]);
        });
        const waiting = `SELECT 1 FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FROM users%'`;
        while ((await database.sql(waiting)).length === 0) t.signal.throwIfAborted();
        await appendLocked(store, cleo, "old");
        release();
        await batch;
        const reader = new TailReader(store, 10);
        await reader.until(4, t.signal);
        assert.deepEqual(bodiesOf(reader, cleo), ["old", "new", "newest"]);
        await appendLocked(store, cleo, "last");
        await reader.until(5, t.signal);
        assert.deepEqual(bodiesOf(reader, cleo), ["old", "new", "newest", "last"]);
      }),
    );

    it("keeps the order of a user's entries when a member of a group locks its user late", { timeout: 30_000 }, (t) =>
      onStore(harness, async (store) => {
        const [ada, cleo] = [await makeHome(store), await makeHome(store, { name: "Cleo" })];
        const [hasId, isOver] = [gate(), gate()];
        const first = store.transaction(
          async (tx) => {
            await tx.users.lock(ada.userId);
            hasId.open();
            await tx.log.append(entryOf(ada, "of Ada"));
          },
          { groupedBy: ada.userId },
        );
        let runs = 0;
        const late = store.transaction(
          async (tx) => {
            runs += 1;
            await isOver.opened;
            await tx.users.lock(cleo.userId);
            await tx.log.append(entryOf(cleo, "new"));
          },
          { groupedBy: cleo.userId },
        );
        await hasId.opened;
        await appendLocked(store, cleo, "old");
        isOver.open();
        await Promise.all([first, late]);
        assert.equal(runs, 1, "it stayed in the group");
        const reader = new TailReader(store, 10);
        await reader.until(3, t.signal);
        assert.deepEqual(bodiesOf(reader, cleo), ["old", "new"]);
      }),
    );
  }
}

/** Follows the log as a node does, from the last position it has read. */
class TailReader {
  readonly seen: LogEntry[] = [];
  readonly #store: OpenStore;
  readonly #limit: number;
  #after = logStart;

  constructor(store: OpenStore, limit: number) {
    this.#store = store;
    this.#limit = limit;
  }

  async look(): Promise<void> {
    for (const { position, ...entry } of await this.#store.read((tx) => tx.log.tail(this.#after, this.#limit))) {
      this.seen.push(entry);
      this.#after = position;
    }
  }

  async until(count: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.seen.length < count) {
      await this.look();
      // The writers run in this process too and need the event loop.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

function entryOf({ userId, devices }: Home, body: string): LogEntry {
  return { userId, deviceId: devices[0]!, kind: "attribute", timeMs: 1_000, body };
}

/** Holds the user's lock until `release`. */
function lockedBy(store: OpenStore, { userId }: Home) {
  const [held, free] = [gate(), gate()];
  const ended = store.transaction(async (tx) => {
    await tx.users.lock(userId);
    held.open();
    await free.opened;
  });
  return { isHeld: Promise.race([held.opened, ended]), release: free.open };
}

function appendLocked(store: OpenStore, home: Home, body: string): Promise<void> {
  return store.transaction(async (tx) => {
    await tx.users.lock(home.userId);
    await tx.log.append(entryOf(home, body));
  });
}

function bodiesOf({ seen }: TailReader, { userId }: Home): readonly string[] {
  return seen.filter((entry) => entry.userId === userId).map(({ body }) => body);
}
