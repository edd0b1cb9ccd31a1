import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { surfaceDatabases } from "../../set-up/deployment.ts";
import { freePort } from "../../set-up/free-port.ts";
import { ada, admin, callback, oauthWorld } from "../oauth-world.ts";
import { type Form, formOf, ScriptedBrowser } from "../scripted-browser.ts";
import { assertCodeIssued, atLogin, atTerms, right, wrong } from "./browsing.ts";
import { assertErrorPage, redirectParameters } from "./shown-pages.ts";

const minuteMs = 60_000;

/** The form with another value of one hidden field; undefined removes the field. */
function withField({ action, fields }: Form, name: string, value: string | undefined): Form {
  const { [name]: _, ...others } = fields;
  return { action, fields: value === undefined ? others : { ...others, [name]: value } };
}

/** The text with another character in the middle. */
function altered(text: string): string {
  const middle = Math.floor(text.length / 2);
  return text.slice(0, middle) + (text[middle] === "A" ? "B" : "A") + text.slice(middle + 1);
}

describe("the cookie and the token of a form", () => {
  /** Each cookie that is set anywhere on the way, with its attributes in lower case. */
  async function cookiesOnTheWay(browser: ScriptedBrowser, address: string) {
    const login = await browser.get(address);
    const failed = await browser.submit(formOf(login), wrong);
    const sent = await browser.submit(formOf(failed), right);
    const { pathname, search } = new URL(sent.location, "http://any");
    const terms = await browser.get(pathname + search);
    const decided = await browser.submit(formOf(terms), { decision: "accept" });
    assert.ok(redirectParameters(decided, callback).has("code"));
    const lines = [login, failed, sent, terms, decided].flatMap(({ headers }) => headers.getSetCookie());
    assert.ok(lines.length >= 2, "at the login page and after it");
    return lines.map((line) => {
      const [pair = "", ...attributes] = line.split(/;\s*/);
      return { name: pair.split("=")[0]!, attributes: attributes.map((one) => one.toLowerCase()) };
    });
  }

  it("17: sets one cookie, HttpOnly and SameSite=Lax, for this host only", async (t) => {
    const world = await oauthWorld(t);
    const cookies = await cookiesOnTheWay(world.browser(), world.authorizeUrl());
    assert.equal(new Set(cookies.map(({ name }) => name)).size, 1);
    for (const { name, attributes } of cookies) {
      for (const one of ["httponly", "samesite=lax", "path=/"]) assert.ok(attributes.includes(one), one);
      assert.ok(!attributes.some((one) => one.startsWith("domain") || one === "secure"));
      assert.doesNotMatch(name, /^__/, "a browser refuses the prefix without Secure");
    }
  });

  it("17: calls the cookie __Host- and Secure when the base URL is https", async (t) => {
    const port = await freePort();
    const environment = { BREEZEWAY_BASE_URL: "https://example.test", BREEZEWAY_PORT: String(port) };
    const world = await oauthWorld(t, { environment });
    const browser = new ScriptedBrowser(() => `http://127.0.0.1:${port}`);
    const { pathname, search } = new URL(world.authorizeUrl());
    const cookies = await cookiesOnTheWay(browser, pathname + search);
    for (const { name, attributes } of cookies) {
      assert.match(name, /^__Host-/);
      for (const one of ["secure", "httponly", "samesite=lax", "path=/"]) assert.ok(attributes.includes(one), one);
      assert.ok(!attributes.some((one) => one.startsWith("domain")));
    }
    const refused = await browser.get(`${pathname}?${new URLSearchParams({ client_id: world.client.id })}`);
    assert.equal(redirectParameters(refused, callback).get("iss"), "https://example.test");
  });

  it("17: refuses a sign-in with another form or cookie than the issued one", async (t) => {
    const world = await oauthWorld(t);
    const { browser, form } = await atLogin(world);
    const other = await atLogin(world);
    assert.ok(Object.keys(form.fields).length > 0, "there is a token in the form");
    for (const [name, value] of Object.entries(form.fields)) {
      for (const bad of [undefined, "", altered(value), `${value}x`, value.slice(0, -4), other.form.fields[name]]) {
        assertErrorPage(await browser.submit(withField(form, name, bad), right), `${name}: ${bad}`);
      }
    }
    const [[cookieName, cookie] = ["", ""]] = browser.cookies;
    for (const bad of [undefined, altered(cookie), `${cookie}x`, "x", [...other.browser.cookies.values()][0]]) {
      const stranger = world.browser();
      if (bad !== undefined) stranger.cookies.set(cookieName, bad);
      assertErrorPage(await stranger.submit(form, right), `cookie ${bad}`);
    }
    assert.equal((await browser.submit(form, right)).status, 303, "the right ones still work");
  });

  it("17: refuses a decision with another form or cookie than the issued one", async (t) => {
    const world = await oauthWorld(t);
    const { browser, form } = await atTerms(world);
    const other = await atTerms(world);
    for (const decision of ["accept", "decline"]) {
      for (const [name, value] of Object.entries(form.fields)) {
        for (const bad of [undefined, "", altered(value), `${value}x`, value.slice(0, -4), other.form.fields[name]]) {
          assertErrorPage(await browser.submit(withField(form, name, bad), { decision }), `${name}: ${bad}`);
        }
      }
      const [[cookieName, cookie] = ["", ""]] = browser.cookies;
      for (const bad of [undefined, altered(cookie), `${cookie}x`, "x", [...other.browser.cookies.values()][0]]) {
        const stranger = world.browser();
        if (bad !== undefined) stranger.cookies.set(cookieName, bad);
        assertErrorPage(await stranger.submit(form, { decision }), `cookie ${bad}`);
      }
    }
    await assertCodeIssued(browser, form);
  });

  it("17: accepts only forms, not queries, other methods or other content types", async (t) => {
    const world = await oauthWorld(t);
    const { browser, address, form } = await atTerms(world);
    const cookie = [...browser.cookies].map((pair) => pair.join("=")).join("; ");
    const fields = { ...form.fields, decision: "accept" };
    const inAddress = new URL(`${form.action}?${new URLSearchParams(fields)}`, world.baseUrl);
    const shown = await browser.get(`${address}&decision=accept`);
    assert.deepEqual([shown.status, shown.location], [200, ""]);
    const json = { "content-type": "application/json", cookie };
    const plain = { "content-type": "text/plain", cookie };
    const inits: (readonly [URL, RequestInit])[] = [
      [inAddress, { method: "GET", headers: { cookie } }],
      [inAddress, { method: "POST", headers: { cookie } }],
      [inAddress, { method: "POST", headers: { cookie }, body: new URLSearchParams({ x: "y" }) }],
      [inAddress, { method: "PUT", headers: { cookie }, body: new URLSearchParams(fields) }],
      [new URL(form.action, world.baseUrl), { method: "POST", headers: json, body: JSON.stringify(fields) }],
      [new URL(form.action, world.baseUrl), { method: "POST", headers: plain, body: `${new URLSearchParams(fields)}` }],
    ];
    for (const [url, init] of inits) {
      const answer = await fetch(url, { ...init, redirect: "manual" });
      const why = `${init.method} ${JSON.stringify(init.headers)} ${answer.status}`;
      assert.ok(answer.status === 200 || (answer.status >= 400 && answer.status < 500), why);
      assert.equal(answer.headers.get("location"), null, why);
    }
    await assertCodeIssued(browser, form);
  });

  it("17: survives any cookie header", async (t) => {
    const world = await oauthWorld(t);
    const { browser, form } = await atLogin(world);
    const [[name, value] = ["", ""]] = browser.cookies;
    const strange = ["", ";", "=", `${name}`, `${name}=`, `${name}=%`, `${name}="${value}`, "x".repeat(8_000)];
    for (const cookie of [...strange, `__proto__=${value}`, `${name}=%00; ${name}=%ff`, `a=b; ${name}=\u00ff`]) {
      const stranger = new ScriptedBrowser(() => world.baseUrl, { cookie });
      assert.equal((await stranger.get(world.authorizeUrl())).status, 200, cookie.slice(0, 80));
      const stray = new ScriptedBrowser(() => world.baseUrl, { cookie });
      assertErrorPage(await stray.submit(form, right), cookie.slice(0, 80));
    }
    const amongOthers = new ScriptedBrowser(() => world.baseUrl, { cookie: `a=b;${name}=${value};  c="d"` });
    assert.equal((await amongOthers.submit(form, right)).status, 303, "other cookies are ignored");
  });
});

describe("one transaction in one browser", () => {
  it("18: changes the transaction, the cookie and the form's token at login", async (t) => {
    const world = await oauthWorld(t);
    const { browser, form } = await atLogin(world);
    const before = new Map(browser.cookies);
    const sent = await browser.submit(form, right);
    const terms = formOf(await browser.get(sent.location));
    assert.equal(browser.cookies.size, 1);
    for (const [name, value] of browser.cookies) assert.notEqual(value, before.get(name));
    const old = [...Object.values(form.fields), ...before.values()];
    for (const [name, value] of Object.entries(terms.fields)) assert.ok(!old.includes(value), name);
    for (const value of old) assert.ok(!sent.location.includes(value));
    await assertCodeIssued(browser, terms);
  });

  it("18: gives an attacker who planted the cookie and the page nothing of the sign-in", async (t) => {
    const world = await oauthWorld(t);
    const attacker = await atLogin(world);
    const planted = new Map(attacker.browser.cookies);
    const victim = world.browser();
    for (const [name, value] of planted) victim.cookies.set(name, value);
    const sent = await victim.submit(attacker.form, right);
    const terms = formOf(await victim.get(sent.location));
    // Even with the address and the form of the victim's terms page.
    assertErrorPage(await attacker.browser.get(sent.location), "the terms' address");
    for (const decision of ["accept", "decline"]) {
      const ownFields = { action: terms.action, fields: attacker.form.fields };
      assertErrorPage(await attacker.browser.submit(ownFields, { decision }), "the login form's fields");
      assertErrorPage(await attacker.browser.submit(terms, { decision }), "the terms' form");
    }
    assert.deepEqual(attacker.browser.cookies, planted);
    await assertCodeIssued(victim, terms);
  });

  it("18: replaces the cookie of a browser that has one", async (t) => {
    const world = await oauthWorld(t);
    const browser = world.browser();
    const seen = new Set<string>();
    for (let round = 0; round < 3; round++) {
      await browser.authorize(world.authorizeUrl(), ada);
      await browser.get(world.authorizeUrl());
      seen.add([...browser.cookies.values()].join());
    }
    assert.equal(seen.size, 3);
  });

  it("19: lets no other browser continue a transaction", async (t) => {
    const world = await oauthWorld(t);
    const a = await atLogin(world);
    const b = await atLogin(world);
    assertErrorPage(await b.browser.submit(a.form, right), "A's login form in B");
    assertErrorPage(await a.browser.submit(b.form, right), "B's login form in A");
    assertErrorPage(await world.browser().submit(a.form, right), "A's login form in a fresh browser");

    const sent = await a.browser.submit(a.form, right);
    const terms = formOf(await a.browser.get(sent.location));
    const signedIn = await atTerms(world);
    for (const form of [a.form, b.form]) {
      assertErrorPage(await signedIn.browser.submit(form, right), "a login form of another browser, after a sign-in");
    }
    for (const [who, browser] of Object.entries({
      atLogin: b.browser,
      atTerms: signedIn.browser,
      fresh: world.browser(),
    })) {
      assertErrorPage(await browser.get(sent.location), who);
      for (const decision of ["accept", "decline"]) {
        assertErrorPage(await browser.submit(terms, { decision }), `${who} ${decision}`);
        const mixed = { action: terms.action, fields: { ...terms.fields, ...b.form.fields } };
        assertErrorPage(await browser.submit(mixed, { decision }), `${who} ${decision}, fields mixed`);
      }
    }
    for (const [name, value] of Object.entries(terms.fields)) {
      const mixed = withField(signedIn.form, name, value);
      assertErrorPage(await signedIn.browser.submit(mixed, { decision: "accept" }), `${name} of A in B's form`);
    }
    await assertCodeIssued(a.browser, terms);
    await assertCodeIssued(signedIn.browser, signedIn.form);
  });

  it("19: sends one person's code to no other person's browser", async (t) => {
    const world = await oauthWorld(t);
    const bob = { name: "bob", password: "another word" };
    const browsers = [world.browser(), world.browser()];
    const people = [ada, bob];
    const pages = await Promise.all(
      browsers.map((one, i) => one.signIn(world.authorizeUrl({ state: `${i}` }), people[i]!)),
    );
    const decided = await Promise.all(browsers.map((one, i) => one.submit(formOf(pages[i]!), { decision: "accept" })));
    for (const [i, userId] of [world.userId, world.bobId].entries()) {
      const parameters = redirectParameters(decided[i]!, callback);
      assert.equal(parameters.get("state"), `${i}`);
      const { body } = await world.exchange(parameters.get("code")!);
      assert.deepEqual((await world.get("/v3/users", body.access_token)).body, [userId]);
    }
  });
});

for (const database of surfaceDatabases) {
  describe(`the terms, on ${database}`, () => {
    it("20: can't be reached or answered without a login", async (t) => {
      const world = await oauthWorld(t, { database });
      const { browser, form } = await atLogin(world);
      const values = [...Object.values(form.fields), ...browser.cookies.values(), "x", "", "\u0000", "x".repeat(5_000)];
      for (const one of [browser, world.browser()]) {
        assertErrorPage(await one.get("/oauth2/terms"), "no transaction");
        for (const transaction of values) {
          const query = new URLSearchParams({ transaction });
          assertErrorPage(await one.get(`/oauth2/terms?${query}`), transaction.slice(0, 80));
          assertErrorPage(await one.get(`/oauth2/terms?${query}&${query}`), "given twice");
          for (const decision of ["accept", "decline"]) {
            const sent = { action: "/oauth2/terms", fields: { ...form.fields, transaction } };
            assertErrorPage(await one.submit(sent, { decision }), transaction.slice(0, 80));
          }
        }
      }
      assert.equal((await browser.submit(form, wrong)).status, 401);
      assertErrorPage(
        await browser.submit({ action: "/oauth2/terms", fields: form.fields }, { decision: "accept" }),
        "",
      );
    });

    it("20: are decided once", async (t) => {
      const world = await oauthWorld(t, { database });
      const { browser, address, form } = await atTerms(world);
      const first = await browser.submit(form, { decision: "accept" });
      const code = redirectParameters(first, callback).get("code");
      const again = await browser.submit(form, { decision: "accept" });
      assert.equal(again.location, first.location, "a double click sends the browser to the same place");
      const other = await browser.submit(form, { decision: "decline" });
      assert.ok(other.status === 400 || other.location === first.location, `${other.status} ${other.location}`);
      assert.notEqual((await browser.get(address)).status, 200, "the terms are not shown again");
      assert.equal((await world.exchange(code!)).status, 200);
      await world.timePasses(61_000);
      assertErrorPage(await browser.submit(form, { decision: "accept" }), "after the code's life");
      assertErrorPage(await browser.submit(form, { decision: "decline" }), "after the code's life");
    });

    it("20: give one code for concurrent Accepts, and one decision for concurrent Accept and Decline", async (t) => {
      const world = await oauthWorld(t, { database });
      for (let round = 0; round < 3; round++) {
        const { browser, form } = await atTerms(world);
        const answers = await Promise.all(
          Array.from({ length: 8 }, () => browser.submit(form, { decision: "accept" })),
        );
        const redirects = answers.filter(({ status }) => status === 302);
        assert.ok(redirects.length > 0);
        assert.equal(new Set(redirects.map(({ location }) => location)).size, 1);
        for (const one of answers) if (one.status !== 302) assertErrorPage(one, "a second Accept");
        const parameters = redirectParameters(redirects[0]!, callback);
        assert.equal((await world.exchange(parameters.get("code")!)).status, 200);

        const both = await atTerms(world);
        const decisions = Array.from({ length: 8 }, (_, i) => (i % 2 ? "accept" : "decline"));
        const raced = await Promise.all(decisions.map((decision) => both.browser.submit(both.form, { decision })));
        const locations = raced.map(({ location }) => location).filter((location) => location !== "");
        assert.equal(new Set(locations).size, 1, "accepted or declined, not both");
      }
    });

    it("20: are shown after a double click on Sign in, and decided once for both clicks", async (t) => {
      const world = await oauthWorld(t, { database });
      const { browser: first, form } = await atLogin(world);
      const second = world.browser();
      for (const [name, value] of first.cookies) second.cookies.set(name, value);
      const sent = [await first.submit(form, right), await second.submit(form, right)];
      assert.deepEqual(
        sent.map(({ status }) => status),
        [303, 303],
        "each was sent before the other's answer had come",
      );
      const terms = [formOf(await first.get(sent[0]!.location)), formOf(await second.get(sent[1]!.location))];
      await assertCodeIssued(second, terms[1]!);
      const late = await first.submit(terms[0]!, { decision: "accept" });
      assertErrorPage(late, "one login page gives one code");
      assert.notEqual((await first.get(sent[0]!.location)).status, 200);
      const again = world.browser();
      for (const [name, value] of second.cookies) again.cookies.set(name, value);
      assertErrorPage(await again.submit(form, right), "the login page has been used");
    });

    it("20: are shown also when the second click is sent after the first answer", async (t) => {
      const world = await oauthWorld(t, { database });
      const { browser, form } = await atLogin(world);
      assert.equal((await browser.submit(form, right)).status, 303);
      const second = await browser.submit(form, right);
      assert.equal(second.status, 303);
      await assertCodeIssued(browser, formOf(await browser.get(second.location)));
      assertErrorPage(await browser.submit(form, right), "the login page has been used");
    });

    it("20: expire when the password is changed, or the client removed, before the decision", async (t) => {
      const world = await oauthWorld(t, { database });
      const { id: client_id } = await world.addClient({ name: "Leaving" });
      const leaving = world.browser();
      const terms = await leaving.signIn(world.authorizeUrl({ client_id }), ada);
      const login = await world.browser().get(world.authorizeUrl({ client_id }));
      await world.service.parts.oauth.removeClient(client_id);
      for (const decision of ["accept", "decline"]) {
        assertErrorPage(await leaving.submit(formOf(terms), { decision }), "no client any more");
      }
      assertErrorPage(await leaving.submit(formOf(login), right), "no client any more");
      const { browser, address, form } = await atTerms(world);
      await world.service.parts.identity.setPassword(world.userId, "a new password");
      assertErrorPage(await browser.get(address), "another password");
      assertErrorPage(await browser.submit(form, { decision: "accept" }), "another password");
    });

    it("20: expire ten minutes after the login page or the login", async (t) => {
      const world = await oauthWorld(t, { database });
      const slow = await atLogin(world);
      const early = await atTerms(world);
      await world.timePasses(9 * minuteMs);
      const inTime = await slow.browser.submit(slow.form, right);
      assert.equal(inTime.status, 303);
      assert.equal((await early.browser.get(early.address)).status, 200);
      await assertCodeIssued(early.browser, early.form);

      const late = await atLogin(world);
      const { browser, address, form } = await atTerms(world);
      await world.timePasses(10 * minuteMs + 1_000);
      // The page contains its expiry on PostgreSQL's clock, which a test can't move.
      if (database === "sqlite") assertErrorPage(await late.browser.submit(late.form, right), "an old login page");
      assertErrorPage(await browser.get(address), "old terms");
      for (const decision of ["accept", "decline"]) {
        assertErrorPage(await browser.submit(form, { decision }), "old terms");
      }
      assertErrorPage(await slow.browser.get(inTime.location), "terms after nineteen minutes");
    });

    it("20: survive a restart of the service", async (t) => {
      const world = await oauthWorld(t, { database });
      const before = await atLogin(world);
      const signedIn = await atTerms(world);
      await world.restart();
      const sent = await before.browser.submit(before.form, right);
      assert.equal(sent.status, 303);
      await assertCodeIssued(before.browser, formOf(await before.browser.get(sent.location)));
      await assertCodeIssued(signedIn.browser, signedIn.form);
    });
  });
}

describe("the terms on several nodes", () => {
  it("20: can be decided at any node", async (t) => {
    const world = await oauthWorld(t, { database: "postgres" });
    const second = await world.secondNode();
    let turn = 0;
    // A load balancer that never chooses the same node twice; the base URL is still one.
    const browser = new ScriptedBrowser(() => (turn++ % 2 ? world.baseUrl : second.baseUrl));
    const pathOf = (address: string) =>
      new URL(address, world.baseUrl).pathname + new URL(address, world.baseUrl).search;
    const login = await browser.get(pathOf(world.authorizeUrl()));
    const sent = await browser.submit(formOf(login), right);
    assert.equal(sent.status, 303);
    const terms = await browser.get(pathOf(sent.location));
    await assertCodeIssued(browser, formOf(terms));
  });
});

describe("tenants", () => {
  it("26: signs in no user of another tenant", async (t) => {
    const world = await oauthWorld(t);
    const { identity } = world.service.parts;
    const zoe = { name: "zoe", password: "zoes password" };
    const boss = { name: "boss", password: "boss password" };
    await identity.addUser({ tenant: "Other", ...zoe, isAdmin: false });
    await identity.addUser({ tenant: "Other", ...boss, isAdmin: true });
    const theirs = await world.addClient({ tenant: "Other", name: "Theirs" });
    const enterprise = await world.addClient({ kind: "enterprise" });
    const cases = [
      [world.client.id, zoe],
      [world.client.id, boss],
      [enterprise.id, boss],
      [theirs.id, { name: "bob", password: "another word" }],
      [theirs.id, admin],
    ] as const;
    for (const [client_id, person] of cases) {
      const browser = world.browser();
      const login = await browser.get(world.authorizeUrl({ client_id }));
      const shown = await browser.submit(formOf(login), { username: person.name, password: person.password });
      assert.deepEqual([shown.status, shown.location], [401, ""], person.name);
    }
    assert.ok(
      (await world.browser().authorize(world.authorizeUrl({ client_id: theirs.id }), zoe)).searchParams.has("code"),
    );
  });

  it("26: signs in the user of the client's own tenant when two tenants have the same name", async (t) => {
    const world = await oauthWorld(t);
    const theirs = await world.addClient({ tenant: "Other", name: "Theirs" });
    const ours = await world.tokens();
    assert.deepEqual((await world.get("/v3/users", ours.access_token)).body, [world.userId]);
    const others = await world.tokens(theirs);
    assert.deepEqual((await world.get("/v3/users", others.access_token)).body, [world.strangerId]);
  });

  it("26: accepts no sign-in of one tenant for another tenant's client", async (t) => {
    const world = await oauthWorld(t);
    const zoe = { name: "zoe", password: "zoes password" };
    await world.service.parts.identity.addUser({ tenant: "Other", ...zoe, isAdmin: false });
    const theirs = await world.addClient({ tenant: "Other", name: "Theirs" });
    const browser = world.browser();
    const ourLogin = formOf(await browser.get(world.authorizeUrl()));
    const theirTerms = await browser.signIn(world.authorizeUrl({ client_id: theirs.id }), zoe);
    const mixes = [
      { ...ourLogin.fields, ...formOf(theirTerms).fields },
      { ...formOf(theirTerms).fields, ...ourLogin.fields },
    ];
    for (const fields of mixes) {
      for (const action of [ourLogin.action, formOf(theirTerms).action]) {
        const filledIn = { username: zoe.name, password: zoe.password, client_id: world.client.id, tenant: "Acme" };
        const shown = await browser.submit({ action, fields }, { ...filledIn, decision: "accept" });
        const code = new URL(shown.location || "http://nowhere", world.baseUrl).searchParams.get("code");
        if (code !== null) assert.equal((await world.exchange(code)).status, 400, "the code belongs to another client");
        assert.ok(shown.status < 500);
      }
    }
  });
});
