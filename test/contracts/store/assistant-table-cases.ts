import assert from "node:assert/strict";
import { it } from "node:test";
import type { DeviceId, TenantId, UserId } from "../../../src/model/ids.ts";
import type { OpenStore } from "../../../src/store/seam.ts";
import type { AssistantGrantKey, ClaimedGrant } from "../../../src/store/tables/assistant-grants.ts";
import type { AssistantMark } from "../../../src/store/tables/assistant-marks.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { type Home, makeHome, plain } from "./home.ts";

export const outletId = "bwo_1";

/** Outlets to assistants, their users, and what these have to be told. */
export function assistantTableCases(harness: StoreHarness): void {
  it("store outlets of a tenant, which live as long as their client", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const outlet = await outletOf(store, home);
      await store.read(async (tx) => {
        assert.deepEqual((await tx.assistantOutlets.list()).map(plain), [outlet]);
        assert.deepEqual((await tx.assistantOutlets.list(home.tenantId)).map(plain), [outlet]);
        assert.deepEqual(await tx.assistantOutlets.list((home.tenantId + 1) as TenantId), []);
        assert.deepEqual(plain(await tx.assistantOutlets.byId(outletId)), outlet);
        assert.deepEqual(plain(await tx.assistantOutlets.ofClient("client")), outlet);
        assert.equal(await tx.assistantOutlets.ofClient("another"), undefined);
        assert.equal(await tx.assistantOutlets.byId("\0"), undefined);
      });
      assert.equal(await store.transaction((tx) => tx.assistantOutlets.removeDead()), 0);
      await store.transaction((tx) => tx.clients.remove("client"));
      assert.deepEqual(await store.read((tx) => tx.assistantOutlets.list()), []);
      assert.equal(await store.transaction((tx) => tx.assistantOutlets.removeDead()), 1);
      assert.equal(await store.transaction((tx) => tx.assistantOutlets.removeDead()), 0);
    }));

  it("store the users of an outlet, who are its users as long as its client has their grant", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const key = await grantOf(store, home);
      const found = () => store.read((tx) => tx.assistantGrants.find(key));
      assert.deepEqual(
        { ...(await found()), sinceMs: 0 },
        {
          ...key,
          clientId: "client",
          agentUserId: "agent",
          sealedCredential: null,
          region: null,
          sinceMs: 0,
          staleDevices: [],
          omitted: null,
          dueMs: null,
          claim: 0,
          attempts: 0,
          problem: null,
          reportedMs: null,
          suspended: null,
        },
      );
      const again = { ...key, clientId: "client", agentUserId: "agent", sealedCredential: "v1.key.iv.a", region: "eu" };
      assert.equal(await store.transaction((tx) => tx.assistantGrants.put(again)), false);
      assert.deepEqual([(await found())?.sealedCredential, (await found())?.region], ["v1.key.iv.a", "eu"]);
      await store.transaction(async (tx) => {
        assert.equal(await tx.assistantGrants.replaceCredential(key, "v1.key.iv.b", "v1.key.iv.c"), false);
        assert.equal(await tx.assistantGrants.replaceCredential(key, "v1.key.iv.a", "v1.key.iv.c"), true);
        assert.equal(await tx.assistantGrants.countOfOutlet(outletId), 1);
        assert.deepEqual((await tx.assistantGrants.ofUsers([home.userId])).length, 1);
        assert.deepEqual((await tx.assistantGrants.page(undefined, 10)).length, 1);
        assert.deepEqual(await tx.assistantGrants.page(key, 10), []);
      });
      const [grant] = await store.read((tx) => tx.grants.ofUser(home.userId));
      await store.transaction((tx) => tx.grants.remove(grant!));
      assert.equal(await found(), undefined);
      assert.equal(await store.transaction((tx) => tx.assistantGrants.countOfOutlet(outletId)), 0);
      assert.equal(await store.transaction((tx) => tx.assistantGrants.removeDead(10)), 1);
      assert.equal(await store.read((tx) => tx.assistantGrants.isAny()), false);
      assert.equal(await store.transaction((tx) => tx.assistantGrants.put(again)), true, "it is a new one");
    }));

  it("mark every user of every outlet once for all their things, and make each due at once", () =>
    onStore(harness, async (store) => {
      const keys = [];
      for (const name of ["Ada", "Bob", "Eve"]) keys.push(await grantOf(store, await makeHome(store, { name })));
      const [idle, later, urgent] = keys as [AssistantGrantKey, AssistantGrantKey, AssistantGrantKey];
      await store.transaction(async (tx) => {
        await tx.assistantGrants.wakeAt(later, 900);
        await tx.assistantGrants.wakeAt(urgent, 5);
        for (const nowMs of [50, 60]) await tx.assistantMarks.addToAll(nowMs);
        for (const [key, dueMs] of [
          [idle, 50],
          [later, 50],
          [urgent, 5],
        ] as const) {
          assert.equal((await tx.assistantGrants.find(key))?.dueMs, dueMs);
          assert.equal(await tx.assistantMarks.count(key), 1);
          const mark = await tx.assistantMarks.find(key, "");
          assert.deepEqual([mark?.version, mark?.sinceMs, mark?.stateMs, mark?.syncMs], [2, 50, 60, 60]);
        }
      });
    }));

  it("leaves a grant whose last attempt failed to its back-off, except for an emergency and a resume", () =>
    onStore(harness, async (store) => {
      const key = await grantOf(store, await makeHome(store));
      const dueMs = () => store.read(async (tx) => (await tx.assistantGrants.find(key))?.dueMs);
      const wake = (at: number) => store.transaction((tx) => tx.assistantGrants.wakeAt(key, at));
      const failAt = (retryMs: number) =>
        store.transaction(async (tx) => {
          const claimed = await tx.assistantGrants.claim(key, 1_000, 1_000);
          const after = { attempts: 1, problem: "429", reportedMs: null, staleDevices: [] };
          assert.ok(await tx.assistantGrants.release(claimed!, { ...after, retryMs }));
        });
      await wake(100);
      await failAt(900);
      await wake(200);
      assert.equal(await dueMs(), 900);
      await store.transaction((tx) => tx.assistantGrants.wakeResumed(key, 300));
      assert.equal(await dueMs(), 300);
      await failAt(900);
      await wake(0);
      assert.equal(await dueMs(), 0);
    }));

  it("tell since when the oldest report of an outlet waits, but not one that is due later or suspended", () =>
    onStore(harness, async (store) => {
      const [ada, bob] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
      const [first, second] = [await grantOf(store, ada), await grantOf(store, bob)];
      const since = (nowMs: number, id = outletId) => store.read((tx) => tx.assistantGrants.waitingSinceMs(id, nowMs));
      assert.equal(await since(10_000), null);
      await store.transaction(async (tx) => {
        await tx.assistantMarks.add({ ...first, thingId: "t_1", sinceMs: 100, stateMs: 5_000 }, 100);
        await tx.assistantGrants.wakeAt(first, 5_000);
        await tx.assistantMarks.add({ ...second, thingId: "t_2", stateMs: 2_000 }, 2_000);
        await tx.assistantMarks.add({ ...second, thingId: "t_3", stateMs: 3_000 }, 3_000);
        await tx.assistantGrants.wakeAt(second, 2_000);
      });
      assert.deepEqual(
        [await since(1_999), await since(2_000), await since(9_000), await since(9_000, "bwo_other")],
        [null, 2_000, 2_000, null],
      );
      await store.transaction((tx) => tx.users.setSuspended(bob.userId, 1));
      assert.equal(await since(9_000), 5_000);
    }));

  it("count the outcomes of the newest attempts of an outlet", () =>
    onStore(harness, async (store) => {
      const key = await grantOf(store, await makeHome(store));
      const attempt = { ...key, type: "report", thingIds: [], things: 0 };
      const outcomes = (limit: number) => store.read((tx) => tx.assistantDeliveries.outcomes(outletId, limit));
      await store.transaction(async (tx) => {
        for (const status of [500, 503, 503]) {
          const failed = { outcome: "retry", status, text: `answered ${status}` } as const;
          await tx.assistantDeliveries.add({ ...attempt, ...failed }, 100);
        }
        await tx.assistantDeliveries.add({ ...attempt, outcome: "taken", status: 200, text: null }, 100);
      });
      const counts = (found: Awaited<ReturnType<typeof outcomes>>) =>
        found.map(({ status, count }) => `${count} of ${status}`).sort();
      assert.deepEqual(counts(await outcomes(100)), ["1 of 200", "1 of 500", "2 of 503"]);
      assert.equal(
        (await outcomes(2)).reduce((sum, { count }) => sum + count, 0),
        2,
      );
      assert.deepEqual(await store.read((tx) => tx.assistantDeliveries.outcomes("bwo_other", 100)), []);
    }));

  it("does not count a grant of another scope, or of a tenant, as the user's link", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const key = await grantOf(store, home, "alerts");
      assert.equal(await store.read((tx) => tx.assistantGrants.find(key)), undefined);
    }));

  it("let one sender claim a grant at a time, emergencies first", () =>
    onStore(harness, async (store) => {
      const [ada, bob] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
      const [first, second] = [await grantOf(store, ada), await grantOf(store, bob)];
      await store.transaction(async (tx) => {
        await tx.assistantGrants.wakeAt(first, 100);
        await tx.assistantGrants.wakeAt(second, 0);
        await tx.assistantGrants.wakeAt(first, 200);
      });
      const due = (nowMs: number) => store.read(async (tx) => (await tx.assistantGrants.due(nowMs, 10)).map(userOf));
      assert.deepEqual(await due(99), [bob.userId]);
      assert.deepEqual(await due(100), [bob.userId, ada.userId]);
      await store.read(async (tx) => {
        const except = (busy: readonly string[], full: readonly string[]) =>
          tx.assistantGrants.due(100, 10, { busy, full });
        assert.deepEqual((await except([outletId], [])).map(userOf), [bob.userId], "the other is no emergency");
        assert.deepEqual(await except([], [outletId]), []);
        assert.equal((await except(["another"], ["another"])).length, 2);
      });
      const claim = (nowMs: number) => store.transaction((tx) => tx.assistantGrants.claim(first, nowMs, nowMs + 30));
      assert.equal(await claim(99), undefined, "it is not due");
      const claimed = await claim(100);
      assert.equal(claimed?.claim, 1);
      assert.deepEqual(await due(110), [bob.userId]);
      assert.equal(await claim(110), undefined, "another sender has it");
      const later = await claim(130);
      assert.equal(later?.claim, 2);
      const prolong = (grant: ClaimedGrant, untilMs: number) =>
        store.transaction((tx) => tx.assistantGrants.prolong(grant, untilMs));
      assert.equal(await prolong(claimed!, 900), false, "another sender has claimed it since");
      assert.equal(await prolong(later!, 180), true);
      assert.equal(await claim(179), undefined);
      const progress = { attempts: 0, problem: null, reportedMs: 140, staleDevices: [7 as DeviceId] };
      await store.transaction(async (tx) => {
        assert.equal(await tx.assistantGrants.holds(claimed!), false);
        assert.equal(await tx.assistantGrants.release(claimed!, progress), false);
        assert.equal(await tx.assistantGrants.holds(later!), true);
        assert.equal(await tx.assistantGrants.release(later!, { ...progress, retryMs: 500, problem: "down" }), true);
      });
      const { dueMs, problem, staleDevices } = (await store.read((tx) => tx.assistantGrants.find(first)))!;
      assert.deepEqual([dueMs, problem, staleDevices], [500, "down", [7]]);
    }));

  it("find an emergency whose attempts fail before other grants, also of a busy outlet", () =>
    onStore(harness, async (store) => {
      const [ada, bob] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
      const [ordinary, failed] = [await grantOf(store, ada), await grantOf(store, bob)];
      await store.transaction(async (tx) => {
        await tx.assistantMarks.add({ ...ordinary, thingId: "t_a", stateMs: 1 }, 1);
        await tx.assistantGrants.wakeAt(ordinary, 1);
        await tx.assistantMarks.add({ ...failed, thingId: "t_b", stateMs: 1, isUrgent: true }, 1);
        await tx.assistantGrants.wakeAt(failed, 0);
        const claimed = await tx.assistantGrants.claim(failed, 2, 3);
        const after = { attempts: 1, problem: "503", reportedMs: null, staleDevices: [], retryMs: 100 };
        await tx.assistantGrants.release(claimed!, after);
      });
      const due = (nowMs: number, limit: number, busy: string[] = [], full: string[] = []) =>
        store.read(async (tx) =>
          (await tx.assistantGrants.due(nowMs, limit, { busy, full })).map((one) => [one.userId, one.isUrgent]),
        );
      assert.deepEqual(await due(99, 10), [[ada.userId, false]], "it waits after the failure");
      assert.deepEqual(await due(100, 1), [[bob.userId, true]]);
      assert.deepEqual(await due(100, 10), [
        [bob.userId, true],
        [ada.userId, false],
      ]);
      assert.deepEqual(await due(100, 10, [outletId]), [[bob.userId, true]]);
      assert.deepEqual(await due(100, 10, [], [outletId]), []);
    }));

  it("read the devices beyond the limit only with the grant itself, not in lists", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const key = await grantOf(store, home);
      await store.transaction(async (tx) => {
        await tx.assistantGrants.setOmitted(key, ["t_a"]);
        await tx.assistantGrants.wakeAt(key, 1);
        const lists = [
          await tx.assistantGrants.ofUsers([home.userId]),
          await tx.assistantGrants.ofOutlet(outletId, 1),
          await tx.assistantGrants.page(undefined, 1),
          await tx.assistantGrants.due(1, 1),
          [(await tx.assistantGrants.lock(key))!],
        ];
        assert.deepEqual(
          lists.map((list) => list.map((grant) => "omitted" in grant)),
          lists.map(() => [false]),
        );
        assert.deepEqual((await tx.assistantGrants.find(key))?.omitted, ["t_a"]);
        assert.deepEqual((await tx.assistantGrants.claim(key, 1, 2))?.omitted, ["t_a"]);
      });
    }));

  it("leave no mark of a removed user that another transaction is adding", (t) =>
    onStore(harness, async (store, database) => {
      const key = await grantOf(store, await makeHome(store));
      const { promise: isAdded, resolve: added } = Promise.withResolvers<void>();
      const { promise: isRemoving, resolve: removing } = Promise.withResolvers<void>();
      const adding = store.transaction(async (tx) => {
        await tx.assistantGrants.lock(key);
        await tx.assistantMarks.add({ ...key, thingId: "t_a", stateMs: 1 }, 1);
        added();
        // SQLite runs one transaction after the other.
        if (harness.kind === "postgres") await isRemoving;
      });
      await isAdded;
      const removed = store.transaction((tx) => tx.assistantGrants.removeOfUser(key.userId));
      if (harness.kind === "postgres") {
        while ((await database.sql(waitingSql)).length === 0) t.signal.throwIfAborted();
        removing();
      }
      await Promise.all([adding, removed]);
      assert.equal(await store.read((tx) => tx.assistantMarks.count(key)), 0);
    }));

  it("add many marks of a grant at once, several of one thing too", () =>
    onStore(harness, async (store) => {
      const key = await grantOf(store, await makeHome(store));
      const rise = { trait: "smoke", state: "alarm", timeMs: 5 } as const;
      await store.transaction(async (tx) => {
        await tx.assistantMarks.add({ ...key, thingId: "t_a", stateMs: 20 }, 10);
        const marks = [
          { ...key, thingId: "t_a", stateMs: 30, syncMs: 900 },
          { ...key, thingId: "t_'b", stateMs: 40 },
          { ...key, thingId: "t_a", sinceMs: 5, stateMs: 15, isUrgent: true, rises: [rise] },
        ];
        const now = await tx.assistantMarks.addAll(marks, 11);
        const a = { ...key, thingId: "t_a", version: 3, sinceMs: 5, stateMs: 15, syncMs: 900, isUrgent: true };
        const b = { ...key, thingId: "t_'b", version: 1, sinceMs: 11, stateMs: 40, syncMs: null, isUrgent: false };
        const expected = [
          { ...a, rises: [rise] },
          { ...b, rises: [] },
        ];
        assert.deepEqual(now.map(plain), expected);
        assert.deepEqual((await tx.assistantMarks.due(key, 40, 10)).map(plain), expected);
        assert.deepEqual((await tx.assistantMarks.some(key, ["t_'b", "t_c"])).map(plain), expected.slice(1));
        assert.deepEqual(await tx.assistantMarks.addAll([], 12), []);
      });
    }));

  it("lock several grants, add marks to each, and make each due", () =>
    onStore(harness, async (store) => {
      const [ada, bob] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
      const [first, second] = [await grantOf(store, ada), await grantOf(store, bob)];
      const unknown = { ...first, outletId: "no such outlet" };
      await store.transaction(async (tx) => {
        const locked = await tx.assistantGrants.lockAll([second, unknown, first]);
        assert.deepEqual(
          locked.map(({ userId, outletId }) => ({ userId, outletId })),
          [first, second],
        );
        await tx.assistantMarks.add({ ...second, thingId: "t_a", stateMs: 20 }, 10);
        const marks = [
          { ...first, thingId: "t_a", stateMs: 30 },
          { ...second, thingId: "t_a", stateMs: 15 },
        ];
        await tx.assistantMarks.addAll(marks, 11);
        const stateMsOf = async (key: AssistantGrantKey) => (await tx.assistantMarks.find(key, "t_a"))?.stateMs;
        assert.deepEqual([await stateMsOf(first), await stateMsOf(second)], [30, 15]);
        await tx.assistantGrants.wakeEachAt([
          { ...first, dueMs: 700 },
          { ...second, dueMs: 600 },
        ]);
        await tx.assistantGrants.wakeEachAt([
          { ...first, dueMs: 500 },
          { ...second, dueMs: 900 },
        ]);
        const due = (await tx.assistantGrants.due(2_000, 10)).map(({ userId, dueMs }) => ({ userId, dueMs }));
        assert.deepEqual(due, [
          { userId: first.userId, dueMs: 500 },
          { userId: second.userId, dueMs: 600 },
        ]);
      });
    }));

  it("read all things that come or go, and remove what was sent of many", () =>
    onStore(harness, async (store) => {
      const key = await grantOf(store, await makeHome(store));
      await store.transaction(async (tx) => {
        const marks = [
          { thingId: "t_state", stateMs: 10 },
          { thingId: "t_new", stateMs: 10, syncMs: 10 },
          { thingId: "t_gone", syncMs: 10, isGone: true },
          { thingId: "t_leaving", stateMs: 10, syncMs: 900, isGone: true },
        ];
        await tx.assistantMarks.addAll(
          marks.map((mark) => ({ ...key, ...mark })),
          5,
        );
        const read = await tx.assistantMarks.dueSyncs(key, 10);
        assert.deepEqual(read.map(thingOf), ["t_gone", "t_new"]);
        assert.deepEqual(await tx.assistantMarks.dueSyncs(key, 9), []);
        assert.deepEqual(
          [await tx.assistantMarks.leaving(key, 10), await tx.assistantMarks.leaving(key, 900)],
          [["t_leaving"], []],
        );
        const [gone, added] = read as [AssistantMark, AssistantMark];
        await tx.assistantMarks.removeAllSent(key, [gone, added], ({ thingId }) => ({
          ...{ state: thingId === "t_gone", sync: true },
        }));
        assert.deepEqual((await tx.assistantMarks.due(key, 10, 10)).map(thingOf), ["t_leaving", "t_new", "t_state"]);
        assert.equal((await tx.assistantMarks.find(key, "t_new"))?.syncMs, null);
        await tx.assistantMarks.add({ ...key, thingId: "t_leaving", syncMs: 20, isBack: true }, 6);
        assert.equal((await tx.assistantMarks.find(key, "t_leaving"))?.sinceMs, 0, "it was known before");
        await tx.assistantMarks.removeAllSent(key, [], () => assert.fail("nothing was sent"));
      });
    }));

  it("keep one mark for each thing until it is told", () =>
    onStore(harness, async (store) => {
      const key = await grantOf(store, await makeHome(store));
      const rise = { trait: "smoke", state: "alarm", timeMs: 5 } as const;
      await store.transaction(async (tx) => {
        await tx.assistantMarks.add({ ...key, thingId: "t_a", stateMs: 20 }, 10);
        await tx.assistantMarks.add({ ...key, thingId: "t_a", stateMs: 15, syncMs: 900 }, 11);
        await tx.assistantMarks.add({ ...key, thingId: "t_b", stateMs: 20, isUrgent: true, rises: [rise] }, 12);
      });
      const due = (nowMs: number) => store.read((tx) => tx.assistantMarks.due(key, nowMs, 10));
      assert.deepEqual((await due(14)).map(thingOf), ["t_b"], "an emergency is due whatever its time");
      const [b, a] = await due(20);
      assert.deepEqual(plain(a), {
        ...key,
        thingId: "t_a",
        version: 2,
        sinceMs: 10,
        stateMs: 15,
        syncMs: 900,
        isUrgent: false,
        rises: [],
      });
      assert.deepEqual([b?.thingId, b?.isUrgent, b?.rises], ["t_b", true, [rise]]);
      assert.deepEqual(await store.transaction((tx) => tx.assistantMarks.find(key, "t_b")), b);
      assert.equal(await store.transaction((tx) => tx.assistantMarks.find(key, "t_c")), undefined);
      await store.transaction((tx) => tx.assistantMarks.removeSent(b!, { state: false, sync: true }));
      assert.deepEqual(
        await store.transaction((tx) => tx.assistantMarks.find(key, "t_b")),
        b,
        "its state is still to be told",
      );
      const another = { ...rise, timeMs: 6 };
      const notified = { ...rise, timeMs: 7 };
      await store.transaction(async (tx) => {
        await tx.assistantMarks.add({ ...key, thingId: "t_b", stateMs: 30, rises: [another, notified] }, 30);
        await tx.assistantMarks.removeSent(b!, { state: false, sync: false, rises: [notified] });
        await tx.assistantMarks.removeSent(a!, { state: true, sync: false });
        await tx.assistantMarks.removeSent(b!, { state: true, sync: false });
      });
      const left = await due(1_000);
      assert.deepEqual(left.map(thingOf), ["t_b", "t_a"], "one changed meanwhile, one is to be told as removed");
      assert.deepEqual(left[0]?.rises, [another]);
      assert.deepEqual([left[1]?.stateMs, left[1]?.syncMs], [900, 900], "its state is told again with it");
      await store.transaction(async (tx) => {
        await tx.assistantMarks.add({ ...key, thingId: "t_a", stateMs: 40, isBack: true }, 40);
      });
      const back = (await due(1_000)).find(({ thingId }) => thingId === "t_a");
      assert.deepEqual([back?.stateMs, back?.syncMs], [40, null]);
      await store.transaction(async (tx) => {
        await tx.assistantMarks.add({ ...key, thingId: "t_a", syncMs: 50 }, 50);
        await tx.assistantMarks.add({ ...key, thingId: "t_a", syncMs: 950, isGone: true }, 50);
      });
      const gone = (await due(1_000)).find(({ thingId }) => thingId === "t_a");
      assert.equal(gone?.syncMs, 950, "it is not told as removed when its new name was to be told");
      await store.transaction(async (tx) => {
        for (const mark of await tx.assistantMarks.due(key, 1_000, 10)) {
          await tx.assistantMarks.removeSent(mark, { state: true, sync: true });
        }
        assert.equal(await tx.assistantMarks.count(key), 0);
      });
    }));

  it("find an emergency whatever its time is, and shorten waits when the clock was set back", () =>
    onStore(harness, async (store) => {
      const key = await grantOf(store, await makeHome(store));
      const [nowMs, laterMs] = [1_000_000, 9_000_000];
      await store.transaction(async (tx) => {
        await tx.assistantMarks.add({ ...key, thingId: "t_urgent", stateMs: laterMs, isUrgent: true }, laterMs);
        await tx.assistantMarks.add({ ...key, thingId: "t_state", stateMs: laterMs }, laterMs);
        await tx.assistantMarks.add({ ...key, thingId: "t_gone", syncMs: laterMs, isGone: true }, laterMs);
        await tx.assistantMarks.add({ ...key, thingId: "t_soon", syncMs: nowMs + 60_000 }, nowMs);
        assert.deepEqual((await tx.assistantMarks.due(key, nowMs, 10)).map(thingOf), ["t_urgent"]);
        await tx.assistantGrants.wakeAt(key, 5);
        assert.deepEqual(
          (await tx.assistantGrants.due(nowMs, 10)).map(({ isUrgent }) => isUrgent),
          [true],
        );
        assert.ok(await tx.assistantGrants.claim(key, laterMs, laterMs));
        await tx.assistantGrants.correctTimes(nowMs);
        const due = async (atMs: number) => (await tx.assistantMarks.due(key, atMs, 10)).map(thingOf).toSorted();
        assert.deepEqual(await due(nowMs), ["t_state", "t_urgent"]);
        assert.deepEqual(await due(nowMs + 60_000), ["t_soon", "t_state", "t_urgent"]);
        assert.deepEqual(await due(nowMs + 20 * 60_000), ["t_gone", "t_soon", "t_state", "t_urgent"]);
        assert.deepEqual((await tx.assistantMarks.dueSyncs(key, nowMs + 20 * 60_000)).map(thingOf), [
          "t_gone",
          "t_soon",
        ]);
        assert.equal((await tx.assistantMarks.find(key, "t_state"))?.syncMs, null);
        assert.equal(await tx.assistantGrants.claim(key, nowMs, nowMs), undefined, "a node may still be sending");
        const claimed = await tx.assistantGrants.claim(key, nowMs + 60_000, nowMs + 60_000);
        const after = { attempts: 1, problem: "503", reportedMs: null, staleDevices: [], retryMs: laterMs };
        await tx.assistantGrants.release(claimed!, after);
        await tx.assistantGrants.correctTimes(nowMs);
        assert.equal((await tx.assistantGrants.find(key))?.dueMs, nowMs);
      });
    }));

  it("bound the alarms, replies and deliveries that they keep", () =>
    onStore(harness, async (store) => {
      const key = await grantOf(store, await makeHome(store));
      const { userId } = key;
      await store.transaction(async (tx) => {
        for (let timeMs = 0; timeMs < 12; timeMs++) {
          const rise = { trait: "smoke", state: "alarm", timeMs } as const;
          await tx.assistantMarks.add({ ...key, thingId: "t_a", stateMs: 0, rises: [rise] }, 0);
          const reply = { ...key, commandId: `c${timeMs}`, thingId: "t_a", reply: "{}", expiresMs: timeMs };
          await tx.assistantReplies.add(reply, 3);
          const delivery = { ...key, type: "report", thingIds: ["t_a"], things: 1, outcome: "taken" } as const;
          await tx.assistantDeliveries.add({ ...delivery, status: 200, text: null }, 3);
        }
      });
      await store.transaction(async (tx) => {
        const [mark] = await tx.assistantMarks.due(key, 0, 10);
        assert.deepEqual([mark?.rises.length, mark?.rises[0]?.timeMs], [10, 2]);
        const replies = await tx.assistantReplies.ofThings(key, ["t_a"]);
        assert.deepEqual(
          replies.map(({ commandId }) => commandId),
          ["c9", "c10", "c11"],
        );
        await tx.assistantReplies.remove({ ...key, commandId: "c9" });
        assert.equal((await tx.assistantReplies.ofThings(key, ["t_a"])).length, 2);
        assert.equal(await tx.assistantReplies.removeExpired(11, 10), 1);
        const shown = await tx.assistantDeliveries.newest(outletId, undefined, 10);
        assert.deepEqual(
          shown.map(({ id }) => id),
          [12, 11, 10],
        );
        assert.equal((await tx.assistantDeliveries.newest(outletId, (userId + 1) as UserId, 10)).length, 0);
        assert.equal((await tx.assistantDeliveries.newest(outletId, userId, 1)).length, 1);
        assert.equal(await tx.assistantDeliveries.removeOlder(Number.MAX_SAFE_INTEGER, 2), 2);
      });
      assert.equal(await store.transaction((tx) => tx.assistantGrants.remove(key)), true);
      await store.transaction(async (tx) => {
        assert.equal(await tx.assistantMarks.count(key), 0);
        assert.deepEqual(await tx.assistantReplies.ofThings(key, ["t_a"]), []);
        await tx.assistantGrants.removeOfUser(userId);
        assert.deepEqual(await tx.assistantDeliveries.newest(outletId, undefined, 10), []);
      });
    }));

  it("keep the position of the feed", () =>
    onStore(harness, async (store) => {
      const position = { transaction: 3, id: 4, epoch: "e", sweptMs: 5, urgent: { transaction: 6, id: 7 } };
      await store.transaction((tx) => tx.assistantMarks.setFeed(position));
      assert.deepEqual(plain(await store.transaction((tx) => tx.assistantMarks.lockFeed())), position);
    }));
}

const userOf = ({ userId }: { readonly userId: UserId }) => userId;
const thingOf = ({ thingId }: { readonly thingId: string }) => thingId;

/** The transactions of this PostgreSQL database that wait for another one. */
const waitingSql = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

async function outletOf(store: OpenStore, { tenantId }: Home) {
  return store.transaction(async (tx) => {
    const known = await tx.assistantOutlets.byId(outletId);
    if (known) return plain(known);
    await tx.clients.add({
      id: "client",
      tenantId,
      name: "Assistant",
      kind: "user",
      redirectUris: ["https://assistant.example/back"],
      requiresPkce: false,
      returnUrls: [],
      vouchesForUsers: false,
      secrets: [],
    });
    const outlet = {
      id: outletId,
      tenantId,
      kind: "google-home",
      clientId: "client",
      sealedSettings: "v1.key.iv.body",
    };
    return tx.assistantOutlets.add(outlet);
  });
}

/** A user who has linked the outlet. */
export async function grantOf(store: OpenStore, home: Home, scope = "devices:read devices:control") {
  await outletOf(store, home);
  const { userId, tenantId } = home;
  const key = { userId, outletId };
  await store.transaction(async (tx) => {
    await tx.grants.add({ id: `grant of ${userId}`, tenantId, userId, clientId: "client", covers: "user", scope });
    await tx.assistantGrants.put({ ...key, clientId: "client", agentUserId: "agent" });
  });
  return key;
}
