import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { renewalsPerSecond } from "../../src/federation/admission.ts";
import { rounds } from "../set-up/extent.ts";
import { type LinkedAccount, madeRenewal, type RenewalWorld } from "./made-renewal.ts";
import { mostWithin } from "./renewed-links.ts";

/** `LINKS=1000` runs the large figure. */
const links = Number(process.env.LINKS ?? rounds({ all: 50, few: 8 }));
const lifetimeMs = 60_000;

describe("many links whose tokens last a minute", () => {
  it("are all live after ten minutes on three nodes, though nodes are killed", { timeout: 500_000 }, async (t) => {
    const world = await madeRenewal(t, { random: dice(11) });
    const { ecosystem, startNode, link, pass } = world;
    ecosystem.isForgiving = true;
    ecosystem.answerMs = 1_500;
    const [first] = [await startNode(true), await startNode(true), await startNode(true)];
    const accounts: LinkedAccount[] = [];
    for (let i = 1; i <= links; i++) accounts.push(await link(first!, `account ${i}`));
    for (const untilMs of [130_000, 290_000, 430_000, 600_000]) {
      await pass(untilMs - world.runtime.elapsedMs(), 500);
      if (untilMs === 600_000) break;
      world.nodes.find(({ isDead, federation }) => !isDead() && federation.keeper.followed > 0)!.kill();
      await startNode(true);
    }
    await pass(20_000, 500);
    for (const account of accounts) {
      const { state, reason } = await world.rowOf(account);
      assert.deepEqual([state, reason], ["live", ""], account.name);
    }
    assert.equal(ecosystem.refusals, 0);
    assert.equal(ecosystem.overlaps, 0, "two renewals of one token at once");
    // 620 s in lifetimes of which 80 % are used, and the renewals whose answers the killed nodes never got.
    const expected = (links * 620_000) / (0.8 * lifetimeMs);
    const { length } = ecosystem.renewalsMs;
    assert.ok(length > 0.85 * expected && length < 1.1 * expected, `${length} renewals, about ${expected} expected`);
    assert.ok(mostWithin(1_000, ecosystem.renewalsMs) <= Math.max(3 * renewalsPerSecond, 10), "a burst of renewals");
    for (const { faults } of world.nodes) assert.deepEqual(faults, []);
    t.diagnostic(`${length} renewals, at most ${mostWithin(1_000, ecosystem.renewalsMs)} in a second`);
  });

  it("are renewed evenly when all tokens have expired while no node ran", async (t) => {
    const world = await madeRenewal(t, { random: dice(5) });
    const { ecosystem, startNode, link, pass } = world;
    ecosystem.isForgiving = true;
    const before = await startNode(true);
    const accounts: LinkedAccount[] = [];
    for (let i = 1; i <= 150; i++) accounts.push(await link(before, `account ${i}`));
    await pass(1_000);
    before.kill();
    await pass(10 * lifetimeMs, 10_000);
    assert.equal(ecosystem.renewalsMs.length, 0);
    const after = await startNode(true);
    await pass(10_000, 10);
    assert.equal(ecosystem.renewalsMs.length, 150, "one renewal for each link");
    const most = mostWithin(100, ecosystem.renewalsMs);
    assert.ok(most <= renewalsPerSecond / 10 + 2, `${most} renewals within 100 ms`);
    await assertLive(world, accounts);
    assert.deepEqual(after.faults, []);
  });
});

async function assertLive({ rowOf }: RenewalWorld, accounts: readonly LinkedAccount[]): Promise<void> {
  for (const account of accounts) assert.equal((await rowOf(account)).state, "live", account.name);
}

/** Random numbers that are the same in each run. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
