import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ClientAuthentication, CodeChallengeMethod, OAuth2Client } from "google-auth-library";
import { callback } from "../oauth-world.ts";
import { assertLinkLives, type ForeignWorld, foreignWorld } from "./whole-flow.ts";

describe("google-auth-library", () => {
  for (const method of [ClientAuthentication.ClientSecretPost, ClientAuthentication.ClientSecretBasic]) {
    it(`keeps its link, though it keeps its first refresh token for ever, by ${method}`, async (t) => {
      const world = await foreignWorld(t);
      const library = await linked(world, method);
      const { refresh_token: first } = library.credentials;

      await assertLinkLives(world, {
        accessToken: () => library.credentials.access_token!,
        async refresh() {
          await library.refreshAccessToken();
          assert.equal(library.credentials.refresh_token, first);
        },
        async revoke() {
          // The library revokes without a client secret, which the service requires.
          assert.equal((await world.revoke(first!)).status, 200);
        },
        async get(path) {
          const { status, data } = await library.request({
            url: `${world.baseUrl}${path}`,
            validateStatus: () => true,
          });
          return { status, body: data };
        },
      });
    });
  }

  it("refreshes automatically when its access token has expired, each time with the same refresh token", async (t) => {
    const world = await foreignWorld(t);
    const library = await linked(world);
    library.forceRefreshOnFailure = true;
    for (let hour = 1; hour <= 3; hour++) {
      const { access_token: expiring } = library.credentials;
      await world.timePasses(3_601_000);
      const { data } = await library.request({ url: `${world.baseUrl}/v3/users` });
      assert.deepEqual(data, [world.userId]);
      assert.notEqual(library.credentials.access_token, expiring);
    }
  });
});

async function linked(world: ForeignWorld, clientAuthentication = ClientAuthentication.ClientSecretPost) {
  const library = new OAuth2Client({
    clientId: world.client.id,
    clientSecret: world.client.secret,
    redirectUri: callback,
    clientAuthentication,
    endpoints: {
      oauth2AuthBaseUrl: world.endpoints.authorize,
      oauth2TokenUrl: world.endpoints.token,
      oauth2RevokeUrl: world.endpoints.revoke,
    },
  });
  const { codeVerifier, codeChallenge } = await library.generateCodeVerifierAsync();
  const address = library.generateAuthUrl({
    access_type: "offline",
    prompt: "consent",
    scope: ["devices"],
    state: "s-5",
    code_challenge: codeChallenge!,
    code_challenge_method: CodeChallengeMethod.S256,
  });
  const code = (await world.visit(address)).searchParams.get("code")!;
  const { tokens } = await library.getToken({ code, codeVerifier });
  library.setCredentials(tokens);
  return library;
}
