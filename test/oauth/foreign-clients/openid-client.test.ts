import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as openid from "openid-client";
import { callback } from "../oauth-world.ts";
import { assertLinkLives, type ForeignWorld, foreignWorld, hasErrorText } from "./whole-flow.ts";

const authentications = {
  "its secret in the body": openid.ClientSecretPost,
  "its secret in the header": openid.ClientSecretBasic,
};

describe("openid-client", () => {
  for (const [name, authentication] of Object.entries(authentications)) {
    it(`finds everything by discovery and keeps its link, with PKCE and ${name}`, async (t) => {
      const world = await foreignWorld(t);
      const configuration = await discovered(world, authentication(world.client.secret));
      const pkceCodeVerifier = openid.randomPKCECodeVerifier();
      const state = openid.randomState();
      const address = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: callback,
        state,
        code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: "S256",
      });
      const checks = { expectedState: state, pkceCodeVerifier };
      let tokens = await openid.authorizationCodeGrant(configuration, await world.visit(address), checks);
      assert.equal(tokens.expires_in, 3600);

      await assertLinkLives(world, {
        accessToken: () => tokens.access_token,
        async refresh() {
          tokens = await openid.refreshTokenGrant(configuration, tokens.refresh_token!);
        },
        revoke: () => openid.tokenRevocation(configuration, tokens.refresh_token!),
        async get(path) {
          const url = new URL(path, world.baseUrl);
          try {
            const answer = await openid.fetchProtectedResource(configuration, tokens.access_token, url, "GET");
            return { status: answer.status, body: await answer.json() };
          } catch (error) {
            // It reads the challenge of a 401, and says so with an error of its own.
            if (!(error instanceof openid.WWWAuthenticateChallengeError)) throw error;
            assert.equal(error.cause[0]?.parameters.error, "invalid_token");
            return { status: error.status, body: undefined };
          }
        },
      });
    });
  }

  it("works without PKCE, with only the parameters of the interface", async (t) => {
    const world = await foreignWorld(t);
    const configuration = await discovered(world, openid.ClientSecretPost(world.client.secret));
    const address = openid.buildAuthorizationUrl(configuration, { state: "known" });
    assert.ok(!address.searchParams.has("redirect_uri"));
    const back = await world.visit(address);
    const tokens = await openid.authorizationCodeGrant(configuration, back, { expectedState: "known" });
    assert.equal(await world.statusWith(tokens.access_token), 200);
  });

  it("reports a declined authorization, and accepts it because of its issuer", async (t) => {
    const world = await foreignWorld(t);
    const configuration = await discovered(world, openid.ClientSecretPost(world.client.secret));
    const address = openid.buildAuthorizationUrl(configuration, { state: "known" });
    const back = await world.visit(address, "decline");
    const granted = (url: URL) => openid.authorizationCodeGrant(configuration, url, { expectedState: "known" });
    await assert.rejects(granted(back), hasErrorText("access_denied"));
    back.searchParams.set("iss", "https://elsewhere.example");
    await assert.rejects(granted(back), hasErrorText('unexpected "iss"'));
  });
});

function discovered(world: ForeignWorld, authentication: openid.ClientAuth): Promise<openid.Configuration> {
  return openid.discovery(new URL(world.baseUrl), world.client.id, undefined, authentication, {
    algorithm: "oauth2",
    // Loopback has no TLS.
    execute: [openid.allowInsecureRequests],
  });
}
