import assert from "node:assert/strict";
import { describe, it } from "node:test";
import ClientOAuth2 from "client-oauth2";
import { callback } from "../oauth-world.ts";
import { assertLinkLives, type ForeignWorld, foreignWorld, hasErrorText } from "./whole-flow.ts";

describe("client-oauth2", () => {
  it("keeps its link, and signs its calls because the answer names the token's type", async (t) => {
    const world = await foreignWorld(t);
    const library = libraryFor(world);
    const back = await world.visit(library.code.getUri());
    let token = await library.code.getToken(String(back));
    assert.equal(token.tokenType, "bearer");
    assert.equal(token.expired(), false);

    await assertLinkLives(world, {
      accessToken: () => token.accessToken,
      async refresh() {
        token = await token.refresh();
      },
      async revoke() {
        // It has no revocation of its own.
        assert.equal((await world.revoke(token.refreshToken)).status, 200);
      },
      async get(path) {
        const { url, headers } = token.sign({ url: `${world.baseUrl}${path}`, headers: {} });
        const answer = await fetch(url, { headers });
        return { status: answer.status, body: await answer.json() };
      },
    });
  });

  it("reports a declined authorization in its own words", async (t) => {
    const world = await foreignWorld(t);
    const library = libraryFor(world);
    const back = await world.visit(library.code.getUri(), "decline");
    await assert.rejects(library.code.getToken(String(back)), hasErrorText("access_denied"));
  });
});

function libraryFor(world: ForeignWorld): ClientOAuth2 {
  return new ClientOAuth2({
    clientId: world.client.id,
    clientSecret: world.client.secret,
    authorizationUri: world.endpoints.authorize,
    accessTokenUri: world.endpoints.token,
    redirectUri: callback,
    scopes: ["devices", "users"],
    state: "s-3",
  });
}
