import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { loginPageStep } from "../../../src/store/migrations.ts";
import { storedRows } from "../../oauth/bar/stored.ts";
import { ada, callback, oauthWorld } from "../../oauth/oauth-world.ts";
import { formOf } from "../../oauth/scripted-browser.ts";
import { deployments } from "../../set-up/deployment.ts";
import { hasPostgres } from "../../set-up/extent.ts";

const tenMinutesMs = 10 * 60_000;
const credentials = { username: ada.name, password: ada.password };

describe("settled: authorize redirects to the tenant's login page", () => {
  for (const database of deployments) {
    it(`leads by redirects from the login page over the terms to the client (${database})`, async (t) => {
      const world = await oauthWorld(t, { database });
      const authorized = await fetch(world.authorizeUrl({ state: "a b&c" }), { redirect: "manual" });
      assert.equal(authorized.status, 302);
      const loginUrl = new URL(authorized.headers.get("location") ?? "", world.baseUrl);
      assert.equal(loginUrl.origin, new URL(world.baseUrl).origin);
      assert.notEqual(loginUrl.pathname, "/oauth2/authorize");
      assert.deepEqual(authorized.headers.getSetCookie(), [], "the login page sets the cookie");

      const browser = world.browser();
      const login = await browser.get(loginUrl.href);
      assert.equal(login.status, 200);
      assert.match(login.body, /Acme/);
      assert.equal(login.headers.getSetCookie().length, 1);
      const signedIn = await browser.submit(formOf(login), credentials);
      assert.equal(signedIn.status, 303);
      const terms = await browser.get(signedIn.location);
      const accepted = await browser.submit(formOf(terms), { decision: "accept" });
      assert.equal(accepted.status, 302);
      const returned = new URL(accepted.location);
      assert.equal(returned.origin + returned.pathname, callback);
      assert.equal(returned.searchParams.get("state"), "a b&c");
      assert.equal((await world.exchange(returned.searchParams.get("code") ?? "")).status, 200);
    });
  }

  const skip = hasPostgres ? false : "without PostgreSQL";
  it("shows the page at authorize itself while a node of a version without its address is alive", {
    skip,
  }, async (t) => {
    const world = await oauthWorld(t, { database: "postgres" });
    const database = new pg.Client({ connectionString: world.databaseUrl });
    await database.connect();
    t.after(() => database.end());
    const columns = "id, beat_ms, schema_version, sealing_keys";
    await database.query(
      `INSERT INTO nodes (${columns}) SELECT 'older', beat_ms, $1, sealing_keys FROM nodes LIMIT 1`,
      [loginPageStep - 1],
    );
    const browser = world.browser();
    const login = await browser.get(world.authorizeUrl());
    assert.deepEqual([login.status, new URL(login.url).pathname], [200, "/oauth2/authorize"]);
    await database.query("DELETE FROM nodes WHERE id = 'older'");
    const redirected = await fetch(world.authorizeUrl(), { redirect: "manual" });
    assert.equal(redirected.status, 302);
    const signedIn = await browser.submit(formOf(login), credentials);
    const terms = await browser.get(signedIn.location);
    const accepted = await browser.submit(formOf(terms), { decision: "accept" });
    assert.ok(new URL(accepted.location).searchParams.has("code"), "the form of that page still works");
  });

  it("shows the login page again after a reload or Back, also after a wrong password, a sign-in and a refusal", async (t) => {
    const world = await oauthWorld(t);
    const browser = world.browser();
    const first = await browser.get(world.authorizeUrl());
    const again = await browser.get(first.url);
    await browser.submit(formOf(again), { ...credentials, password: "wrong" });
    const signedIn = await browser.submit(formOf(await browser.get(first.url)), credentials);
    const terms = await browser.get(signedIn.location);
    const back = await browser.get(first.url);
    assert.equal(back.status, 200);
    const declined = await browser.submit(formOf(terms), { decision: "decline" });
    assert.equal(new URL(declined.location).searchParams.get("error"), "access_denied");
    const accepted = await browser.submit(
      formOf(await browser.get((await browser.submit(formOf(await browser.get(first.url)), credentials)).location)),
      { decision: "accept" },
    );
    assert.ok(new URL(accepted.location).searchParams.has("code"));
  });

  it("works in another browser than the one that was redirected", async (t) => {
    const world = await oauthWorld(t);
    const { url } = await world.browser().get(world.authorizeUrl());
    const returned = await world.browser().authorize(url, ada);
    assert.ok(returned.searchParams.has("code"));
  });

  it("says after ten minutes that the page has expired, with a link back to the app", async (t) => {
    const world = await oauthWorld(t, { isClockStill: true });
    const browser = world.browser();
    const login = await browser.get(world.authorizeUrl({ state: "s-7" }));
    await world.timePasses(tenMinutesMs - 1);
    assert.equal((await browser.get(login.url)).status, 200);
    await world.timePasses(1);
    for (const expired of [await browser.get(login.url), await browser.submit(formOf(login), credentials)]) {
      assert.deepEqual([expired.status, expired.location, expired.form], [400, "", undefined]);
      assert.match(expired.body, /This page has expired/);
      const link = new URL(/<a href="([^"]+)"/.exec(expired.body)![1]!.replaceAll("&amp;", "&"));
      assert.equal(link.origin + link.pathname, callback);
      assert.deepEqual(
        [link.searchParams.get("error"), link.searchParams.get("state"), link.searchParams.get("iss")],
        ["access_denied", "s-7", world.baseUrl],
      );
    }
  });

  it("stores nothing before the sign-in", async (t) => {
    const world = await oauthWorld(t);
    const countRows = async () => [...(await storedRows(world))].map(([table, rows]) => [table, rows.length]);
    const before = await countRows();
    const browser = world.browser();
    for (let page = 0; page < 3; page++) await browser.get(world.authorizeUrl());
    assert.deepEqual(await countRows(), before);
  });

  it("shows a page for an unknown client or redirect address, and for a changed or missing sealed request", async (t) => {
    const world = await oauthWorld(t);
    for (const change of [{ client_id: "nobody" }, { redirect_uri: "https://evil.example/" }]) {
      const answer = await fetch(world.authorizeUrl(change), { redirect: "manual" });
      assert.deepEqual([answer.status, answer.headers.get("location")], [400, null]);
    }
    const { url } = await world.browser().get(world.authorizeUrl());
    const letter = url.endsWith("A") ? "B" : "A";
    for (const wrong of [url.slice(0, -1) + letter, url.split("?")[0]!, `${url}&${url.split("?")[1]}`]) {
      const answer = await fetch(wrong, { redirect: "manual" });
      assert.deepEqual([answer.status, answer.headers.get("location")], [400, null], wrong);
    }
  });

  it("does not sign in through a client that was removed, suspended or given another address meanwhile", async (t) => {
    const world = await oauthWorld(t);
    const { oauth } = world.service.parts;
    const ends: readonly ((id: string) => Promise<unknown>)[] = [
      (id) => oauth.removeClient(id),
      (id) => oauth.suspendClient(id),
      (id) => oauth.editClient(id, { redirectUris: ["https://other.example/"] }),
    ];
    for (const end of ends) {
      const { id } = await world.addClient();
      const { url } = await world.browser().get(world.authorizeUrl({ client_id: id }));
      await end(id);
      const answer = await fetch(url, { redirect: "manual" });
      assert.deepEqual([answer.status, answer.headers.get("location")], [400, null]);
    }
  });

  it("sends response headers that fit into 4 KB, also with a state of 2,048 characters", async (t) => {
    const world = await oauthWorld(t);
    const answer = await fetch(world.authorizeUrl({ state: "s".repeat(2_048) }), { redirect: "manual" });
    assert.equal(answer.status, 302);
    const head = [...answer.headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
    assert.ok(head.length < 4_000, `${head.length} bytes`);
  });

  it("answers other errors at the client's address at once", async (t) => {
    const world = await oauthWorld(t);
    const answer = await fetch(world.authorizeUrl({ response_type: "token", state: "s" }), { redirect: "manual" });
    assert.equal(answer.status, 302);
    const location = new URL(answer.headers.get("location")!);
    assert.equal(location.origin + location.pathname, callback);
    assert.equal(location.searchParams.get("error"), "unsupported_response_type");
  });
});
