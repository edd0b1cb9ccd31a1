import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import { askerName, type MatchCaller, MatchTurns } from "../../src/alerts/match-turns.ts";
import { TurnQueue } from "../../src/alerts/turn-queue.ts";
import type { TenantId, UserId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";

const limit = { name: "explanationsWaiting", sentence: "Too many." } as const;
const caller = (tenantId: number | "operators", name: string): MatchCaller => ({
  tenantId: tenantId as TenantId | "operators",
  name,
  limit,
});
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Tasks that the test ends itself. */
function heldTurns() {
  const turns = new MatchTurns({ run: async () => [] });
  const begun: string[] = [];
  const running: PromiseWithResolvers<void>[] = [];
  return {
    turns,
    begun,
    begin: (who: MatchCaller) =>
      turns.admit(who, () =>
        turns.run(who, async () => {
          begun.push(who.name);
          const held = Promise.withResolvers<void>();
          running.push(held);
          await held.promise;
        }),
      ),
    async end(error?: Error) {
      await settled();
      assert.equal(running.length, 1, "one task at a time");
      const [held] = running.splice(0);
      if (error) held!.reject(error);
      else held!.resolve();
      await settled();
    },
  };
}

describe("the turns of those whose costly patterns are matched", () => {
  it("go from tenant to tenant, and within a tenant from caller to caller", async () => {
    const { begin, begun, end } = heldTurns();
    const [ada, bob, eve] = [caller(1, "ada"), caller(1, "bob"), caller(2, "eve")];
    const operator = caller("operators", "operator");
    const all = [ada, ada, ada, ada, bob, bob, eve, eve, operator].map(begin);
    for (const _ of all) await end();
    await Promise.all(all);
    assert.deepEqual(begun, ["ada", "ada", "eve", "operator", "bob", "eve", "ada", "bob", "ada"]);
  });

  it("pass on after a task that failed", async () => {
    const { begin, begun, end } = heldTurns();
    const failing = begin(caller(1, "ada"));
    const following = begin(caller(1, "ada"));
    await Promise.all([assert.rejects(failing, /broken/), end(new Error("broken"))]);
    await end();
    await following;
    assert.equal(begun.length, 2);
  });

  it("are left by those whose client has gone", async () => {
    const { begin, begun, end } = heldTurns();
    const leaving = new AbortController();
    const first = begin(caller(1, "first"));
    const gone = [1, 2].map((tenant) =>
      assert.rejects(begin({ ...caller(tenant, "gone"), disconnected: leaving.signal }), { code: "client_gone" }),
    );
    const last = begin(caller(1, "last"));
    leaving.abort();
    await Promise.all(gone);
    const late = begin({ ...caller(1, "late"), disconnected: leaving.signal });
    await assert.rejects(late, { code: "client_gone" });
    await end();
    await end();
    await Promise.all([first, last]);
    assert.deepEqual(begun, ["first", "last"]);
  });

  it("are left at once by those whose client goes while their task runs; the turn ends with the task", async () => {
    const { begin, begun, end } = heldTurns();
    const leaving = new AbortController();
    const first = begin({ ...caller(1, "first"), disconnected: leaving.signal });
    const last = begin(caller(1, "last"));
    await settled();
    leaving.abort();
    await assert.rejects(first, { code: "client_gone" });
    assert.deepEqual(begun, ["first"]);
    await end();
    await end();
    await last;
    assert.deepEqual(begun, ["first", "last"]);
  });

  it("come first for alarms, from tenant to tenant", async () => {
    const { begin, begun, end } = heldTurns();
    const hurrying = new AbortController();
    const waiting = [
      begin(caller(1, "running")),
      begin(caller(1, "ada")),
      begin({ ...caller(1, "late alarm"), becomesUrgent: hurrying.signal }),
      begin({ ...caller(1, "alarm"), urgent: true }),
      begin({ ...caller(1, "alarm"), urgent: true }),
      begin({ ...caller(2, "other alarm"), urgent: true }),
    ];
    await settled();
    hurrying.abort();
    waiting.push(begin({ ...caller(3, "hurried before"), becomesUrgent: hurrying.signal }));
    for (const _ of waiting) await end();
    await Promise.all(waiting);
    assert.deepEqual(begun, ["running", "alarm", "other alarm", "hurried before", "ada", "late alarm", "alarm"]);
  });

  it("come after three alarms at the latest", async () => {
    const { begin, begun, end } = heldTurns();
    const alarm = { ...caller(1, "alarm"), urgent: true };
    const waiting = [
      caller(1, "running"),
      ...Array.from({ length: 7 }, () => alarm),
      caller(2, "eve"),
      caller(3, "bob"),
    ];
    const all = waiting.map(begin);
    for (const _ of all) await end();
    await Promise.all(all);
    assert.deepEqual(begun.map((name, turn) => (name === "alarm" ? "" : `${turn} ${name}`)).filter(Boolean), [
      "0 running",
      "4 eve",
      "8 bob",
    ]);
  });

  it("have a limit for each caller that has one; each task that ends makes room", async () => {
    const { begin, begun, end, turns } = heldTurns();
    const ada = caller(1, "ada");
    const first = Array.from({ length: limits.explanationsWaiting }, () => begin(ada));
    const refused = { code: "limit_reached", limit: "explanationsWaiting" };
    await assert.rejects(begin(ada), refused);
    assert.equal(
      await turns.admit({ ...ada, limit: { ...limit, name: "changesWaiting" } }, async () => "other"),
      "other",
    );
    assert.equal(await turns.admit({ tenantId: ada.tenantId, name: "ada" }, async () => "unlimited"), "unlimited");
    const bob = begin(caller(1, "bob"));
    await end();
    await first[0];
    const last = begin(ada);
    await assert.rejects(begin(ada), refused);
    for (let i = 0; i < first.length + 1; i++) await end();
    await Promise.all([...first, bob, last]);
    assert.equal(begun.length, first.length + 2);
    const again = Array.from({ length: limits.explanationsWaiting }, () => begin(ada));
    await assert.rejects(begin(ada), refused);
    for (const _ of again) await end();
    await Promise.all(again);
  });

  it("are not taken by a caller who comes at the moment when they pass on, nor given twice", async () => {
    const { turns, begin, begun, end } = heldTurns();
    const becomesUrgent = new AbortController();
    const passed = Promise.withResolvers<void>();
    const late: Promise<unknown>[] = [];
    // A task whose turn ends while the test acts, before any other code runs.
    const ending = {
      finally(passOn: () => void) {
        void passed.promise.then(() => {
          passOn();
          becomesUrgent.abort();
          late.push(begin(caller(1, "late")));
        });
        return passed.promise;
      },
    } as unknown as Promise<void>;
    const first = turns.run(caller(1, "first"), () => ending);
    const next = begin({ ...caller(1, "next"), becomesUrgent: becomesUrgent.signal });
    passed.resolve();
    await first;
    await end();
    await next;
    await end();
    await Promise.all(late);
    const last = begin(caller(1, "last"));
    await end();
    await last;
    assert.deepEqual(begun, ["next", "late", "last"]);
  });

  it("leave nothing behind at the signals of their callers", async () => {
    const { begin, end } = heldTurns();
    const { signal: disconnected } = new AbortController();
    const { signal: becomesUrgent } = new AbortController();
    const all = ["first", "second"].map((name) => begin({ ...caller(1, name), disconnected, becomesUrgent }));
    await settled();
    const listening = () => [disconnected, becomesUrgent].map((signal) => getEventListeners(signal, "abort").length);
    assert.deepEqual(listening(), [2, 1]);
    await end();
    await end();
    await Promise.all(all);
    assert.deepEqual(listening(), [0, 0]);
  });

  it("are left by a task that has lost its client before it waits", async () => {
    const turns = new MatchTurns({ run: async () => [] });
    const leaving = new AbortController();
    const held = Promise.withResolvers<void>();
    const gone = turns.run({ ...caller(1, "gone"), disconnected: leaving.signal }, () => {
      leaving.abort();
      return held.promise;
    });
    await assert.rejects(gone, { code: "client_gone" });
    held.resolve();
  });

  it("have names that tell users, tenants and operators apart", () => {
    const [ofUser, ofTenant] = [
      { kind: "user", userId: 1 as UserId },
      { kind: "enterprise", tenantId: 1 as TenantId },
    ] as const;
    const names = [ofUser, ofTenant].flatMap((scope) => [askerName(scope, {}), askerName(scope, { isOperator: true })]);
    assert.deepEqual(names, ["user 1", "operators of user 1", "tenant 1", "operators of tenant 1"]);
  });
});

describe("a queue of turns", () => {
  it("forgets those that leave, and says whether they waited", () => {
    const queue = new TurnQueue();
    const [ada, bob, eve] = [caller(1, "ada"), caller(1, "bob"), caller(2, "eve")];
    const begin = () => undefined;
    assert.equal(queue.remove(ada, begin), false);
    queue.add(ada, begin);
    assert.deepEqual([queue.remove(bob, begin), queue.remove(eve, begin)], [false, false]);
    assert.equal(
      queue.remove(ada, () => undefined),
      false,
      "another turn of the same caller",
    );
    assert.deepEqual([queue.isEmpty, queue.remove(ada, begin), queue.isEmpty], [false, true, true]);
    assert.equal(queue.take(), undefined);
  });
});
