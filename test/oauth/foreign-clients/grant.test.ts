import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, it, type TestContext } from "node:test";
import { ScriptedBrowser } from "../scripted-browser.ts";
import { startApplication } from "./application.ts";
import { type AnyJson, assertLinkLives, foreignWorld, hasErrorText } from "./whole-flow.ts";

// Its type declarations don't match its exports.
const grant: AnyJson = createRequire(import.meta.url)("grant");

const ways = [
  { method: "client_secret_post", pkce: true },
  { method: "client_secret_basic", pkce: false },
];

describe("grant", () => {
  for (const { method, pkce } of ways) {
    it(`links an application's visitor by ${method}, ${pkce ? "with" : "without"} PKCE`, async (t) => {
      const { world, visitor } = await grantApplication(t, { pkce, token_endpoint_auth_method: method });
      const { location } = await visitor.get("/connect/breezeway");
      const issued = JSON.parse((await visitor.get(String(await world.visit(location)))).body);
      assert.equal(issued.error, undefined);
      assert.equal(issued.raw.expires_in, 3600);
      let tokens = issued;

      // The library only delivers the tokens. The application does the rest.
      await assertLinkLives(world, {
        accessToken: () => tokens.access_token,
        async refresh() {
          const { status, body } = await world.refresh(tokens.refresh_token, world.linking);
          if (status !== 200) throw Object.assign(new Error("no tokens"), { body });
          tokens = body;
        },
        async revoke() {
          assert.equal((await world.revoke(tokens.refresh_token, world.linking)).status, 200);
        },
      });
    });
  }

  it("reports a declined authorization", async (t) => {
    const { world, visitor } = await grantApplication(t, {});
    const { location } = await visitor.get("/connect/breezeway");
    const { body } = await visitor.get(String(await world.visit(location, "decline")));
    assert.ok(hasErrorText("access_denied")(body), body);
  });

  it("refuses a code of another browser", async (t) => {
    const { application, world, visitor } = await grantApplication(t, {});
    const { location } = await visitor.get("/connect/breezeway");
    const back = String(await world.visit(location));
    const stranger = new ScriptedBrowser(() => application.url);
    await stranger.get("/connect/breezeway");
    assert.match((await stranger.get(back)).body, /state mismatch/);
  });
});

/** An application on the library's plainest handler. */
async function grantApplication(test: TestContext, how: AnyJson) {
  const service = await foreignWorld(test);
  const application = await startApplication(test);
  const callback = `${application.url}/connect/breezeway/callback`;
  const linking = await service.addClient({ name: "Lantern", redirectUris: [callback] });
  const world = Object.assign(service, { linking });
  const library = grant.node({
    config: {
      defaults: { origin: application.url, transport: "state", state: true },
      breezeway: {
        oauth: 2,
        authorize_url: world.endpoints.authorize,
        access_url: world.endpoints.token,
        key: linking.id,
        secret: linking.secret,
        scope: ["devices"],
        ...how,
      },
    },
    session: { secret: "a secret of the application's own" },
  });
  application.handle = async (request, response) => {
    const { response: issued, redirect } = await library(request, response);
    if (!redirect) response.end(JSON.stringify(issued));
  };
  return { application, world, visitor: new ScriptedBrowser(() => application.url) };
}
