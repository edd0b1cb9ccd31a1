import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { InvalidToken, StoreUnavailable } from "../../src/model/errors.ts";
import type { UserId } from "../../src/model/ids.ts";
import { revocationPolling, TokenVerifier } from "../../src/oauth/token-verification.ts";
import { flushPromises, manualRuntime } from "../federation/manual-runtime.ts";
import { HeldTokens, hourMs, tenantId } from "./held-tokens.ts";

const ada = { kind: "user", userId: 1, tenantId, scopes: null, isUnscopedGrant: true, clientId: "client" };

describe("verification on one node", () => {
  it("reads each token from the store once", async (t) => {
    const { store, verification } = await verificationWorld(t);
    const [one, two] = [store.add("grant 1"), store.add("grant 2", { userId: 2 })];
    for (let n = 1; n <= 3; n++) {
      assert.deepEqual(await verification.verify(one), ada);
      assert.deepEqual(await verification.verify(two), { ...ada, userId: 2 });
    }
    assert.equal(store.lookUps, 2);
  });

  it("refuses text without the format of a token, without reading the store", async (t) => {
    const { store, verification } = await verificationWorld(t);
    const token = store.add("grant 1");
    for (const text of ["", "x", token.slice(0, -1), `${token}0`, ` ${token}`, token.replace("bwa_", "bwr_")]) {
      await assert.rejects(verification.verify(text), InvalidToken);
    }
    assert.equal(store.lookUps, 0);
  });

  it("tells an expired token from one that never was valid", async (t) => {
    const { store, verification } = await verificationWorld(t);
    const [expired, valid] = [store.add("grant 1", { remainingMs: 0 }), store.add("grant 2", { remainingMs: 1 })];
    const gone = store.add("grant 3", { remainingMs: -1 });
    store.end("grant 3");
    const answers = [expired, valid, gone, "bwa_x", expired.replace("bwa_", "bwr_")].map((token) => {
      return verification.isExpired(token);
    });
    assert.deepEqual(await Promise.all(answers), [true, false, false, false, false]);
  });

  it("drops all tokens of several grants, and no others", async (t) => {
    const { store, verification } = await verificationWorld(t);
    const gone = ["grant 1", "grant 1", "grant 2"].map((grantId) => store.add(grantId));
    const stays = store.add("grant 3");
    for (const token of [...gone, stays]) await verification.verify(token);
    for (const grantId of ["grant 1", "grant 2"]) store.end(grantId);
    verification.forget(["grant 1", "unheard of", "grant 2"]);
    for (const token of gone) await assert.rejects(verification.verify(token), InvalidToken);
    const { lookUps } = store;
    await verification.verify(stays);
    assert.equal(store.lookUps, lookUps);
  });

  it("doesn't cache a token when a revocation arrived during the read", async (t) => {
    const { store, verification } = await verificationWorld(t);
    const token = store.add("grant 1");
    store.isHeld = true;
    const verifying = verification.verify(token);
    store.end("grant 1");
    verification.forget(["grant 1"]);
    store.isHeld = false;
    store.answerOldest();
    // The call began before the revocation: both answers are right, but only for this call.
    await verifying.catch(() => undefined);
    await assert.rejects(verification.verify(token), InvalidToken);
  });

  it("doesn't cache a token when its user was suspended during the read", async (t) => {
    const { store, verification } = await verificationWorld(t);
    const token = store.add("grant 1");
    store.isHeld = true;
    const verifying = verification.verify(token);
    store.suspend({ userId: 1 as UserId });
    verification.suspend({ userId: 1 as UserId });
    store.isHeld = false;
    store.answerOldest();
    await verifying;
    await assert.rejects(verification.verify(token), /This user is suspended/);
  });

  it("caches a token that was read after a revocation", async (t) => {
    const { store, verification } = await verificationWorld(t);
    const token = store.add("grant 1");
    verification.forget(["grant 2"]);
    await verification.verify(token);
    await verification.verify(token);
    assert.equal(store.lookUps, 1);
  });

  it("looks a token up when its time is over by the monotonic clock, also if the wall clock was set back", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t);
    const token = store.add("grant 1", { remainingMs: 1_000 });
    await verification.verify(token);
    await runtime.advance(999);
    runtime.jump(-4 * hourMs);
    await verification.verify(token);
    assert.equal(store.lookUps, 1);
    await runtime.advance(1);
    store.lose("grant 1");
    await assert.rejects(verification.verify(token), InvalidToken);
  });

  it("looks a token up when its time is over by the wall clock: the machine may have slept", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t);
    const token = store.add("grant 1", { remainingMs: 10_000 });
    await verification.verify(token);
    runtime.jump(9_999);
    await verification.verify(token);
    assert.equal(store.lookUps, 1);
    runtime.jump(1);
    await verification.verify(token);
    assert.equal(store.lookUps, 2, "the clock was set forward, and the store says that the token is valid");
    runtime.jump(10_000);
    store.lose("grant 1");
    await assert.rejects(verification.verify(token), InvalidToken);
  });

  it("trusts no read of revocations from before a sleep", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t, { isShared: true });
    const token = store.add("grant 1");
    await verification.verify(token);
    store.end("grant 1");
    runtime.jump(revocationPolling.trustedMs);
    await assert.rejects(verification.verify(token), InvalidToken);
  });

  it("counts a token's lifetime from the start of the read, not from the answer", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t);
    const token = store.add("grant 1", { remainingMs: 15_000 });
    store.isHeld = true;
    const verifying = verification.verify(token);
    await runtime.advance(10_000);
    store.answerOldest();
    await verifying;
    await runtime.advance(5_000);
    store.lose("grant 1");
    store.isHeld = false;
    await assert.rejects(verification.verify(token), InvalidToken);
  });

  it("refuses a token that has expired in the store", async (t) => {
    const { store, verification } = await verificationWorld(t);
    const token = store.add("grant 1", { remainingMs: 0 });
    await assert.rejects(verification.verify(token), InvalidToken);
  });

  it("caches 100,000 tokens and evicts the oldest for one more", async (t) => {
    const { store, verification } = await verificationWorld(t);
    const tokens = Array.from({ length: 100_001 }, (_, n) => store.add(`grant ${n}`));
    for (const token of tokens) await verification.verify(token);
    assert.equal(store.lookUps, 100_001);
    for (const token of [tokens[1]!, tokens[50_000]!, tokens.at(-1)!]) await verification.verify(token);
    assert.equal(store.lookUps, 100_001);
    assert.deepEqual(await verification.verify(tokens[0]!), ada);
    assert.equal(store.lookUps, 100_002);
    // An evicted token can be revoked like a cached one.
    store.end("grant 0");
    store.end("grant 1");
    verification.forget(["grant 0", "grant 1"]);
    for (const token of tokens.slice(0, 2)) await assert.rejects(verification.verify(token), InvalidToken);
  });

  it("never reads revocations of other nodes", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t);
    const token = store.add("grant 1");
    await verification.verify(token);
    await runtime.advance(10_000);
    await verification.verify(token);
    assert.deepEqual([store.revocationReads, store.lookUps, runtime.timers], [0, 1, 0]);
  });
});

describe("verification on a node of many", () => {
  it("reads the revocations of other nodes several times a second", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t, { isShared: true });
    const [gone, stays] = [store.add("grant 1"), store.add("grant 2")];
    for (const token of [gone, stays]) await verification.verify(token);
    store.end("grant 1");
    await runtime.advance(revocationPolling.everyMs);
    await assert.rejects(verification.verify(gone), InvalidToken);
    const { lookUps } = store;
    await verification.verify(stays);
    assert.equal(store.lookUps, lookUps);
  });

  it("searches its cache once for all suspensions that it reads at once", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t, { isShared: true });
    const [people, size] = [50, 60];
    const tokens = Array.from({ length: size }, (_, n) =>
      store.add(`grant ${n}`, { userId: n, clientId: n < people ? "client" : `client ${n}` }),
    );
    for (const token of tokens) await verification.verify(token);
    for (let n = 1; n < people; n++) store.suspend({ userId: n as UserId });
    store.suspend({ clientId: "client 55" });
    // The cache holds the principal that it returns.
    let searches = 0;
    Object.defineProperty(await verification.verify(tokens[0]!), "clientId", {
      get() {
        searches += 1;
        return "client";
      },
    });
    await runtime.advance(revocationPolling.everyMs);
    assert.equal(searches, 1);
    const { lookUps } = store;
    const refused = [...tokens.slice(1, people), tokens[55]!];
    for (const token of refused) await assert.rejects(verification.verify(token), InvalidToken);
    assert.equal(store.lookUps, lookUps + refused.length);
    for (const token of tokens) if (!refused.includes(token)) await verification.verify(token);
    assert.equal(store.lookUps, lookUps + refused.length, "the others are still cached");
  });

  it("ends the streams of users and clients that another node suspends, and looks up no others", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t, { isShared: true });
    const ended: string[] = [];
    const watch = (id: string, whose: { userId?: number; clientId?: string }) =>
      verification.watch(store.add(id, whose), () => void ended.push(id));
    await watch("grant 1", { userId: 1 });
    await watch("grant 2", { userId: 2 });
    await watch("grant 3", { userId: 3, clientId: "another" });
    store.suspend({ userId: 1 as UserId });
    await runtime.advance(revocationPolling.everyMs);
    assert.deepEqual([ended, store.checked], [["grant 1"], ["grant 1"]]);
    store.suspend({ clientId: "another" });
    await runtime.advance(revocationPolling.everyMs);
    assert.deepEqual(ended, ["grant 1", "grant 3"]);
  });

  it("caches a token although it has read meanwhile that nothing was revoked", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t, { isShared: true });
    const token = store.add("grant 1");
    store.isHeld = true;
    const verifying = verification.verify(token);
    store.isHeld = false;
    await runtime.advance(revocationPolling.everyMs);
    store.answerOldest();
    await verifying;
    await verification.verify(token);
    assert.equal(store.lookUps, 1);
  });

  it("doesn't cache a token when the store was restored during the read", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t, { isShared: true });
    const token = store.add("grant 1");
    store.isHeld = true;
    const verifying = verification.verify(token);
    store.isHeld = false;
    store.lose("grant 1");
    store.epoch = "second";
    await runtime.advance(revocationPolling.everyMs);
    store.answerOldest();
    await verifying;
    await assert.rejects(verification.verify(token), InvalidToken);
  });

  it("looks a token up again when the store was slow, and refuses the call after three slow answers", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t, { isShared: true });
    const token = store.add("grant 1");
    store.isHeld = true;
    const verifying = verification.verify(token);
    const { settled } = settling(verifying);
    while (!settled()) {
      await runtime.advance(revocationPolling.trustedMs);
      store.answerOldest();
      await flushPromises();
    }
    await assert.rejects(verifying, StoreUnavailable);
    assert.equal(store.lookUps, 3);
    store.isHeld = false;
    assert.deepEqual(await verification.verify(token), ada);
  });

  it("clears its cache when the store was restored or promoted", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t, { isShared: true });
    const [lost, stays] = [store.add("grant 1"), store.add("grant 2")];
    const ended: string[] = [];
    await verification.watch(lost, () => ended.push("grant 1"));
    await verification.watch(stays, () => ended.push("grant 2"));
    for (const token of [lost, stays]) await verification.verify(token);
    store.lose("grant 1");
    await runtime.advance(revocationPolling.everyMs);
    await verification.verify(lost);
    store.epoch = "second";
    await runtime.advance(revocationPolling.everyMs);
    await assert.rejects(verification.verify(lost), InvalidToken);
    await verification.verify(stays);
    assert.deepEqual(ended, ["grant 1"]);
  });

  it("clears its cache when revocations were removed before it read them", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t, { isShared: true });
    const token = store.add("grant 1");
    await verification.verify(token);
    store.lose("grant 1");
    store.horizon = { transaction: 0, id: 5 };
    await runtime.advance(revocationPolling.everyMs);
    await assert.rejects(verification.verify(token), InvalidToken);
  });

  it("doesn't cache a token when revocations of other nodes arrived during the read", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t, { isShared: true });
    const token = store.add("grant 1");
    store.isHeld = true;
    const verifying = verification.verify(token);
    store.isHeld = false;
    store.end("grant 1");
    await runtime.advance(revocationPolling.everyMs);
    store.answerOldest();
    await verifying.catch(() => undefined);
    await assert.rejects(verification.verify(token), InvalidToken);
  });

  it("reads the store for every call until it has read revocations once", async () => {
    const { store, runtime } = { store: new HeldTokens({ isShared: true }), runtime: manualRuntime() };
    const verification = new TokenVerifier({ store, runtime });
    const token = store.add("grant 1");
    await verification.verify(token);
    await verification.verify(token);
    assert.equal(store.lookUps, 2);
  });

  it("uses its cache only while its last read of revocations is recent", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t, { isShared: true });
    const token = store.add("grant 1");
    await verification.verify(token);
    store.failure = new StoreUnavailable("The store can't be used now.");
    await runtime.advance(revocationPolling.trustedMs - 1);
    assert.deepEqual(await verification.verify(token), ada);
    await runtime.advance(1);
    await assert.rejects(verification.verify(token), StoreUnavailable);
    store.failure = undefined;
    await runtime.advance(revocationPolling.everyMs);
    const { lookUps } = store;
    assert.deepEqual(await verification.verify(token), ada);
    assert.equal(store.lookUps, lookUps);
  });

  it("counts the age of revocations from the start of the read, not from the answer", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t, { isShared: true });
    const token = store.add("grant 1");
    await verification.verify(token);
    store.isHeld = true;
    await runtime.advance(revocationPolling.everyMs);
    await runtime.advance(revocationPolling.trustedMs - 100);
    store.answerOldest();
    store.isHeld = false;
    await flushPromises();
    store.failure = new StoreUnavailable("The store can't be used now.");
    await runtime.advance(99);
    assert.deepEqual(await verification.verify(token), ada);
    await runtime.advance(1);
    await assert.rejects(verification.verify(token), StoreUnavailable);
  });

  it("does not use its cache while the store does not answer", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t, { isShared: true });
    const token = store.add("grant 1");
    await verification.verify(token);
    store.isHeld = true;
    store.end("grant 1");
    await runtime.advance(revocationPolling.everyMs + revocationPolling.trustedMs);
    let answered = false;
    const verifying = verification.verify(token).finally(() => {
      answered = true;
    });
    verifying.catch(() => undefined);
    await flushPromises();
    assert.equal(answered, false);
    store.isHeld = false;
    while (!answered) {
      store.answerOldest();
      await flushPromises();
    }
    await assert.rejects(verifying, InvalidToken);
  });

  it("reads, after an outage of the store, what was revoked meanwhile", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t, { isShared: true });
    const token = store.add("grant 1");
    await verification.verify(token);
    store.failure = new StoreUnavailable("The store can't be used now.");
    await runtime.advance(5_000);
    store.end("grant 1");
    await runtime.advance(5_000);
    store.failure = undefined;
    await runtime.advance(revocationPolling.everyMs);
    await assert.rejects(verification.verify(token), InvalidToken);
  });

  it("has caught up while its last read is recent, else after a read that started from then on", async (t) => {
    const { store, verification, runtime } = await verificationWorld(t, { isShared: true });
    const { revocationReads } = store;
    await verification.caughtUp();
    assert.equal(store.revocationReads, revocationReads);
    store.failure = new StoreUnavailable("The store can't be reached.");
    await runtime.advance(revocationPolling.trustedMs);
    await assert.rejects(verification.caughtUp(), StoreUnavailable);

    let isRevoked = false;
    store.failure = undefined;
    const token = store.add("grant 1");
    await verification.watch(token, () => {
      isRevoked = true;
    });
    // A read is in progress when the token is revoked: it may not see the revocation.
    store.isHeld = true;
    verification.hinted();
    await flushPromises();
    store.end("grant 1");
    const caughtUp = verification.caughtUp().then(() => isRevoked);
    store.answerOldest();
    await flushPromises();
    store.answerOldest();
    assert.equal(await caughtUp, true);
    store.isHeld = false;
  });

  it("reads revocations at once after a hint, and again after a hint during a read", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t, { isShared: true });
    const token = store.add("grant 1");
    await verification.verify(token);
    store.isHeld = true;
    verification.hinted();
    await flushPromises();
    store.end("grant 1");
    verification.hinted();
    store.isHeld = false;
    store.answerOldest();
    await runtime.advance(0);
    await assert.rejects(verification.verify(token), InvalidToken);
  });

  it("reads nothing more when it is stopped during a read", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t, { isShared: true });
    store.isHeld = true;
    verification.hinted();
    verification.stop();
    store.isHeld = false;
    store.answerOldest();
    await flushPromises();
    assert.equal(runtime.timers, 0);
  });

  it("reports that it can't read revocations, and stops reading when it is stopped", async (t) => {
    const { store, runtime, verification } = await verificationWorld(t, { isShared: true });
    store.failure = new StoreUnavailable("The store can't be used now.");
    await runtime.advance(revocationPolling.everyMs);
    assert.deepEqual(
      runtime.logLines.map(({ level, sentence }) => [level, sentence]),
      [["warn", "what other nodes revoked could not be read"]],
    );
    verification.stop();
    const { revocationReads } = store;
    await runtime.advance(10_000);
    assert.deepEqual([store.revocationReads, runtime.timers], [revocationReads, 0]);
  });
});

function settling(promise: Promise<unknown>) {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  return { settled: () => isSettled };
}

async function verificationWorld(test: TestContext, { isShared = false } = {}) {
  const store = new HeldTokens({ isShared });
  const runtime = manualRuntime();
  const verification = new TokenVerifier({ store, runtime });
  await verification.start();
  test.after(() => verification.stop());
  return { store, runtime, verification };
}
