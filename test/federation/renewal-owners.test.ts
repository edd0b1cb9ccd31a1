import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sealCredential } from "../../src/federation/credential.ts";
import { renewalDelay, retryDelayMs } from "../../src/federation/renewal-times.ts";
import { fanAction } from "../ecosystems/actions.ts";
import { type LinkedAccount, madeRenewal, type RenewalNode, type RenewalWorld, sealing } from "./made-renewal.ts";

const minuteMs = 60_000;

const isLive = (node: RenewalNode, { deviceId }: LinkedAccount) =>
  node.federation.keeper.supervisor(deviceId)?.isLive === true;

describe("the owner of a link", () => {
  it("that stops waits for a renewal in progress, and stores its result for the next owner", async (t) => {
    const { startNode, link, pass, drive, ecosystem, storedOf } = await madeRenewal(t);
    const first = await startNode(true);
    const ada = await link(first, "ada");
    ecosystem.answerMs = 2_000;
    await pass(49_000);
    assert.equal(ecosystem.renewalsMs.length, 1);
    const second = await startNode(true);
    await drive(first.federation.handBack());
    assert.equal((await storedOf(ada)).credential.refreshToken, "refresh 2 of ada");
    await pass(5_000);
    assert.ok(isLive(second, ada));
    assert.equal(ecosystem.renewalsMs.length, 1);
  });

  it("that stops while the store confirms the beginning leaves the call to the next owner", async (t) => {
    const { startNode, link, pass, drive, ecosystem, busy, storedOf, rowOf } = await madeRenewal(t);
    const first = await startNode(true);
    const ada = await link(first, "ada");
    await pass(47_500);
    busy.lateMs = 2_000;
    await pass(1_000);
    busy.lateMs = 0;
    assert.notEqual((await rowOf(ada)).renewingMs, null);
    await drive(first.federation.handBack());
    assert.equal(ecosystem.renewalsMs.length, 0);
    assert.equal((await rowOf(ada)).renewingMs, null);
    const second = await startNode(true);
    await pass(5_000);
    assert.equal((await storedOf(ada)).credential.refreshToken, "refresh 2 of ada");
    assert.ok(isLive(second, ada));
  });

  it("that dies in its call is followed by one that waits until the call has ended", async (t) => {
    const { startNode, link, pass, ecosystem, storedOf } = await madeRenewal(t);
    const first = await startNode(true);
    const ada = await link(first, "ada");
    const second = await startNode(true);
    ecosystem.answerMs = 25_000;
    ecosystem.mode = "kept";
    await pass(49_000);
    first.kill();
    // The token expires at 60 s; the first call ends at 73 s, the second one may begin at 78 s.
    await pass(28_000);
    assert.equal(ecosystem.renewalsMs.length, 1);
    ecosystem.answerMs = 0;
    ecosystem.mode = "answers";
    await pass(6_000);
    assert.equal(ecosystem.renewalsMs.length, 2);
    assert.ok(ecosystem.renewalsMs[1]! >= 78_000);
    assert.equal(ecosystem.overlaps, 0);
    assert.ok(isLive(second, ada));
    assert.equal((await storedOf(ada)).credential.refreshToken, "refresh 3 of ada");
  });

  it("waits once for a call of a dead process, also when the clock is set back", async (t) => {
    const { startNode, link, pass, ecosystem, runtime } = await madeRenewal(t);
    const first = await startNode();
    const ada = await link(first, "ada");
    ecosystem.answerMs = 25_000;
    ecosystem.mode = "kept";
    await pass(49_000);
    first.kill();
    runtime.jump(-60 * minuteMs);
    const second = await startNode();
    ecosystem.expire("ada");
    // The call of the first process ends at 73 s.
    await pass(26_000);
    ecosystem.answerMs = 0;
    ecosystem.mode = "answers";
    await pass(14_000);
    assert.equal(ecosystem.renewalsMs.length, 2);
    assert.equal(ecosystem.overlaps, 0);
    assert.ok(isLive(second, ada));
  });

  it("does not use a renewed credential before it is stored, and stores it when the store is back", async (t) => {
    const { startNode, link, pass, ecosystem, busy, storedOf } = await madeRenewal(t);
    const node = await startNode();
    const ada = await link(node, "ada");
    ecosystem.answerMs = 1_000;
    await pass(48_500);
    busy.isDown = true;
    await pass(20_000);
    assert.deepEqual([...ecosystem.streams], [], "the old token has expired, and the new one is not used");
    assert.equal(ecosystem.renewalsMs.length, 1);
    busy.isDown = false;
    await pass(2_000);
    assert.equal((await storedOf(ada)).credential.refreshToken, "refresh 2 of ada");
    assert.ok(isLive(node, ada));
    assert.equal(ecosystem.renewalsMs.length, 1);
  });

  for (const [when, until] of [
    ["before the next owner renews", ({ pass }) => pass(20_000, 250)],
    [
      "while the next owner is in its call",
      async ({ ecosystem, pass }) => {
        while (ecosystem.renewalsMs.length < 2) await pass(250, 250);
      },
    ],
    [
      "after the next owner was refused with the old refresh token",
      async ({ rowOf, pass }, ada) => {
        while ((await rowOf(ada)).state !== "needs_reauth") await pass(250, 250);
        await pass(10_000, 250);
      },
    ],
    [
      "after the next owner was refused and died with its mark",
      async ({ ecosystem, nodes, pass, rowOf }, ada) => {
        while (ecosystem.renewalsMs.length < 2) await pass(250, 250);
        const { owner } = await rowOf(ada);
        nodes.find(({ id }) => id === owner)!.kill();
        await pass(40_000, 250);
        assert.equal(ecosystem.refusals, 1);
      },
    ],
    [
      "after the next owner, of the version before, was refused and left its mark",
      async ({ store, rowOf, pass }, ada) => {
        let mark: number | null = null;
        for (let row = await rowOf(ada); row.state !== "needs_reauth"; row = await rowOf(ada)) {
          mark = row.renewingMs;
          await pass(250, 250);
        }
        await store.transaction((tx) => tx.links.setRenewing(ada.userId, ada.deviceId, mark));
        await pass(40_000, 250);
      },
    ],
  ] as readonly (readonly [string, (world: RenewalWorld, ada: LinkedAccount) => Promise<void>])[]) {
    it(`that was cut off from the store with a renewed credential stores it when it is back ${when}`, async (t) => {
      const world = await madeRenewal(t);
      const { startNode, link, pass, ecosystem, busy, rowOf, storedOf } = world;
      const nodes = [await startNode(true)];
      const ada = await link(nodes[0]!, "ada");
      nodes.push(await startNode(true));
      ecosystem.answerMs = 1_000;
      await pass(48_500, 250);
      assert.equal(ecosystem.renewalsMs.length, 1);
      busy.cutOff = (await rowOf(ada)).owner!;
      await until(world, ada);
      assert.equal((await storedOf(ada)).credential.refreshToken, "refresh 1 of ada");
      const taken = await rowOf(ada);
      assert.notEqual(taken.owner, busy.cutOff);
      busy.cutOff = undefined;
      await pass(10_000, 250);
      const { credential } = await storedOf(ada);
      assert.deepEqual(ecosystem.accounts.get("ada")!.refreshTokens, [credential.refreshToken]);
      const row = await rowOf(ada);
      assert.equal(row.state, "live");
      assert.equal(row.epoch > taken.epoch, ecosystem.refusals > 0, "the refused owner follows it in a new epoch");
      assert.equal(ecosystem.overlaps, 0);
      assert.equal(nodes.filter((node) => isLive(node, ada)).length, 1);
    });
  }

  it("uses the token of a node of the version before, and leaves its outdated credential alone", async (t) => {
    const { startNode, link, pass, ecosystem, store, rowOf } = await madeRenewal(t);
    const before = await startNode(true);
    const ada = await link(before, "ada");
    await pass(1_000);
    before.kill();
    const { accessToken } = ecosystem.consent("bob");
    const row = await rowOf(ada);
    const { sealedToken } = sealCredential(sealing.seal, row, accessToken);
    await store.transaction((tx) => tx.links.setToken(ada.userId, ada.deviceId, sealedToken, row.sealedCredential));
    const after = await startNode(true);
    await pass(15_000);
    assert.deepEqual(
      [...ecosystem.streams].map(({ token }) => token),
      [accessToken],
    );
    await pass(minuteMs);
    assert.equal(ecosystem.renewalsMs.length, 0, "there is nothing to renew it with");
    const { state } = await after.federation.status(ada.userId, "hearth");
    assert.equal(state, "needs_reauth");
  });

  it("sends a command again with the renewed token, at most once", async (t) => {
    const { startNode, link, pass, drive, ecosystem } = await madeRenewal(t);
    ecosystem.lifetimeMs = 60 * minuteMs;
    const node = await startNode();
    const ada = await link(node, "ada");
    await pass(1_000);
    const { connector, token } = node.federation.keeper.supervisor(ada.deviceId)!.connection!;
    ecosystem.accounts.get("ada")!.accessTokens.clear();
    const action = fanAction("t1", true);
    const { signal } = new AbortController();
    assert.deepEqual(await drive(connector.act(token, action, signal)), { state: "accepted" });
    assert.deepEqual(ecosystem.commands, ["access 2 of ada"]);
    ecosystem.mode = "refuses";
    ecosystem.accounts.get("ada")!.accessTokens.clear();
    assert.deepEqual(await drive(connector.act("access 2 of ada", action, signal)), { state: "unauthorized" });
    assert.equal(ecosystem.commands.length, 1);
  });

  it("uses a token that was refused for nothing else, and sends a waiting command with the new one", async (t) => {
    const { startNode, link, pass, drive, ecosystem } = await madeRenewal(t);
    ecosystem.lifetimeMs = 60 * minuteMs;
    const node = await startNode();
    const ada = await link(node, "ada");
    await pass(1_000);
    const { connector, token } = node.federation.keeper.supervisor(ada.deviceId)!.connection!;
    ecosystem.mode = "down";
    ecosystem.accounts.get("ada")!.accessTokens.clear();
    const { signal } = new AbortController();
    const commands = [connector.act(token, fanAction("t1", true), signal)];
    await pass(1_000);
    const refused = ecosystem.refusedTokens.length;
    commands.push(connector.act(token, fanAction("t1", false), signal));
    for (const stream of ecosystem.streams) stream.end({ reason: "closed", detail: "the ecosystem ended it" });
    await pass(10_000);
    assert.equal(ecosystem.refusedTokens.length, refused);
    ecosystem.mode = "answers";
    assert.deepEqual(await drive(Promise.all(commands)), [{ state: "accepted" }, { state: "accepted" }]);
    assert.deepEqual(ecosystem.commands, ["access 2 of ada", "access 2 of ada"]);
  });

  it("keeps the credential when the user links again with the token that is in use", async (t) => {
    const { startNode, link, pass, ecosystem, storedOf } = await madeRenewal(t);
    const node = await startNode();
    const ada = await link(node, "ada");
    await pass(1_000);
    await node.federation.relink(ada.userId, "hearth", "access 1 of ada");
    assert.ok((await storedOf(ada)).isRenewable);
    const bob = ecosystem.consent("bob");
    await node.federation.relink(ada.userId, "hearth", bob.accessToken);
    assert.deepEqual(await storedOf(ada), { credential: { accessToken: bob.accessToken }, isRenewable: false });
  });
});

describe("the time of a renewal", () => {
  const dueMs = (lifetimeMs: number, random: number, ageMs = 0) =>
    renewalDelay({ accessToken: "a", issuedMs: 0, expiresMs: lifetimeMs }, ageMs, random);

  it("is between 75 % and 85 % of the lifetime, and at once when that has passed", () => {
    assert.deepEqual(dueMs(100_000, 0.5), { delayMs: 80_000, isDue: true });
    assert.deepEqual(dueMs(100_000, 0), { delayMs: 75_000, isDue: true });
    assert.equal(Math.round(dueMs(100_000, 1)!.delayMs), 85_000);
    assert.deepEqual(dueMs(100_000, 0.5, 500_000), { delayMs: 0, isDue: true });
  });

  it("is looked at every hour, because timers are limited and clocks are set", () => {
    assert.deepEqual(dueMs(10 * 365 * 24 * 60 * minuteMs, 0.5), { delayMs: 60 * minuteMs, isDue: false });
  });

  it("is unknown for a token that does not expire, or whose lifetime makes no sense", () => {
    assert.equal(renewalDelay({ accessToken: "a" }, 0, 0.5), undefined);
    for (const lifetimeMs of [-60_000, 0, 9_999]) assert.equal(dueMs(lifetimeMs, 0.5), undefined);
  });

  it("moves further away with each try that was not answered", () => {
    const delays = [1, 2, 3, 7, 8, 2_000].map((failures) => retryDelayMs(failures, 0.5));
    assert.deepEqual(delays, [2_000, 4_000, 8_000, 120_000, 120_000, 120_000]);
    assert.deepEqual([retryDelayMs(1, 0), retryDelayMs(1, 1)], [1_500, 2_500]);
  });
});
