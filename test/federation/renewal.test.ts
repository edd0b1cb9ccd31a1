import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { madeRenewal } from "./made-renewal.ts";

const minuteMs = 60_000;

describe("a credential", () => {
  it("is renewed at 80 % of its lifetime, stored with all members before it is used, and no stream is lost", async (t) => {
    const { startNode, link, pass, ecosystem, rowOf, storedOf } = await madeRenewal(t);
    const node = await startNode();
    const ada = await link(node, "ada");
    await pass(47_000);
    assert.equal(ecosystem.renewalsMs.length, 0);
    await pass(2_000);
    assert.deepEqual(ecosystem.renewalsMs, [48_000]);
    const { credential, isRenewable } = await storedOf(ada);
    const { accessToken, refreshToken, project } = credential;
    assert.deepEqual([accessToken, refreshToken, project], ["access 2 of ada", "refresh 2 of ada", "project of ada"]);
    assert.ok(isRenewable);
    assert.equal((await rowOf(ada)).renewingMs, null, "the renewal is over");
    assert.equal(node.federation.keeper.supervisor(ada.deviceId)?.isLive, true, "the stream goes on");
    await pass(10 * minuteMs, 250);
    assert.equal(ecosystem.renewalsMs.length, 13);
    const { state, reason, blindIntervals } = await node.federation.status(ada.userId, "hearth");
    assert.deepEqual([state, reason], ["live", ""]);
    // A stream ends when its token expires; the next one opens at once with the renewed token.
    for (const { fromMs, toMs } of blindIntervals.slice(1)) assert.ok(toMs! - fromMs <= 250);
    assert.deepEqual(node.faults, []);
  });

  it("is renewed when the ecosystem refuses its token early", async (t) => {
    const { startNode, link, pass, ecosystem } = await madeRenewal(t);
    ecosystem.lifetimeMs = 60 * minuteMs;
    const node = await startNode();
    const ada = await link(node, "ada");
    await pass(minuteMs);
    ecosystem.expire("ada");
    await pass(1_000);
    assert.equal(ecosystem.renewalsMs.length, 1);
    assert.equal(node.federation.keeper.supervisor(ada.deviceId)?.isLive, true);
  });

  it("is renewed when a second look at a quiet stream is refused", async (t) => {
    const { startNode, link, pass, ecosystem } = await madeRenewal(t);
    ecosystem.lifetimeMs = 60 * minuteMs;
    const node = await startNode();
    const ada = await link(node, "ada");
    await pass(1_000);
    // The open stream goes on, and the read after ten quiet minutes is refused.
    ecosystem.accounts.get("ada")!.accessTokens.clear();
    await pass(9 * minuteMs, 1_000);
    assert.equal(ecosystem.renewalsMs.length, 0);
    await pass(2 * minuteMs, 1_000);
    assert.equal(ecosystem.renewalsMs.length, 1);
    assert.equal(node.federation.keeper.supervisor(ada.deviceId)?.isLive, true);
    assert.deepEqual(
      [...ecosystem.streams].map(({ token }) => token),
      ["access 2 of ada"],
    );
  });

  it("is renewed once before the link needs a new consent", async (t) => {
    const { startNode, link, pass, ecosystem } = await madeRenewal(t);
    const node = await startNode();
    const ada = await link(node, "ada");
    await pass(minuteMs);
    // The ecosystem issues tokens that it does not accept.
    ecosystem.lifetimeMs = 0;
    ecosystem.expire("ada");
    const before = ecosystem.renewalsMs.length;
    await pass(5 * minuteMs, 250);
    assert.equal(ecosystem.renewalsMs.length, before + 1);
    const { state, reason } = await node.federation.status(ada.userId, "hearth");
    assert.deepEqual([state, reason], ["needs_reauth", "the token is invalid"]);
  });

  it("that the ecosystem refuses to renew makes the link need a new consent, with the reason", async (t) => {
    const { startNode, link, pass, ecosystem, rowOf } = await madeRenewal(t);
    const node = await startNode();
    const ada = await link(node, "ada");
    ecosystem.mode = "refuses";
    await pass(10 * minuteMs, 250);
    const { state, reason } = await node.federation.status(ada.userId, "hearth");
    assert.deepEqual([state, reason], ["needs_reauth", "invalid_grant: the user has withdrawn access"]);
    assert.equal((await rowOf(ada)).state, "needs_reauth");
    assert.equal(ecosystem.renewalsMs.length, 1, "a refusal is final");
    assert.equal(ecosystem.streams.size, 0);
    ecosystem.mode = "answers";
    await node.federation.relink(ada.userId, "hearth", ecosystem.consent("ada"));
    await pass(2 * minuteMs);
    assert.equal(node.federation.keeper.supervisor(ada.deviceId)?.isLive, true);
    assert.ok(ecosystem.renewalsMs.length > 1);
  });
});

describe("a token endpoint", () => {
  for (const [mode, what] of [
    ["down", "is down"],
    ["garbage", "answers garbage"],
    ["throws", "breaks the connector"],
  ] as const) {
    it(`that ${what} is tried with growing pauses, and the link goes on while its token lives`, async (t) => {
      const { startNode, link, pass, ecosystem, runtime, rowOf } = await madeRenewal(t);
      ecosystem.lifetimeMs = 5 * minuteMs;
      const node = await startNode();
      const ada = await link(node, "ada");
      ecosystem.mode = mode;
      await pass(290_000, 1_000);
      const live = await node.federation.status(ada.userId, "hearth");
      assert.equal(live.state, "live");
      assert.match(live.reason, /^its token can't be renewed: /);
      await pass(4 * minuteMs, 1_000);
      const intervals = ecosystem.renewalsMs.slice(1).map((ms, i) => ms - ecosystem.renewalsMs[i]!);
      assert.deepEqual(intervals, [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 120_000]);
      const blind = await node.federation.status(ada.userId, "hearth");
      assert.equal(blind.state, "waiting", "no answer is no refusal");
      assert.match(blind.reason, /^its token can't be renewed: /);
      assert.equal((await rowOf(ada)).reason, blind.reason, "other nodes show it too");
      ecosystem.mode = "answers";
      await pass(2 * minuteMs, 1_000);
      const again = await node.federation.status(ada.userId, "hearth");
      assert.deepEqual([again.state, again.reason], ["live", ""]);
      const told = JSON.stringify([runtime.logLines, live, blind], (_, value) =>
        value instanceof Error ? [value.message, value.stack] : value,
      );
      for (const secret of ["access 1", "refresh 1"]) assert.ok(!told.includes(secret), "no token is told");
      assert.deepEqual(new Set(node.faults), new Set(mode === "throws" ? ["renewal"] : []));
    });
  }

  it("that never answers is given up after 30 seconds each time", async (t) => {
    const { startNode, link, pass, ecosystem } = await madeRenewal(t);
    ecosystem.lifetimeMs = 5 * minuteMs;
    await link(await startNode(), "ada");
    ecosystem.answerMs = 60 * minuteMs;
    await pass(280_000, 1_000);
    assert.deepEqual(ecosystem.renewalsMs, [240_000, 272_000]);
  });

  it("ends 30 seconds after its beginning, also when the store confirms the beginning late", async (t) => {
    const { startNode, link, pass, ecosystem, busy } = await madeRenewal(t);
    ecosystem.lifetimeMs = 5 * minuteMs;
    await link(await startNode(), "ada");
    ecosystem.answerMs = 60 * minuteMs;
    await pass(239_000, 1_000);
    busy.lateMs = 20_000;
    // It begins at 240 s, the call is made at 260 s and given up at 270 s. Another node may begin then.
    await pass(55_000, 1_000);
    assert.deepEqual(ecosystem.renewalsMs, [260_000, 292_000]);
    busy.lateMs = 40_000;
    await pass(300_000, 1_000);
    assert.equal(ecosystem.renewalsMs.length, 2, "no time is left for a call");
    busy.lateMs = 0;
  });

  it("is not called for by a node that has given the link up before the store confirms the beginning", async (t) => {
    const { startNode, link, pass, drive, ecosystem, busy } = await madeRenewal(t);
    ecosystem.lifetimeMs = 5 * minuteMs;
    const node = await startNode();
    await link(node, "ada");
    await pass(239_000, 1_000);
    busy.lateMs = 20_000;
    await pass(2_000, 1_000);
    await drive(node.federation.stop());
    await pass(60_000, 1_000);
    assert.deepEqual(ecosystem.renewalsMs, []);
    busy.lateMs = 0;
  });

  it("whose answer was lost is asked again with the old refresh token", async (t) => {
    const { startNode, link, pass, ecosystem, storedOf } = await madeRenewal(t);
    const node = await startNode();
    const ada = await link(node, "ada");
    ecosystem.mode = "kept";
    await pass(49_000);
    assert.equal((await storedOf(ada)).credential.refreshToken, "refresh 1 of ada");
    ecosystem.mode = "answers";
    await pass(5_000);
    assert.equal((await storedOf(ada)).credential.refreshToken, "refresh 3 of ada");
    assert.equal(node.federation.keeper.supervisor(ada.deviceId)?.isLive, true);
  });

  it("that has revoked the old refresh token with a lost answer needs a new consent", async (t) => {
    const { startNode, link, pass, ecosystem } = await madeRenewal(t);
    const node = await startNode();
    const ada = await link(node, "ada");
    ecosystem.mode = "lost";
    await pass(49_000);
    ecosystem.mode = "answers";
    await pass(5_000);
    const { state, reason } = await node.federation.status(ada.userId, "hearth");
    assert.deepEqual([state, reason], ["needs_reauth", "invalid_grant: the user has withdrawn access"]);
  });
});
