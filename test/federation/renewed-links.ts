import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { renewalsPerSecond } from "../../src/federation/admission.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { type LinkedAccount, madeRenewal } from "./made-renewal.ts";
import type { RenewedAccounts } from "./renewed-accounts.ts";
import { RenewedGoogle } from "./renewed-google.ts";
import { RenewedInstance } from "./renewed-instance.ts";

const lifetimeMs = 60_000;

/** The ecosystems whose real connectors renew tokens, each with its simulator. */
export const renewedEcosystems: Readonly<Record<string, (runtime: Runtime) => Promise<RenewedAccounts>>> = {
  "Home Assistants": (runtime) => RenewedInstance.start(runtime, lifetimeMs),
  "Google accounts": (runtime) => RenewedGoogle.start(runtime, lifetimeMs),
};

/** Follows links whose tokens last a minute for ten minutes on three nodes, kills three nodes, and checks the renewals. */
export async function renewLinks(
  t: TestContext,
  ecosystem: (runtime: Runtime) => Promise<RenewedAccounts>,
  links: number,
): Promise<void> {
  const world = await madeRenewal<RenewedAccounts>(t, { ecosystem });
  t.after(() => world.ecosystem.stop());
  const [first] = [await world.startNode(true), await world.startNode(true), await world.startNode(true)];
  const accounts: LinkedAccount[] = [];
  for (let i = 1; i <= links; i++) accounts.push(await world.link(first!, `account ${i}`));
  for (const untilMs of [130_000, 290_000, 430_000, 600_000]) {
    await world.pass(untilMs - world.runtime.elapsedMs(), 1_000);
    if (untilMs === 600_000) break;
    world.nodes.find(({ isDead, federation }) => !isDead() && federation.keeper.followed > 0)!.kill();
    await world.startNode(true);
  }
  await world.pass(20_000, 1_000);
  for (const account of accounts) {
    const { state, reason } = await world.rowOf(account);
    assert.deepEqual([state, reason], ["live", ""], account.name);
  }
  const { wrongTokens, renewalsMs, overlaps } = world.ecosystem;
  assert.equal(wrongTokens, 0);
  assert.equal(overlaps, 0, "two renewals of one token at once");
  const expected = (links * 620_000) / (0.8 * lifetimeMs);
  const { length } = renewalsMs;
  assert.ok(length > 0.8 * expected && length < 1.2 * expected, `${length} renewals, about ${expected} expected`);
  const most = mostWithin(1_000, renewalsMs);
  // Time passes in steps of a second, and a renewal of one step can arrive in the next.
  const allowed = 1.05 * 3 * renewalsPerSecond;
  assert.ok(most <= Math.max(allowed, 10), `a burst of ${most} renewals in a second`);
  for (const { faults } of world.nodes) assert.deepEqual(faults, []);
  t.diagnostic(`${length} renewals of ${links} links, at most ${most} in a second`);
}

/** The largest number of times within such a span. The times rise. */
export function mostWithin(spanMs: number, times: readonly number[]): number {
  let most = 0;
  let from = 0;
  for (const [at, ms] of times.entries()) {
    while (times[from]! <= ms - spanMs) from += 1;
    most = Math.max(most, at - from + 1);
  }
  return most;
}
