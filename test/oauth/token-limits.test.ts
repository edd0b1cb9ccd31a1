import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InvalidToken } from "../../src/model/errors.ts";
import { limits } from "../../src/model/limits.ts";
import { longSuiteOn } from "../stories/world.ts";
import { storedCounts } from "./bar/stored.ts";
import { oauthWorld } from "./oauth-world.ts";

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
      for (let count = 0; count < 2 * limits.tokensPerGrant + 200; count++) {
        last = { refreshToken: undefined, ...(await refresh(last.refreshToken!)) };
      }
      const { access_tokens, refresh_tokens } = await storedCounts(world);
      assert.ok(refresh_tokens! < limits.tokensPerGrant + 200, `${refresh_tokens} refresh tokens`);
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
      const { refresh_token } = await world.tokens();
      let accessToken = "";
      for (let count = 0; count < 2 * limits.tokensPerGrant; count++) {
        ({ accessToken } = await refresh(refresh_token));
      }
      await oauth.verify(accessToken);
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
  });
}
