import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { atTerms } from "./bar/browsing.ts";
import { redirectParameters } from "./bar/shown-pages.ts";
import { ada, callback, type OAuthWorld, oauthWorld } from "./oauth-world.ts";
import { type Form, formOf } from "./scripted-browser.ts";

describe("a user who declined", () => {
  it("gets the same answer after another click on Decline, and a page that says so after Accept", async (t) => {
    const world = await oauthWorld(t);
    const { browser, address, form } = await atTerms(world);
    const first = await browser.submit(form, { decision: "decline" });
    assert.equal(redirectParameters(first, callback).get("error"), "access_denied");
    const again = await browser.submit(form, { decision: "decline" });
    assert.deepEqual([again.status, again.location], [302, first.location]);
    const accepted = await browser.submit(form, { decision: "accept" });
    assert.equal(accepted.status, 400);
    assert.match(accepted.body, /Nothing was shared/);
    assert.match((await browser.get(address)).body, /Nothing was shared/);
  });
});

describe("a user who accepted", () => {
  it("sees at the terms' address that they accepted, not that the app has access", async (t) => {
    const world = await oauthWorld(t);
    const { browser, address, form } = await atTerms(world);
    assert.equal((await browser.submit(form, { decision: "accept" })).status, 302);
    const shown = await browser.get(address);
    assert.equal(shown.status, 400);
    assert.match(shown.body, /You accepted/);
  });

  it("does not read at a stale address that linking is done, if the exchange was refused", async (t) => {
    const world = await oauthWorld(t);
    const { browser, address, form } = await atTerms(world);
    const { location } = await browser.submit(form, { decision: "accept" });
    const code = new URL(location).searchParams.get("code") ?? "";
    const refused = await world.exchange(code, world.client, { redirect_uri: "https://other.example/" });
    assert.equal(refused.body.error, "invalid_grant");
    for (const shown of [await browser.get(address), await browser.submit(form, { decision: "accept" })]) {
      const words = shown.body.replace(/<style>[\s\S]*?<\/style>|<[^>]*>/g, "");
      assert.match(words, /You accepted\s+Go on in Voice\. If it has no access there, start again from Voice\./);
      assert.doesNotMatch(words, /\bdone\b/i);
    }
  });
});

describe("a decision", () => {
  /** Runs `act` between the look-up of the sign-in and the transaction that stores the decision. */
  const justBefore = (world: OAuthWorld, act: () => Promise<unknown>) => {
    const { store } = world.service.parts;
    const { transaction } = store;
    let hasActed = false;
    store.transaction = async (body, priority) => {
      if (!hasActed) {
        hasActed = true;
        await act();
      }
      return transaction.call(store, body, priority) as never;
    };
    return () => {
      store.transaction = transaction;
    };
  };

  it("comes too late when the password was changed just before it", async (t) => {
    const world = await oauthWorld(t);
    const { browser, form } = await atTerms(world);
    const { store } = world.service.parts;
    const restore = justBefore(world, () => store.transaction((tx) => tx.signIns.removeOfUser(world.userId)));
    const late = await browser.submit(form, { decision: "accept" });
    restore();
    assert.equal(late.status, 400);
    assert.match(late.body, /This page has expired/);
  });

  it("comes too late when another sign-in of the same login page was decided just before it", async (t) => {
    const world = await oauthWorld(t);
    const [first, second] = [world.browser(), world.browser()];
    const login = formOf(await first.get(world.authorizeUrl()));
    for (const [name, value] of first.cookies) second.cookies.set(name, value);
    const right = { username: ada.name, password: ada.password };
    const terms: Form[] = [];
    for (const browser of [first, second]) {
      terms.push(formOf(await browser.get((await browser.submit(login, right)).location)));
    }
    const restore = justBefore(world, async () => {
      assert.equal((await second.submit(terms[1]!, { decision: "accept" })).status, 302);
    });
    const late = await first.submit(terms[0]!, { decision: "accept" });
    restore();
    assert.equal(late.status, 400);
    assert.match(late.body, /This page has expired/);
  });
});

describe("a login form without a user name or a password", () => {
  it("is shown again and says what is missing", async (t) => {
    const world = await oauthWorld(t);
    for (const empty of [
      { username: " ", password: "x" },
      { username: "ada", password: "" },
    ]) {
      const browser = world.browser();
      const shown = await browser.submit(formOf(await browser.get(world.authorizeUrl())), empty);
      assert.equal(shown.status, 400);
      assert.match(shown.body, /Enter your user name and your password\./);
    }
  });
});
