import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { generateCodeVerifier, OAuth2Client, OAuth2Fetch, type OAuth2Token } from "@badgateway/oauth2-client";
import { callback } from "../oauth-world.ts";
import { assertLinkLives, type ForeignWorld, foreignWorld, hasErrorText } from "./whole-flow.ts";

type AuthenticationMethod = ConstructorParameters<typeof OAuth2Client>[0]["authenticationMethod"];

// The first of these encodes even the hyphens and underscores of a secret.
const ways: readonly { readonly method: AuthenticationMethod; readonly hasPkce: boolean }[] = [
  { method: "client_secret_basic", hasPkce: true },
  { method: "client_secret_basic_interop", hasPkce: false },
  { method: "client_secret_post", hasPkce: true },
  { method: undefined, hasPkce: false },
];

describe("@badgateway/oauth2-client", () => {
  for (const { method, hasPkce } of ways) {
    const how = `${method ?? "the method that it discovers"}, ${hasPkce ? "with" : "without"} PKCE`;
    it(`finds everything by discovery and keeps its link by ${how}`, async (t) => {
      const world = await foreignWorld(t);
      const library = libraryFor(world, method);
      let token = await linked(world, library, hasPkce);

      await assertLinkLives(world, {
        accessToken: () => token.accessToken,
        async refresh() {
          token = await library.refreshToken(token);
        },
        revoke: () => library.revoke(token, "refresh_token"),
      });
    });
  }

  it("refreshes automatically when its access token has expired", async (t) => {
    const world = await foreignWorld(t);
    const library = libraryFor(world);
    const first = await linked(world, library, true);
    let stored = first;
    const keeping = new OAuth2Fetch({
      client: library,
      getNewToken: () => null,
      getStoredToken: () => stored,
      storeToken: (token) => {
        stored = token;
      },
      scheduleRefresh: false,
    });
    for (let hour = 1; hour <= 3; hour++) {
      await world.timePasses(3_601_000);
      assert.equal(await world.statusWith(stored.accessToken), 401);
      const answer = await keeping.fetch(`${world.baseUrl}/v3/users`);
      assert.deepEqual([answer.status, await answer.json()], [200, [world.userId]]);
    }
    assert.notEqual(stored.refreshToken, first.refreshToken);
  });

  it("reports a declined authorization", async (t) => {
    const world = await foreignWorld(t);
    const library = libraryFor(world);
    const address = await library.authorizationCode.getAuthorizeUri({ redirectUri: callback, state: "s-4" });
    const back = await world.visit(address, "decline");
    const redirect = library.authorizationCode.getTokenFromCodeRedirect(back, { redirectUri: callback, state: "s-4" });
    await assert.rejects(redirect, hasErrorText("access_denied"));
  });
});

function libraryFor(world: ForeignWorld, authenticationMethod?: AuthenticationMethod): OAuth2Client {
  return new OAuth2Client({
    server: world.baseUrl,
    clientId: world.client.id,
    clientSecret: world.client.secret,
    ...(authenticationMethod && { authenticationMethod }),
  });
}

async function linked(world: ForeignWorld, library: OAuth2Client, hasPkce: boolean): Promise<OAuth2Token> {
  const sent = {
    redirectUri: callback,
    state: "s-4",
    ...(hasPkce && { codeVerifier: await generateCodeVerifier() }),
  };
  const back = await world.visit(await library.authorizationCode.getAuthorizeUri(sent));
  return library.authorizationCode.getTokenFromCodeRedirect(back, sent);
}
