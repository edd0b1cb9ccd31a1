import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { rounds } from "../set-up/extent.ts";
import { type LinkedAccount, madeRenewal } from "./made-renewal.ts";
import type { RenewedAccounts } from "./renewed-accounts.ts";
import { RenewedGoogle } from "./renewed-google.ts";
import { RenewedInstance } from "./renewed-instance.ts";

/** `LINKS=200` runs the large figure. */
const links = Number(process.env.LINKS ?? rounds({ all: 30, few: 6 }));
const lifetimeMs = 60_000;

const ecosystems: Readonly<Record<string, (runtime: Runtime) => Promise<RenewedAccounts>>> = {
  "Home Assistants": (runtime) => RenewedInstance.start(runtime, lifetimeMs),
  "Google accounts": (runtime) => RenewedGoogle.start(runtime, lifetimeMs),
};

for (const [name, ecosystem] of Object.entries(ecosystems)) {
  describe(`links to ${name} whose tokens last a minute`, () => {
    it("are all live after ten minutes on three nodes, though nodes are killed, and no wrong token is presented", {
      timeout: 300_000,
    }, async (t) => {
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
      const { wrongTokens, renewalsMs } = world.ecosystem;
      assert.equal(wrongTokens, 0);
      const expected = (links * 620_000) / (0.8 * lifetimeMs);
      const { length } = renewalsMs;
      assert.ok(length > 0.8 * expected && length < 1.2 * expected, `${length} renewals, about ${expected} expected`);
      for (const { faults } of world.nodes) assert.deepEqual(faults, []);
      t.diagnostic(`${length} renewals of ${links} links`);
    });
  });
}
