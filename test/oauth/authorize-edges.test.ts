import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StoreUnavailable } from "../../src/model/errors.ts";
import { longestState } from "../../src/oauth/authorize/request.ts";
import { ask, atLogin, queryOf, right } from "./bar/browsing.ts";
import { redirectParameters } from "./bar/shown-pages.ts";
import { ada, admin, callback, oauthWorld } from "./oauth-world.ts";
import { formOf } from "./scripted-browser.ts";

const pageMs = 10 * 60_000;

describe("a page of the authorization server", () => {
  it("is valid for less than ten minutes, and not at their end", async (t) => {
    const world = await oauthWorld(t, { isClockStill: true });
    const [early, late] = [await atLogin(world), await atLogin(world)];
    await world.timePasses(pageMs - 1);
    const signedIn = await early.browser.submit(early.form, right);
    assert.equal(signedIn.status, 303);
    await world.timePasses(1);
    const refused = await late.browser.submit(late.form, right);
    assert.deepEqual([refused.status, refused.location], [400, ""]);
    assert.match(refused.body, /This page has expired/);

    await world.timePasses(pageMs - 2);
    const terms = await early.browser.get(signedIn.location);
    assert.equal(terms.status, 200);
    await world.timePasses(1);
    const decided = await early.browser.submit(formOf(terms), { decision: "accept" });
    assert.deepEqual([decided.status, decided.location], [400, ""]);
    assert.equal((await early.browser.get(signedIn.location)).status, 400);
  });

  it("does not say that the user or the client is at fault when the store can't be used", async (t) => {
    const world = await oauthWorld(t);
    const { identity, store } = world.service.parts;
    const fail = () => Promise.reject(new StoreUnavailable("The store can't be used now."));
    const { browser, form } = await atLogin(world);
    const signIn = t.mock.method(identity, "signIn", fail);
    const login = await browser.submit(form, right);
    signIn.mock.restore();
    const read = t.mock.method(store, "read", fail);
    const request = await browser.get(world.authorizeUrl());
    read.mock.restore();
    for (const { status, location, body } of [login, request]) {
      assert.deepEqual([status, location], [503, ""]);
      assert.doesNotMatch(body, /Too many attempts|is wrong/);
    }
    assert.equal((await browser.submit(form, right)).status, 303, "the page is still valid");
  });

  it("asks for one account, or for the whole tenant of an enterprise client", async (t) => {
    const world = await oauthWorld(t);
    const enterprise = await world.addClient({ name: "Fleet", kind: "enterprise" });
    const ofUser = await world.browser().signIn(world.authorizeUrl(), ada);
    assert.match(ofUser.body, /<h1>Let <bdi>Voice<\/bdi> use your account\?/);
    const ofTenant = await world.browser().signIn(world.authorizeUrl({ client_id: enterprise.id }), admin);
    assert.match(ofTenant.body, /<h1>Let <bdi>Fleet<\/bdi> manage all of /);
  });
});

describe("a refused request to authorize", () => {
  it("tells the client what it has to change", async (t) => {
    const world = await oauthWorld(t);
    const strict = await world.addClient({ requiresPkce: true });
    const description = async (change: Readonly<Record<string, string>>) =>
      redirectParameters(await ask(world, queryOf(world, change)), callback).get("error_description");
    const long = "s".repeat(longestState + 1);
    assert.equal(await description({ state: long }), "The parameter state must have at most 2048 bytes.");
    assert.equal(await description({ client_id: strict.id }), "This client must send code_challenge (PKCE).");
    assert.equal(await description({ code_challenge: "c" }), "The parameter code_challenge_method must be S256.");
  });
});
