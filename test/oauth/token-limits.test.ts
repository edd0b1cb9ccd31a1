import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AuditAct } from "../../src/identity/audit.ts";
import { hashOf } from "../../src/identity/secrets.ts";
import { InvalidGrant, InvalidToken } from "../../src/model/errors.ts";
import { limits } from "../../src/model/limits.ts";
import { longSuiteOn } from "../stories/world.ts";
import { storedCounts, storedRows } from "./bar/stored.ts";
import { oauthWorld, type Tokens } from "./oauth-world.ts";

/** Replaced refresh tokens that a grant keeps. */
const mostReplaced = 1_000;

for (const database of longSuiteOn("sqlite")) {
  describe(`a client in a loop, on ${database}`, () => {
    it("that refreshes keeps a bounded number of tokens, the newest of each kind", async (t) => {
      const world = await oauthWorld(t, { database });
      const { oauth } = world.service.parts;
      const client = (await oauth.findClient(world.client.id))!;
      const refresh = (refreshToken: string) =>
        oauth.tokens.refresh(client, { refreshToken, requestedScopes: null }, "192.0.2.1");
      const kept = await world.tokens();
      const first = await world.tokens();
      let last = { accessToken: first.access_token, refreshToken: first.refresh_token as string | undefined };
      // One refresh in 16 counts the tokens: of 200 further ones at least one does.
      for (let count = 0; count < limits.tokensPerGrant + mostReplaced + 300; count++) {
        last = { refreshToken: undefined, ...(await refresh(last.refreshToken!)) };
      }
      const { access_tokens, refresh_tokens } = await storedCounts(world);
      assert.ok(refresh_tokens! < limits.tokensPerGrant + mostReplaced + 200, `${refresh_tokens} refresh tokens`);
      assert.ok(access_tokens! < limits.tokensPerGrant + 200, `${access_tokens} access tokens`);
      await oauth.verify(last.accessToken);
      await refresh(last.refreshToken!);
      assert.equal(await world.statusWith(kept.access_token), 200, "another grant is not affected");
    });

    it("that always refreshes with its first token can continue", async (t) => {
      const world = await oauthWorld(t, { database });
      const { oauth } = world.service.parts;
      const client = (await oauth.findClient(world.client.id))!;
      const refresh = (refreshToken: string) =>
        oauth.tokens.refresh(client, { refreshToken, requestedScopes: null }, "192.0.2.1");
      const { refresh_token } = await tokenOfHash(
        () => world.tokens(),
        (first) => !"ABCD".includes(first),
      );
      let accessToken = "";
      for (let count = 0; count < 5 * limits.tokensPerGrant; count++) {
        ({ accessToken } = await refresh(refresh_token));
      }
      await oauth.verify(accessToken);
      const { access_tokens, refresh_tokens } = await storedCounts(world);
      assert.ok(access_tokens! < limits.tokensPerGrant + 200, `${access_tokens} access tokens`);
      assert.ok(refresh_tokens! < limits.tokensPerGrant, `${refresh_tokens} refresh tokens`);
    });

    it("that refreshes each hour reaches no limit, and its stolen token is noticed days later", async (t) => {
      const world = await oauthWorld(t, { database, isClockStill: true });
      const { oauth } = world.service.parts;
      const client = (await oauth.findClient(world.client.id))!;
      const refresh = async (refreshToken: string) =>
        (await oauth.tokens.refresh(client, { refreshToken, requestedScopes: null }, "192.0.2.1")).refreshToken!;
      const held = [(await world.tokens()).refresh_token];
      for (let hour = 0; hour < 200; hour++) {
        await world.timePasses(3_600_000);
        held.push(await refresh(held.at(-1)!));
      }
      await assert.rejects(refresh(held[10]!), InvalidGrant);
      await assert.rejects(refresh(held.at(-1)!), InvalidGrant, "its grant has ended");
      const entries = (await storedRows(world)).get("audit")!.filter(({ act }) => act === "refresh_reuse");
      assert.equal(entries.length, 1);
      const shown = await (await fetch(`${world.baseUrl}/metrics`)).text();
      assert.doesNotMatch(shown, /limit_reached_total\{[^}]*tokensPerGrant[^}]*\} [1-9]/);
    });

    it("that uses client_credentials loses its oldest tokens, and the audit log stays readable", async (t) => {
      const world = await oauthWorld(t, { database });
      const { oauth, identity } = world.service.parts;
      const { id } = await world.addClient({ kind: "enterprise", redirectUris: [] });
      const client = (await oauth.findClient(id))!;
      const take = () => oauth.tokens.issueToClient(client, null, "192.0.2.1");
      const first = await take();
      await oauth.verify(first.accessToken);
      for (let taken = 1; taken < limits.tokensPerClient; taken += 111)
        await Promise.all(Array.from({ length: 111 }, take));
      const last = await take();
      await oauth.verify(last.accessToken);
      await assert.rejects(oauth.verify(first.accessToken), InvalidToken);
      assert.ok((await storedCounts(world)).grants! <= limits.tokensPerClient);
      const written = (await identity.audit.list({ limit: 2_000 })).filter(({ act }) => act === "client_credentials");
      assert.ok(written.length >= 100 && written.length < 250, `${written.length} entries`);
    });

    it("that gets and revokes its own tokens, or uses siblings, leaves a bounded number of audit entries", async (t) => {
      const world = await oauthWorld(t, { database, isClockStill: true });
      const { oauth, identity } = world.service.parts;
      const { id } = await world.addClient({ kind: "enterprise", redirectUris: [] });
      const client = (await oauth.findClient(id))!;
      const round = async () => {
        const { accessToken } = await oauth.tokens.issueToClient(client, null, "192.0.2.1");
        await oauth.tokens.revoke(client, accessToken, "192.0.2.1");
      };
      const entriesOf = async (wanted: AuditAct) =>
        (await identity.audit.list({ limit: 5_000 })).filter(({ act }) => act === wanted);
      for (let count = 0; count < 300; count++) await round();
      for (const act of ["client_credentials", "revocation"] as const) {
        const counts = (await entriesOf(act)).map(({ detail }) => detail.inTenMinutes);
        assert.deepEqual(counts, [300, 200, ...Array.from({ length: 100 }, () => undefined)], act);
      }
      await world.timePasses(10 * 60_000);
      await round();
      assert.equal((await entriesOf("revocation")).length, 103, "10 minutes later it is audited again");

      const ofUser = (await oauth.findClient(world.client.id))!;
      const refresh = async (refreshToken: string) =>
        (await oauth.tokens.refresh(ofUser, { refreshToken, requestedScopes: null }, "192.0.2.1")).refreshToken!;
      const first = (await world.tokens()).refresh_token;
      for (let count = 0; count < 130; count++) await refresh(await refresh(first));
      const siblings = (await entriesOf("refresh_siblings")).length;
      assert.equal(siblings, 100);
      await world.timePasses(120_000);
      await assert.rejects(refresh(first), InvalidGrant);
      assert.equal((await entriesOf("refresh_reuse")).length, 1);
      const { access_token } = await world.tokens();
      await oauth.tokens.revoke(ofUser, access_token, "192.0.2.1");
      assert.equal((await entriesOf("revocation"))[0]?.userId, world.userId);
    });
  });
}

/** Tokens whose refresh token has a hash with such a first letter. */
async function tokenOfHash(tokens: () => Promise<Tokens>, isMeant: (first: string) => boolean): Promise<Tokens> {
  for (;;) {
    const found = await tokens();
    if (isMeant(hashOf(found.refresh_token).charAt(0))) return found;
  }
}
