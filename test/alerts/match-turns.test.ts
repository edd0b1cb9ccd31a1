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
