import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { describe, it, type TestContext } from "node:test";
import { ScriptedBrowser } from "../scripted-browser.ts";
import { startApplication } from "./application.ts";
import { type AnyJson, assertLinkLives, foreignWorld } from "./whole-flow.ts";

// These packages have no types.
const load = createRequire(import.meta.url);
const { Passport }: AnyJson = load("passport");
const OAuth2Strategy: AnyJson = load("passport-oauth2");

describe("passport-oauth2", () => {
  for (const hasPkce of [false, true]) {
    it(`links an application's visitor, ${hasPkce ? "with" : "without"} PKCE, and keeps the link`, async (t) => {
      const { world, strategy, visitor } = await passportApplication(t, hasPkce);
      const { location } = await visitor.get("/login");
      const back = await world.visit(location);
      const welcomed = await visitor.get(String(back));
      assert.equal(welcomed.status, 200, welcomed.body);
      let { accessToken, refreshToken, type } = JSON.parse(welcomed.body);
      assert.equal(type, "Bearer");

      // The client inside passport-oauth2, which strategies and applications use for refreshes and calls.
      const { _oauth2: oauth2 } = strategy;
      oauth2.useAuthorizationHeaderforGET(true);
      await assertLinkLives(world, {
        accessToken: () => accessToken,
        refresh: () =>
          new Promise((resolve, reject) => {
            const sent = { grant_type: "refresh_token" };
            oauth2.getOAuthAccessToken(refreshToken, sent, (error: unknown, access: string, refresh: string) => {
              if (error) return reject(error);
              [accessToken, refreshToken] = [access, refresh];
              resolve();
            });
          }),
        async revoke() {
          // It has no revocation of its own.
          assert.equal((await world.revoke(refreshToken, world.linking)).status, 200);
        },
        get: (path) =>
          new Promise((resolve) => {
            oauth2.get(`${world.baseUrl}${path}`, accessToken, (error: AnyJson, body: string) => {
              resolve(error ? { status: error.statusCode, body: error.data } : { status: 200, body: JSON.parse(body) });
            });
          }),
      });
    });
  }

  it("refuses a browser that did not begin the flow, and the code stays valid", async (t) => {
    const { application, world, visitor } = await passportApplication(t, false);
    const { location } = await visitor.get("/login");
    const back = String(await world.visit(location));
    const stranger = new ScriptedBrowser(() => application.url);
    assert.equal((await stranger.get(back)).status, 403);
    assert.equal((await visitor.get(back)).status, 200);
  });

  it("reports a declined authorization", async (t) => {
    const { world, visitor } = await passportApplication(t, false);
    const { location } = await visitor.get("/login");
    assert.equal((await visitor.get(String(await world.visit(location, "decline")))).status, 401);
  });
});

/** An application with two routes and sessions, as the package's own documentation has it. */
async function passportApplication(test: TestContext, hasPkce: boolean) {
  const service = await foreignWorld(test);
  const application = await startApplication(test);
  const callbackURL = `${application.url}/callback`;
  const linking = await service.addClient({ name: "Lantern", redirectUris: [callbackURL] });
  const world = Object.assign(service, { linking });
  const strategy = new OAuth2Strategy(
    {
      authorizationURL: world.endpoints.authorize,
      tokenURL: world.endpoints.token,
      clientID: linking.id,
      clientSecret: linking.secret,
      callbackURL,
      scope: ["devices"],
      state: true,
      ...(hasPkce && { pkce: true }),
    },
    // The library passes its values by the number of these parameters.
    (accessToken: string, refreshToken: string, answer: AnyJson, _profile: unknown, done: AnyJson) =>
      done(null, { accessToken, refreshToken, type: answer.token_type }),
  );
  const passport = new Passport();
  passport.use(strategy);
  const authenticate = passport.authenticate("oauth2", { session: false });
  const sessions = new Map<string, object>();
  application.handle = (request: AnyJson, response) => {
    const id = /session=([^;]+)/.exec(request.headers.cookie ?? "")?.[1] ?? randomUUID();
    const session = sessions.get(id) ?? {};
    sessions.set(id, session);
    response.setHeader("set-cookie", `session=${id}; HttpOnly`);
    const query = Object.fromEntries(new URL(request.url, application.url).searchParams);
    authenticate(Object.assign(request, { session, query }), response, (error?: Error) => {
      response.statusCode = error ? 500 : 200;
      response.end(error ? error.message : JSON.stringify(request.user));
    });
  };
  return { application, world, strategy, visitor: new ScriptedBrowser(() => application.url) };
}
