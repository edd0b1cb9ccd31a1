import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type MatchCaller, MatchTurns } from "../../src/alerts/match-turns.ts";
import type { TenantId } from "../../src/model/ids.ts";
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
  });
});
