import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it, type TestContext } from "node:test";
import { grantsAtOnce } from "../../src/identity/grants.ts";
import { keyOf, newOwnedSecret } from "../../src/identity/secrets.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../src/model/errors.ts";
import { limits } from "../../src/model/limits.ts";
import { rounds } from "../set-up/extent.ts";
import { longSuiteOn } from "../stories/world.ts";
import { storedCounts } from "./bar/stored.ts";
import { type OAuthWorld, oauthWorld } from "./oauth-world.ts";

const minuteMs = 60_000;

for (const database of longSuiteOn("sqlite")) {
  describe(`many grants of one user on ${database}`, () => {
    it("end beyond the limit of one client, that with the oldest last use first, and others stay", async (t) => {
      const world = await oauthWorld(t, { database });
      const { identity, store } = world.service.parts;
      const most = limits.grantsPerUserAndClient;
      const otherClient = await world.addClient({ name: "Other App" });
      const ofOtherClient = await world.tokens(otherClient);
      const ofOtherUser = await world.tokens(world.client, { name: "bob", password: "another word" });
      const first = await world.tokens();
      const second = await world.tokens();
      await world.timePasses(minuteMs);
      await addGrants(world, most - 2);
      const grants = async () =>
        (await store.read((tx) => tx.grants.ofUserToClient(world.userId, world.client.id))).length;
      const ended = async () =>
        (await identity.audit.list({ limit: 200 }))
          .filter(
            ({ act, clientId, userId }) => act === "grant" && clientId === world.client.id && userId === world.userId,
          )
          .map(({ detail }) => detail.grantsEnded);
      assert.equal(await grants(), most);
      assert.deepEqual(await ended(), [undefined, undefined]);

      await world.timePasses(minuteMs);
      await store.transaction(async (tx) => {
        const nowMs = await tx.clock.nowMs();
        const access = await tx.accessTokens.find(keyOf(first.access_token));
        await tx.grants.used(access!.grant, nowMs, nowMs);
      });
      const newest = await world.tokens();
      assert.equal(await grants(), most);
      assert.deepEqual(await ended(), [1, undefined, undefined]);
      assert.equal(await world.statusWith(second.access_token), 401);
      assert.equal((await world.refresh(second.refresh_token)).status, 400);
      for (const { access_token } of [first, newest, ofOtherClient, ofOtherUser]) {
        assert.equal(await world.statusWith(access_token), 200);
      }
    });

    it("from before the limit end with the next authorizations, a part with each", async (t) => {
      const world = await oauthWorld(t, { database });
      const { store } = world.service.parts;
      await addGrants(world, 3 * grantsAtOnce);
      const left: number[] = [];
      for (let round = 0; round < 4; round++) {
        await world.timePasses(minuteMs);
        await world.tokens();
        left.push((await store.read((tx) => tx.grants.ofUser(world.userId))).length);
      }
      assert.deepEqual(left, [201, 102, 50, 50]);
    });

    it("end a part in each transaction: with the client, with its access, and with a new password", async (t) => {
      const count = rounds({ all: 5_000, few: 1_000 });
      const acts: Readonly<Record<string, (world: OAuthWorld) => Promise<number>>> = {
        "the client is removed": async ({ service, client }) =>
          (await service.parts.oauth.removeClient(client.id)).grants,
        "the user ends its access": async ({ service, client, userId, tenantId }) => {
          const user = { userId, tenantId, name: "ada", createdMs: 0 };
          assert.equal(await service.parts.account.endAccess(user, client.id, "192.0.2.1"), true);
          const [entry] = await service.parts.identity.audit.list({ limit: 1 });
          return entry?.detail.grants as number;
        },
        "the password changes": async ({ service, userId }) =>
          (await service.parts.identity.setPassword(userId, "a new password")).grants,
        "the user is removed": async ({ service, userId }) =>
          (await service.parts.identity.removeUser(userId)).grants.length,
      };
      const world = await oauthWorld(t, { database });
      for (const [name, act] of Object.entries(acts)) {
        await addGrants(world, count);
        const { result, largest, longestMs } = await watched(t, world, () => act(world));
        t.diagnostic(`${name}: ${count} grants, the longest turn took ${longestMs.toFixed(1)} ms`);
        assert.equal(result, count, name);
        assert.ok(largest <= grantsAtOnce, `${name}: one transaction ended ${largest} grants`);
        const { grants, access_tokens, refresh_tokens } = await storedCounts(world);
        assert.deepEqual({ grants, access_tokens, refresh_tokens }, { grants: 0, access_tokens: 0, refresh_tokens: 0 });
      }
    });

    it("that have expired are swept without a long turn", async (t) => {
      const world = await oauthWorld(t, { database });
      const { oauth } = world.service.parts;
      const count = rounds({ all: 5_000, few: 1_000 });
      await addGrants(world, count);
      await world.timePasses(2 * 3_600_000);
      const { longestMs } = await watched(t, world, () => oauth.tokens.sweep());
      t.diagnostic(`${count} grants, the longest turn took ${longestMs.toFixed(1)} ms`);
      const { grants, access_tokens } = await storedCounts(world);
      assert.deepEqual([grants, access_tokens], [count, 0], "their refresh tokens are valid");
    });
  });
}

describe("the removal of a client with many grants", () => {
  it("ends all access at once, and continues when it was interrupted", async (t) => {
    const world = await oauthWorld(t);
    const { oauth, store } = world.service.parts;
    await addGrants(world, 3 * grantsAtOnce);
    const { access_token } = await world.tokens(world.client, { name: "bob", password: "another word" });
    assert.equal(await world.statusWith(access_token), 200);
    const broken = failingAfter(t, store, 2, new Error("killed"));
    await assert.rejects(oauth.removeClient(world.client.id), /killed/);
    broken.mock.restore();
    assert.equal(await world.statusWith(access_token), 401);
    assert.notEqual((await oauth.findClient(world.client.id))?.suspendedMs, null);
    const { grants } = await oauth.removeClient(world.client.id);
    assert.ok(grants < 3 * grantsAtOnce + 1, `${grants} grants were left`);
    assert.equal((await storedCounts(world)).grants, 0);
    assert.equal(await oauth.findClient(world.client.id), undefined);
  });
});

describe("an act that ends grants in several transactions", () => {
  it("says that nothing was changed only if the store fails in the first", async (t) => {
    const world = await oauthWorld(t);
    const { client, userId, tenantId } = world;
    const { store, oauth, identity, account } = world.service.parts;
    const user = { userId, tenantId, name: "ada", createdMs: 0 };
    const acts: readonly (readonly [name: string, steps: number, act: () => Promise<unknown>])[] = [
      ["the user ends the client's access", 2, () => account.endAccess(user, client.id, "192.0.2.1")],
      ["the password changes", 2, () => identity.setPassword(userId, "a new password")],
      ["the user is removed", 2, () => identity.removeUser(userId)],
      ["the client is removed", 3, () => oauth.removeClient(client.id)],
    ];
    for (const [name, steps, act] of acts) {
      for (let done = 0; done < steps; done++) {
        // More than one transaction ends, and fewer than two.
        await addGrants(world, 1.5 * grantsAtOnce - (await storedCounts(world)).grants!);
        const broken = failingAfter(t, store, done, new StoreUnavailable("It is down."));
        const isKnown = (error: unknown) =>
          error instanceof StoreUnavailable && error instanceof OutcomeUnknown === done > 0;
        await assert.rejects(act(), isKnown, `${name}, after ${done} transactions`);
        broken.mock.restore();
      }
    }
  });

  it("says that a client may be resumed although its messages wait", async (t) => {
    const { client, service } = await oauthWorld(t);
    const { store, oauth } = service.parts;
    await oauth.suspendClient(client.id);
    const broken = failingAfter(t, store, 1, new StoreUnavailable("It is down."));
    await assert.rejects(oauth.resumeClient(client.id), OutcomeUnknown);
    broken.mock.restore();
    assert.equal((await oauth.findClient(client.id))?.suspendedMs, null);
  });
});

/** The store fails after so many transactions. */
function failingAfter(t: TestContext, store: OAuthWorld["service"]["parts"]["store"], count: number, error: Error) {
  const transaction = store.transaction.bind(store);
  let left = count;
  return t.mock.method(store, "transaction", ((...call: Parameters<typeof transaction>) =>
    left-- > 0 ? transaction(...call) : Promise.reject(error)) as typeof transaction);
}

/** Adds grants of ada to the client, with an access token and a refresh token each. */
async function addGrants({ service, tenantId, userId, client }: OAuthWorld, count: number): Promise<void> {
  await service.parts.store.transaction(async (tx) => {
    const nowMs = await tx.clock.nowMs();
    for (let place = 0; place < count; place++) {
      const id = randomUUID();
      await tx.grants.add({ id, tenantId, userId, clientId: client.id, covers: "user" });
      await tx.accessTokens.add(keyOf(newOwnedSecret("bwa_", userId)), id, nowMs + 3_600_000);
      const times = { issuedMs: nowMs, expiresMs: nowMs + 3e10 };
      await tx.refreshTokens.add({ ...keyOf(newOwnedSecret("bwr_", userId)), grantId: id, parentHash: null, ...times });
    }
  });
}

/** Runs an act; returns how many grants its largest transaction ended, and how long other work waited at most. */
async function watched<Result>(t: TestContext, { service }: OAuthWorld, act: () => Promise<Result>) {
  const { store } = service.parts;
  const transaction = store.transaction.bind(store);
  let largest = 0;
  const counting = t.mock.method(store, "transaction", ((...[body, options]: Parameters<typeof transaction>) =>
    transaction(async (tx) => {
      const removed = t.mock.method(tx.grants, "removeAll");
      const result = await body(tx);
      let ended = 0;
      for (const call of removed.mock.calls) ended += (await call.result)?.length ?? 0;
      removed.mock.restore();
      largest = Math.max(largest, ended);
      return result;
    }, options)) as typeof transaction);
  let [longestMs, lastMs] = [0, performance.now()];
  const timer = setInterval(() => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  }, 1);
  try {
    return { result: await act(), largest, longestMs };
  } finally {
    clearInterval(timer);
    counting.mock.restore();
  }
}
