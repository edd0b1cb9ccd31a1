import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AlertTables, alertsOn } from "../../src/alerts/alerts.ts";
import { Chain } from "../../src/alerts/chain.ts";
import { MatchTurns } from "../../src/alerts/match-turns.ts";
import { type Judgement, Matching } from "../../src/alerts/matching.ts";
import type { PatternWork } from "../../src/alerts/pattern-cache.ts";
import { Patterns } from "../../src/alerts/patterns.ts";
import { inAttempts } from "../../src/devices/attempts.ts";
import { type CommitRequest, commitOn } from "../../src/devices/commit.ts";
import { commitGroupOn } from "../../src/devices/commit-group.ts";
import { deviceWriting } from "../../src/devices/write.ts";
import { type LimitReached, PatternsUnavailable } from "../../src/model/errors.ts";
import type { TenantId, UserId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import type { OpenStore, Store } from "../../src/store/seam.ts";
import { onStore } from "../contracts/store/harness.ts";
import { silent } from "../contracts/store/home.ts";
import { harnesses } from "../devices/limited-home.ts";
import { madeAlerts, target } from "./made-alerts.ts";
import { watchedWork } from "./made-matching.ts";

/** The thread waits until the test releases it. */
function heldWork() {
  const held = Promise.withResolvers<void>();
  const begun: string[] = [];
  const { patternWork } = watchedWork();
  const run: PatternWork["run"] = async (job) => {
    begun.push(job.values[0]!);
    await held.promise;
    return patternWork.run(job);
  };
  return { run, begun, release: held.resolve };
}

const long = (letter: string) => letter.repeat(8_000);
const costly = { operation: "regex", stringThreshold: "(?:a|b|c{20})*", autoDisarm: false } as const;
const note = { action: "note", targets: [] } as const;

/** A home whose costly matches are made by the given work, which the test watches. */
async function deferring(store: OpenStore, given?: PatternWork) {
  const home = await madeAlerts(store);
  const { patternWork, jobs } = watchedWork();
  const run: PatternWork["run"] = async (job) => {
    const answers = await patternWork.run(job);
    return given ? given.run(job) : answers;
  };
  const reached: string[] = [];
  const onLimitReached = (limit: string) => void reached.push(limit);
  const alerts = alertsOn({ store: store as Store<AlertTables>, patternWork: { run }, onLimitReached });
  let transactions = 0;
  const counted: Store<AlertTables> = {
    isShared: store.isShared,
    read: (body, priority) => store.read(body, priority),
    transaction: (body, priority) => {
      transactions += 1;
      return store.transaction(body, priority);
    },
  };
  const parts = {
    store: counted as typeof store,
    reactions: [alerts.react],
    committed: alerts.afterCommit,
    report: silent,
  };
  const commit = commitOn(parts);
  const { userId, byClient, lamp, devices } = home;
  const on = { ...costly, deviceId: lamp, attributeName: "text" };
  return {
    ...home,
    ...{ alerts, jobs, reached, on, other: devices[1]!, commitGroup: commitGroupOn(parts) },
    transactions: () => transactions,
    writing: deviceWriting(store, commit),
    urgentWriting: deviceWriting(store, commit, async () => true),
    change: (value: string, options: Partial<CommitRequest> = {}) =>
      commit({
        ...{ userId, cause: byClient, mayRefuse: true },
        updates: [{ deviceId: lamp, changes: [{ key: "text", value }] }],
        ...options,
      }),
  };
}

for (const { harness, skip } of harnesses) {
  describe(`costly patterns of a change on ${harness.kind}`, { skip, timeout: 120_000 }, () => {
    it("are matched while no transaction is open, and the change is stored with all its firings", () =>
      onStore(harness, async (store) => {
        const home = { write: async () => undefined as unknown };
        const seen: string[] = [];
        const { patternWork } = watchedWork();
        const run: PatternWork["run"] = async (job) => {
          seen.push(`${job.questions.length} questions`);
          // Others can write, also to the same device.
          await home.write();
          return patternWork.run(job);
        };
        const { add, on, change, firings, lamp, write, writesTo, other, transactions } = await deferring(store, {
          run,
        });
        let written = 0;
        home.write = () => write(lamp, "beside", `${written++}`);
        await add({ ...on, action: "attribute", targets: [target(other, "siren", "on")] });
        await add({ ...on, ...note, stringThreshold: "b(?:a|b|c{20})*" });
        await change(long("a"));
        assert.deepEqual(seen, ["1 questions", "1 questions"], "each is a job of its own: it is long");
        assert.equal(transactions(), 2);
        assert.deepEqual(await writesTo(other, "siren"), ["on"]);
        assert.equal((await firings(lamp)).length, 1);
        assert.deepEqual(await writesTo(lamp, "text"), [long("a")], "the first attempt has left nothing");
        assert.deepEqual(await writesTo(lamp, "beside"), ["0", "1"]);
      }));

    it("of several changes in one transaction are matched together", () =>
      onStore(harness, async (store) => {
        const { add, on, firings, lamp, commitGroup, tenantId, userId, transactions, jobs } = await deferring(store);
        await add({ ...on, ...note });
        const values = [long("a"), long("b"), "short", long("x")];
        const outcomes = await commitGroup(async (tx, { apply }) => {
          await tx.users.lockOfTenant(tenantId, [userId]);
          const applied = [];
          for (const value of values) {
            const update = { deviceId: lamp, changes: [{ key: "text", value }] };
            applied.push(...(await apply({ userId, cause: { by: "administrator" }, updates: [update] })));
          }
          return applied.length;
        });
        assert.deepEqual([outcomes, transactions(), jobs.length], [4, 2, 3]);
        assert.deepEqual(
          (await firings(lamp)).map(({ value }) => value?.[0]),
          ["a", "b"],
        );
      }));

    it("decide in the next attempt when the first one fails without them", () =>
      onStore(harness, async (store) => {
        const { add, on, lamp, userId, byClient, firings, alerts } = await deferring(store);
        await add({ ...on, ...note });
        const parts = { store, reactions: [alerts.react], committed: alerts.afterCommit, report: silent };
        let attempts = 0;
        await commitOn(parts)({
          ...{ userId, cause: byClient },
          updates: [{ deviceId: lamp, changes: [{ key: "text", value: long("a") }] }],
          async also() {
            attempts += 1;
            if (attempts === 1) throw new Error("only without the firing");
          },
        });
        assert.deepEqual([attempts, (await firings(lamp)).length], [2, 1]);
      }));
  });
}

const { harness } = harnesses[0]!;
const onSqlite = (test: (store: OpenStore) => Promise<void>) => onStore(harness, test);

describe("the patterns of a change", { timeout: 120_000 }, () => {
  it("are matched in place when they are cheap", () =>
    onSqlite(async (store) => {
      const { add, on, change, firings, lamp, transactions, jobs } = await deferring(store);
      await add({ ...on, ...note });
      await change("a");
      assert.deepEqual([(await firings(lamp)).length, transactions(), jobs.length], [1, 1, 0]);
    }));

  it("in a chain are matched hop by hop", () =>
    onSqlite(async (store) => {
      const { add, on, change, firings, lamp, other, transactions } = await deferring(store);
      await add({ ...on, action: "attribute", targets: [target(other, "text", long("b"))] });
      await add({ ...on, ...note, deviceId: other });
      await change(long("a"));
      assert.deepEqual([(await firings(lamp)).length, (await firings(other)).length], [1, 1]);
      assert.equal(transactions(), 3);
    }));

  it("are evaluated or not by their definitions alone, also in a node that has just started", () =>
    onSqlite(async (store) => {
      const made = await deferring(store);
      const { given, userId, accessScope, lamp, on, alerts: maker, jobs } = made;
      const words = "garage|kitchen|hallway|bathroom|bedroom|cellar|attic|stairs|porch|garden|balcony|office|nursery";
      const row = await maker.add(accessScope, given({ ...on, ...note, stringThreshold: "x" }));
      const count = 190;
      await store.transaction(async (tx) => {
        for (let i = 0; i < count; i++) {
          const pattern = i < 100 ? `(?:${words}|${words}) smoke ${i}` : `\\p{L}+ \\p{L}+ ${i}`;
          await tx.triggers.add({ ...row, condition: { operation: "regex", pattern } });
        }
      });
      const outcomesIn = async (alerts: typeof maker) => {
        const commit = commitOn({ store, reactions: [alerts.react], committed: alerts.afterCommit, report: silent });
        const changes = [{ key: "text", value: "kitchen smoke 7" }];
        await commit({ userId, cause: made.byClient, updates: [{ deviceId: lamp, changes }] });
        const rows = await store.read((tx) => tx.triggers.ofUser(userId));
        const latest = [];
        for (const { id } of rows) latest.push((await alerts.explain(accessScope, id)).evaluations[0]);
        return Map.groupBy(latest, (evaluation) => evaluation?.outcome);
      };
      for (let change = 1; change <= 3; change++) {
        const outcomes = await outcomesIn(maker);
        assert.deepEqual(
          [outcomes.get("unmet")?.length, outcomes.get("fired")?.length],
          [count, 1],
          `change ${change}`,
        );
      }
      assert.ok(jobs.length > 0, "the first changes leave most of them to the thread");
      assert.deepEqual(made.reached, []);
    }));

  it("that end the thread stop their own alert only", () =>
    onSqlite(async (store) => {
      const { patternWork } = watchedWork();
      const run: PatternWork["run"] = async (job) =>
        job.questions.some(({ pattern }) => pattern.startsWith("b")) ? undefined : patternWork.run(job);
      const { add, on, change, evaluationsOf } = await deferring(store, { run });
      const ids = [];
      for (const stringThreshold of ["a(?:a|b|c{9})*", "b(?:a|b|c{9})*", "a+(?:a|b|c{9})*"]) {
        ids.push(await add({ ...on, ...note, stringThreshold }));
      }
      await change(long("a"));
      const outcomes = [];
      for (const id of ids) outcomes.push((await evaluationsOf(id))[0]?.split(" ").slice(1).join(" "));
      assert.deepEqual(outcomes, ["fired", "stopped stopped at the limit", "fired"]);
    }));

  it("that would never be settled stop the alert after some attempts", () =>
    onSqlite(async (store) => {
      const { add, on, userId, lamp, alerts, byClient, evaluationsOf } = await deferring(store);
      const id = await add({ ...on, ...note });
      let attempts = 0;
      const commit = commitOn({ store, reactions: [alerts.react], committed: alerts.afterCommit, report: silent });
      const updates = async () => {
        attempts += 1;
        return [{ deviceId: lamp, changes: [{ key: "text", value: `${attempts}${long("a")}` }] }];
      };
      await commit({ userId, cause: byClient, updates });
      assert.equal(attempts, 2 * (limits.alertHopsPerCause + 2) + 1);
      assert.match((await evaluationsOf(id))[0] ?? "", /stopped at the limit/);
    }));

  it("wait up to a limit for changes of clients of one user; those of the ecosystem always wait", () =>
    onSqlite(async (store) => {
      const { run, release } = heldWork();
      const { add, on, change, writesTo, lamp, reached } = await deferring(store, { run });
      await add({ ...on, ...note });
      const value = (index: number) => `${"a".repeat(7_900 + index)}`;
      const waiting = Array.from({ length: limits.changesWaiting }, (_, index) => change(value(index)));
      await Promise.race([
        ...waiting,
        assert.rejects(change(value(90)), { code: "limit_reached", limit: "changesWaiting" }),
      ]);
      const ofEcosystem = change(value(99), { cause: { by: "ecosystem" }, mayRefuse: false });
      // By then its first attempt has ended, and it waits too.
      for (let i = 0; i < 9; i++) await store.transaction((tx) => tx.clock.nowMs());
      release();
      await Promise.all([...waiting, ofEcosystem]);
      const written = await writesTo(lamp, "text");
      assert.deepEqual([written.length, written.includes(value(90))], [limits.changesWaiting + 1, false]);
      assert.deepEqual(reached, []);
    }));

  it("of an alarm go first and are never refused, also when the change becomes urgent while it waits", () =>
    onSqlite(async (store) => {
      const { run, begun, release } = heldWork();
      const { add, on, change } = await deferring(store, { run });
      await add({ ...on, ...note });
      const value = (index: number) => `${"a".repeat(7_900 + index)}`;
      const lengths = () => begun.map(({ length }) => length - 7_900);
      const passed = async () => {
        for (let i = 0; i < 9; i++) await store.transaction((tx) => tx.clock.nowMs());
      };
      const waiting = [change(value(0))];
      while (begun.length === 0) await passed();
      for (let i = 1; i < limits.changesWaiting; i++) waiting.push(change(value(i)));
      await passed();
      waiting.push(change(value(50), { urgent: true }));
      const becomingUrgent = new AbortController();
      waiting.push(
        change(value(60), { cause: { by: "ecosystem" }, mayRefuse: false, becomesUrgent: becomingUrgent.signal }),
      );
      await passed();
      becomingUrgent.abort();
      release();
      await Promise.all(waiting);
      assert.deepEqual(lengths().slice(0, 3).toSorted(), [0, 50, 60]);
      assert.equal(begun.length, limits.changesWaiting + 2);
    }));

  it("wait up to the same limit for changes by the company's clients, and are given up when the client has gone", () =>
    onSqlite(async (store) => {
      const { run, begun, release } = heldWork();
      const { add, on, writing, tenantId, lamp, writesTo } = await deferring(store, { run });
      await add({ ...on, ...note });
      const value = (index: number) => `${"a".repeat(7_900 + index)}`;
      const gone = new AbortController();
      const put = (index: number) =>
        writing.write(
          { kind: "enterprise", tenantId },
          lamp,
          [{ name: "text", value: value(index) }],
          undefined,
          gone.signal,
        );
      const waiting = Array.from({ length: limits.changesWaiting }, (_, index) =>
        assert.rejects(put(index), { code: "client_gone" }),
      );
      await Promise.race([
        Promise.all(waiting),
        assert.rejects(put(90), { code: "limit_reached", limit: "changesWaiting" }),
      ]);
      gone.abort();
      await Promise.all(waiting);
      release();
      assert.deepEqual([begun.length, await writesTo(lamp, "text")], [1, []]);
    }));

  it("of a group are matched for its other users when one of them was removed while they waited", async () => {
    let isRemoved = false;
    const { patternWork, jobs } = watchedWork();
    const tenantOf = async (userId: UserId) => (userId === 1 && isRemoved ? undefined : (7 as TenantId));
    const turns = new MatchTurns(patternWork);
    const matching = new Matching({ patterns: new Patterns(), turns, isDeferring: true, tenantOf });
    const condition = { operation: "regex", pattern: costly.stringThreshold } as const;
    const judge = (tx: object, userId: number) =>
      matching.judge(tx, new Chain(), userId as UserId, condition, long("a"));
    const store = {
      isShared: false,
      read: () => assert.fail(),
      async transaction<Result>(body: (tx: object) => Promise<Result>): Promise<Result> {
        try {
          return await body({});
        } finally {
          isRemoved = true;
        }
      },
    };
    const body = async (tx: object): Promise<Judgement[]> => (isRemoved ? [2] : [1, 2]).map((user) => judge(tx, user));
    assert.deepEqual(await inAttempts(store, body, undefined, {}), [true]);
    assert.equal(jobs.length, 1);
  });

  it("stop their alerts and not the change when the thread can't be started, and are asked for once", () =>
    onSqlite(async (store) => {
      let jobs = 0;
      const run: PatternWork["run"] = async () => {
        jobs += 1;
        throw new PatternsUnavailable("No thread.");
      };
      const { add, on, change, evaluationsOf, writesTo, lamp } = await deferring(store, { run });
      const ids = [];
      for (const pattern of ["a(?:a|b|c{9})*", "b(?:a|b|c{9})*"]) {
        ids.push(await add({ ...on, ...note, stringThreshold: pattern }));
      }
      // Two jobs: each pattern is costly on this value.
      await change(long("a"));
      assert.deepEqual([jobs, (await writesTo(lamp, "text")).length], [1, 1]);
      const stopped = /stopped the thread for patterns could not be started/;
      for (const id of ids) assert.match((await evaluationsOf(id))[0] ?? "", stopped);
    }));

  it("of an explanation, a tried value and a dry run are refused when the thread can't be started", () =>
    onSqlite(async (store) => {
      let isBroken = false;
      const { patternWork } = watchedWork();
      const run: PatternWork["run"] = async (job) => {
        if (isBroken) throw new PatternsUnavailable("No thread.");
        return patternWork.run(job);
      };
      const { add, on, change, alerts, accessScope, given } = await deferring(store, { run });
      const id = await add({ ...on, ...note });
      await change(long("a"));
      isBroken = true;
      const input = given({ ...on, ...note });
      for (const question of [
        () => alerts.explain(accessScope, id),
        () => alerts.tryValue(accessScope, id, long("b")),
        () => alerts.dryRun(accessScope, input, { afterMs: 0, untilMs: Number.MAX_SAFE_INTEGER - 1 }),
      ]) {
        await assert.rejects(question, PatternsUnavailable);
      }
      isBroken = false;
      assert.equal((await alerts.explain(accessScope, id)).isTrue, true);
    }));

  it("of alarms that a client reports again and again wait up to a limit, then like its other changes", () =>
    onSqlite(async (store) => {
      const { run, begun, release } = heldWork();
      const { add, on, urgentWriting, userId, lamp, writesTo } = await deferring(store, { run });
      await add({ ...on, ...note });
      const gone = new AbortController();
      const outcomes: string[] = [];
      const put = async (index: number) => {
        const writes = [{ name: "text", value: "a".repeat(7_900 + index) }];
        try {
          await urgentWriting.write({ kind: "user", userId }, lamp, writes, undefined, gone.signal);
          outcomes.push("stored");
        } catch (error) {
          outcomes.push((error as LimitReached).code);
        }
      };
      const refused = 5;
      const most = 2 * limits.changesWaiting;
      const puts = Array.from({ length: most + refused }, (_, index) => put(index));
      const wait = () => new Promise((resolve) => setImmediate(resolve));
      while (outcomes.length < refused) await wait();
      assert.deepEqual(outcomes, Array(refused).fill("limit_reached"));
      gone.abort();
      while (outcomes.length < refused + limits.changesWaiting) await wait();
      assert.deepEqual(outcomes.slice(refused), Array(limits.changesWaiting).fill("client_gone"));
      release();
      await Promise.all(puts);
      assert.equal((await writesTo(lamp, "text")).length, limits.changesWaiting);
      assert.equal(begun.length, limits.changesWaiting);
    }));
});
