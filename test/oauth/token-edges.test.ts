import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InvalidClient } from "../../src/model/errors.ts";
import type { GrantRow } from "../../src/store/tables/grants.ts";
import { storedCounts } from "./bar/stored.ts";
import { oauthWorld } from "./oauth-world.ts";

const hourMs = 3_600_000;

describe("a code", () => {
  it("is valid for less than its 60 seconds, and not at their end", async (t) => {
    const world = await oauthWorld(t, { isClockStill: true });
    const [early, late] = [await world.code(), await world.code()];
    await world.timePasses(59_999);
    assert.equal((await world.exchange(early)).status, 200);
    await world.timePasses(1);
    assert.equal((await world.exchange(late)).body.error, "invalid_grant");
  });
});

describe("a client that was removed while it asked for a token", () => {
  it("gets none, and leaves no grant", async (t) => {
    const world = await oauthWorld(t);
    const { oauth } = world.service.parts;
    const { id } = await world.addClient({ kind: "enterprise", redirectUris: [] });
    const [own, ofUsers] = [(await oauth.findClient(id))!, (await oauth.findClient(world.client.id))!];
    const { refresh_token: refreshToken } = await world.tokens();
    const code = await world.code();
    for (const { id } of [own, ofUsers]) await oauth.removeClient(id);
    const source = "192.0.2.1";
    await assert.rejects(oauth.tokens.issueToClient(own, null, source), InvalidClient);
    const exchange = { code, redirectUri: undefined, verifier: undefined };
    await assert.rejects(oauth.tokens.exchangeCode(ofUsers, exchange, source), InvalidClient);
    await assert.rejects(oauth.tokens.refresh(ofUsers, { refreshToken, requestedScopes: null }, source), InvalidClient);
    const { grants, access_tokens, refresh_tokens } = await storedCounts(world);
    assert.deepEqual([grants, access_tokens, refresh_tokens], [0, 0, 0]);
  });
});

describe("a grant without tokens", () => {
  it("is removed when it is older than an access token can be, not while its first token may be on its way", async (t) => {
    const world = await oauthWorld(t);
    const { store, oauth } = world.service.parts;
    const grant: GrantRow = {
      id: "grant without tokens",
      tenantId: world.tenantId,
      userId: world.userId,
      clientId: world.client.id,
      covers: "user",
      scope: null,
      termsVersion: null,
      termsMs: null,
    };
    await store.transaction((tx) => tx.grants.add(grant));
    const exists = async () => (await store.read((tx) => tx.grants.usable([grant]))).has(grant.id);
    await oauth.tokens.sweep();
    assert.equal(await exists(), true);
    await world.timePasses(2 * hourMs);
    await oauth.tokens.sweep();
    assert.equal(await exists(), false);
  });
});

describe("a stream", () => {
  it("of a command ends with the command's token, and one of a client with the client's", async (t) => {
    const world = await oauthWorld(t, { isClockStill: true });
    const { oauth } = world.service.parts;
    const ofCommand = await oauth.commandTokens.issue(world.tenantId, "bwc_own");
    const life = await oauth.watch(ofCommand, () => undefined);
    const { access_token } = await world.tokens();
    await oauth.verify(access_token);
    const revoked: string[] = [];
    const ofClient = await oauth.watch(access_token, () => revoked.push("client"));
    assert.deepEqual([life.clientId, ofClient.clientId], ["bwc_own", world.client.id]);
    const haveExpired = () => [life.hasExpired(), ofClient.hasExpired()];
    const callers = [await oauth.verify(ofCommand), await oauth.verify(access_token)];
    assert.deepEqual(
      callers.map(({ clientId, isCommand }) => [clientId, isCommand]),
      [
        ["bwc_own", true],
        [world.client.id, undefined],
      ],
    );
    life.release();
    assert.equal((await world.revoke(access_token)).status, 200);
    assert.deepEqual(revoked, ["client"]);
    // Both were issued just now, for an hour.
    await world.timePasses(hourMs - 1);
    assert.deepEqual(haveExpired(), [false, false]);
    await world.timePasses(1);
    assert.deepEqual(haveExpired(), [true, true]);
  });
});
