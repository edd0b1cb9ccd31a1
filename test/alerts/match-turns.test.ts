import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MatchTurns } from "../../src/alerts/match-turns.ts";
import type { TenantId, UserId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";

const costly = 50_000;
const ada = { kind: "user", userId: 1 as UserId } as const;
const bob = { kind: "user", userId: 2 as UserId } as const;
const office = { kind: "enterprise", tenantId: 1 as TenantId } as const;

/** Turns that the test ends itself. */
function heldTurns() {
  const waiting: (() => void)[] = [];
  const matchTurns = new MatchTurns(() => new Promise((resolve) => waiting.push(resolve)));
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    matchTurns,
    async next() {
      await settled();
      assert.equal(waiting.length, 1, "one match at a time waits for its turn");
      waiting.shift()!();
      await settled();
    },
  };
}

describe("costly matches that callers ask for", () => {
  it("are made one after the other, each after a turn; cheap ones at once", async () => {
    const { matchTurns, next } = heldTurns();
    const made: string[] = [];
    const runs = [ada, bob, office].map((scope, index) =>
      matchTurns.run(scope, costly, () => made.push(`costly ${index}`)),
    );
    await matchTurns.run(ada, costly - 1, () => made.push("cheap"));
    assert.deepEqual(made, ["cheap"]);
    for (const index of [0, 1, 2]) {
      await next();
      assert.equal(made.at(-1), `costly ${index}`);
      assert.equal(made.length, index + 2);
    }
    await Promise.all(runs);
  });

  it("go on after one that failed", async () => {
    const { matchTurns, next } = heldTurns();
    const failing = matchTurns.run(ada, costly, () => assert.fail("broken"));
    const following = matchTurns.run(ada, costly, () => "made");
    await Promise.all([assert.rejects(failing, /broken/), next()]);
    await next();
    assert.equal(await following, "made");
  });

  it("wait up to a limit for each caller, and each one that ends makes room", async () => {
    const { matchTurns, next } = heldTurns();
    const run = (scope: typeof ada | typeof office) => matchTurns.run(scope, costly, () => "made");
    const first = Array.from({ length: limits.explanationsWaiting }, () => run(ada));
    const refused = { code: "limit_reached", limit: "explanationsWaiting" };
    await assert.rejects(run(ada), refused);
    const others = [run(bob), run(office)];
    await next();
    assert.equal(await first[0], "made");
    const last = run(ada);
    await assert.rejects(run(ada), refused);
    for (let i = 0; i < first.length + 2; i++) await next();
    assert.deepEqual(await Promise.all([...others, last]), ["made", "made", "made"]);
  });
});
