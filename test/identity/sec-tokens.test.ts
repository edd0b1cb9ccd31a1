import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { secTokenLifetime } from "../../src/identity/sec-tokens.ts";
import { keyOf } from "../../src/identity/secrets.ts";
import { BadParameter, InvalidLogin, InvalidSecToken, TooManyRequests } from "../../src/model/errors.ts";
import { madeAlice } from "./made-identity.ts";

const minuteMs = 60_000;

describe("a login", () => {
  it("issues a secToken of the user, and stores only its hash", async (t) => {
    const { identity, login, store, userId, tenantId } = await madeAlice(t);
    const { userId: signedIn, secToken } = await login();
    assert.equal(signedIn, userId);
    assert.match(secToken, /^bws_[A-Za-z0-9_-]{49}$/);
    assert.deepEqual(await identity.authenticate(secToken), { kind: "user", userId, tenantId });
    const hash = createHash("sha256").update(secToken).digest("base64url");
    assert.equal((await store.read((tx) => tx.secTokens.find({ ownerId: userId, hash })))?.userId, userId);
    assert.equal(await store.read((tx) => tx.secTokens.find({ ownerId: userId, hash: secToken })), undefined);
  });

  it("fails in the same way for a wrong password, an unknown user and a wrong appId, each after one hash run", async (t) => {
    const { login, hashRuns } = await madeAlice(t);
    const wrong = [
      { password: "wrong password" },
      { name: "nobody" },
      { name: "x".repeat(500) },
      { appId: "8" },
      { appId: "seven" },
      { password: "x".repeat(500) },
    ];
    const errors: unknown[] = [];
    for (const [at, change] of wrong.entries()) {
      hashRuns.count = 0;
      await login({ ...change, source: `192.0.2.${at}` }).catch((error: unknown) => errors.push(error));
      assert.equal(hashRuns.count, 1, JSON.stringify(change));
    }
    assert.equal(errors.length, wrong.length);
    for (const error of errors) {
      assert.ok(error instanceof InvalidLogin);
      assert.equal(error.message, "Invalid login name or password.");
    }
  });

  it("is refused without a hash run after five failures, but not from another source", async (t) => {
    const { login, hashRuns, clock } = await madeAlice(t);
    for (let failure = 0; failure < 5; failure++) await assert.rejects(login({ password: "wrong one" }), InvalidLogin);
    hashRuns.count = 0;
    await assert.rejects(login(), TooManyRequests);
    assert.equal(hashRuns.count, 0);
    await login({ source: "192.0.2.2" });
    await assert.rejects(login(), TooManyRequests);
    clock.nowMs += 1_000;
    await login();
  });

  it("with text that can't be stored names the parameter and not the text", async (t) => {
    const { login } = await madeAlice(t);
    await assert.rejects(login({ name: "ali\0ce" }), BadParameter);
    await assert.rejects(login({ password: "half \uD83C" }), (error: unknown) => {
      assert.ok(error instanceof BadParameter);
      assert.equal(error.parameter, "password");
      assert.doesNotMatch(error.message, /half/);
      return true;
    });
  });

  it("fails when the password changes while the old one is checked", async (t) => {
    const { identity, login, userId, hashRuns } = await madeAlice(t);
    hashRuns.whileComparing = () => identity.setPassword(userId, "battery staple");
    await assert.rejects(login(), InvalidLogin);
  });
});

describe("a secToken", () => {
  it("expires 60 minutes after its last use", async (t) => {
    const { identity, login, clock } = await madeAlice(t);
    const { secToken } = await login();
    for (let use = 0; use < 5; use++) {
      clock.nowMs += 60 * minuteMs - 1;
      await identity.authenticate(secToken);
    }
    clock.nowMs += 60 * minuteMs;
    await assert.rejects(identity.authenticate(secToken), InvalidSecToken);
  });

  it("expires after 24 hours, however often it is used", async (t) => {
    const { identity, login, clock } = await madeAlice(t);
    const { secToken } = await login();
    for (let use = 0; use < 47; use++) {
      clock.nowMs += 30 * minuteMs;
      await identity.authenticate(secToken);
    }
    clock.nowMs += 30 * minuteMs - 1;
    await identity.authenticate(secToken);
    clock.nowMs += 1;
    await assert.rejects(identity.authenticate(secToken), InvalidSecToken);
  });

  it("is renewed in the store at most once a minute", async (t) => {
    const { identity, login, clock, store } = await madeAlice(t);
    const { secToken } = await login();
    const usedMs = async () => (await store.read((tx) => tx.secTokens.find(keyOf(secToken))))?.usedMs;
    const issuedMs = clock.nowMs;
    clock.nowMs += minuteMs - 1;
    await identity.authenticate(secToken);
    assert.equal(await usedMs(), issuedMs);
    clock.nowMs += 1;
    await Promise.all([1, 2, 3].map(() => identity.authenticate(secToken)));
    assert.equal(await usedMs(), issuedMs + minuteMs);
  });

  it("ends with logout, and no other token does", async (t) => {
    const { identity, login } = await madeAlice(t);
    const [one, other] = [await login(), await login()];
    await identity.logout(one.secToken);
    await assert.rejects(identity.authenticate(one.secToken), InvalidSecToken);
    await assert.rejects(identity.logout(one.secToken), InvalidSecToken);
    await identity.authenticate(other.secToken);
  });

  it("is one of 100 that a user may have; the least recently used is removed", async (t) => {
    const { identity, userId, clock, store } = await madeAlice(t);
    const made: string[] = [];
    for (let count = 0; count < 100; count++) {
      clock.nowMs += 1;
      made.push(await identity.issueFor(userId));
    }
    const [first, second, ...others] = made as [string, string, ...string[]];
    clock.nowMs += minuteMs;
    await identity.authenticate(first);
    const newest = await identity.issueFor(userId);
    await assert.rejects(identity.authenticate(second), InvalidSecToken);
    for (const one of [first, ...others, newest]) await identity.authenticate(one);
    assert.equal(await store.transaction((tx) => tx.secTokens.keepLastUsed(userId, 0)), 100);
  });

  it("that was never issued is invalid, whatever it looks like", async (t) => {
    const { identity } = await madeAlice(t);
    for (const text of ["", "bws_", `bws_${"A".repeat(43)}`, `bwa_${"A".repeat(43)}`, "a\0b", "x".repeat(60_000)]) {
      await assert.rejects(identity.authenticate(text), InvalidSecToken);
    }
  });

  it("is removed by the sweep when it has expired", async (t) => {
    const { identity, login, clock } = await madeAlice(t);
    await login();
    clock.nowMs += 30 * minuteMs;
    const { secToken } = await login();
    clock.nowMs += secTokenLifetime.idleMs - 30 * minuteMs + 1;
    assert.equal(await identity.sweep(), 1);
    await identity.authenticate(secToken);
    assert.equal(await identity.sweep(), 0);
  });
});
