import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { surfaceDatabases } from "../../set-up/deployment.ts";
import { rounds } from "../../set-up/extent.ts";
import { ada, admin, callback, oauthWorld } from "../oauth-world.ts";
import { formOf, ScriptedBrowser, type Shown } from "../scripted-browser.ts";
import { accept, ask, queryOf } from "./browsing.ts";
import { assertErrorPage, assertNoRedirect, everyPage, namesOf, redirectParameters } from "./shown-pages.ts";

const evil = "https://evil.example/steal";

/** Asserts that a valid request got the login page. */
function assertLoginPage(shown: Shown, why: string): void {
  assert.equal(shown.status, 200, `${why}: ${shown.status} ${shown.location}`);
  assert.match(shown.body, /<input[^>]*type="password"/, why);
}

describe("the authorization endpoint: clients and their addresses", () => {
  for (const database of surfaceDatabases) {
    it(`1: answers an unknown client or redirect address with an error page, never a redirect (${database})`, async (t) => {
      const world = await oauthWorld(t, { database });
      const gone = await world.addClient();
      await world.service.parts.oauth.removeClient(gone.id);
      const ids = [undefined, "", "nobody", gone.id, ` ${world.client.id}`, `${world.client.id} `];
      const unknown = [
        ...ids,
        world.client.id.toUpperCase(),
        "%00",
        "\u0000",
        `${world.client.id}\u0000`,
        "x".repeat(2_000),
        world.client.secret,
        "💥",
        "'--",
      ];
      const others = [
        {},
        { redirect_uri: callback },
        { redirect_uri: evil },
        { state: undefined },
        { response_type: "no" },
      ];
      for (const id of unknown) {
        for (const other of others) {
          const shown = await ask(world, queryOf(world, { ...other, client_id: id }));
          assertErrorPage(shown, `client ${id} ${JSON.stringify(other)}`);
          assert.ok(!shown.body.includes("evil.example"));
        }
      }
      for (const other of [{}, { state: undefined }, { response_type: "token" }, { response_type: undefined }]) {
        const shown = await ask(world, queryOf(world, { ...other, redirect_uri: evil }));
        assertErrorPage(shown, JSON.stringify(other));
        assert.ok(!shown.body.includes("evil.example"));
      }
    });
  }

  it("1: redirects nowhere for a malformed request, or one that isn't a GET", async (t) => {
    const world = await oauthWorld(t);
    for (const broken of ["%ff", "%ED%A0%80", "%C3", "%", "%zz"]) {
      for (const name of ["client_id", "redirect_uri"]) {
        const shown = await ask(world, `${queryOf(world, { [name]: undefined })}&${name}=${broken}`);
        assert.deepEqual([shown.status, shown.location], [400, ""], `${name}=${broken}`);
      }
    }
    for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
      const answer = await fetch(world.authorizeUrl(), { method, redirect: "manual" });
      assert.deepEqual([answer.status, answer.headers.get("location")], [405, null], method);
    }
  });

  it("2: compares the redirect address character for character", async (t) => {
    const world = await oauthWorld(t);
    const registered = "https://client.example/Call/back?keep=1&x=%2Fy";
    const { id: client_id } = await world.addClient({ redirectUris: [registered, callback] });
    await world.addClient({ redirectUris: ["https://other.example/callback"] });
    const nearMisses = [
      registered.slice(0, -1),
      `${registered}z`,
      "https://client.example/Call/back",
      "https://client.example/Call",
      "https://client.example",
      "https://client.example/Call/back/?keep=1&x=%2Fy",
      "https://CLIENT.example/Call/back?keep=1&x=%2Fy",
      "HTTPS://client.example/Call/back?keep=1&x=%2Fy",
      "https://client.example/call/back?keep=1&x=%2Fy",
      "http://client.example/Call/back?keep=1&x=%2Fy",
      "https://client.example:443/Call/back?keep=1&x=%2Fy",
      "https://client.example:8443/Call/back?keep=1&x=%2Fy",
      "https://client.example./Call/back?keep=1&x=%2Fy",
      "https://me@client.example/Call/back?keep=1&x=%2Fy",
      "https://client.example@evil.example/Call/back?keep=1&x=%2Fy",
      "https://client.example.evil.example/Call/back?keep=1&x=%2Fy",
      "https://client.example/Call/./back?keep=1&x=%2Fy",
      "https://client.example/Call/x/../back?keep=1&x=%2Fy",
      "https://client.example/Call//back?keep=1&x=%2Fy",
      "https://client.example/Call/b%61ck?keep=1&x=%2Fy",
      "https://client.example/Call%2Fback?keep=1&x=%2Fy",
      "https://client.example/Call/back?keep=1&x=%2fy",
      "https://client.example/Call/back?keep=1&x=/y",
      "https://client.example/Call/back?x=%2Fy&keep=1",
      "https://client.example/Call/back?keep=1",
      "https://client.example\\Call\\back?keep=1&x=%2Fy",
      "https:\\\\client.example/Call/back?keep=1&x=%2Fy",
      `${registered}#`,
      `${registered}#fragment`,
      `${registered}&more=1`,
      `${registered}&`,
      `${registered} `,
      ` ${registered}`,
      `${registered}\n`,
      `${registered}\u0000`,
      `${registered}\t`,
      `${registered} ${callback}`,
      `${registered},${callback}`,
      registered.replace("client", "сlient"),
      "https://*.example/Call/back?keep=1&x=%2Fy",
      "https://other.example/callback",
      "//client.example/Call/back?keep=1&x=%2Fy",
      "/Call/back",
      "javascript:alert(1)",
      `${callback}/`,
      `${callback}?`,
      callback.replace(":9/", ":10/"),
      callback.replace(":9/", "/"),
      callback.replace("127.0.0.1", "localhost"),
      callback.replace("127.0.0.1", "127.1"),
      callback.replace("http:", "https:"),
    ];
    for (const redirect_uri of nearMisses) {
      assertErrorPage(await ask(world, queryOf(world, { client_id, redirect_uri })), redirect_uri);
    }
    for (const redirect_uri of [registered, callback]) {
      assertLoginPage(await ask(world, queryOf(world, { client_id, redirect_uri })), redirect_uri);
    }
    const parameters = redirectParameters(await accept(world, { client_id, redirect_uri: registered }), registered);
    assert.deepEqual(namesOf(parameters), ["code", "iss", "state"]);
  });

  it("3: accepts a missing redirect address only when exactly one is registered", async (t) => {
    const world = await oauthWorld(t);
    const two = await world.addClient({ redirectUris: [callback, `${callback}2`] });
    const none = await world.addClient({ redirectUris: [], kind: "enterprise" });
    for (const redirect_uri of [undefined, ""]) {
      assertLoginPage(await ask(world, queryOf(world, { redirect_uri })), "one is registered");
      for (const client of [two, none]) {
        const shown = await ask(world, queryOf(world, { client_id: client.id, redirect_uri }));
        assertErrorPage(shown, `${redirect_uri}`);
      }
    }
    assertErrorPage(
      await ask(world, queryOf(world, { client_id: none.id, redirect_uri: callback })),
      "none registered",
    );
    assert.ok(redirectParameters(await accept(world), callback).has("code"));
    const second = { client_id: two.id, redirect_uri: `${callback}2` };
    assert.ok(redirectParameters(await accept(world, second), `${callback}2`).has("code"));
  });

  it("4: registers only absolute addresses without a fragment, https except for loopback", async (t) => {
    const world = await oauthWorld(t);
    const good = [
      "https://client.example/cb",
      "https://client.example:8443/cb?x=1",
      "https://client.example",
      "http://127.0.0.1/cb",
      "http://127.0.0.1:1234/cb",
      "http://localhost:1234/cb",
      "http://[::1]:1234/cb",
    ];
    for (const uri of good) {
      const { id: client_id } = await world.addClient({ redirectUris: [uri] });
      assertLoginPage(await ask(world, queryOf(world, { client_id, redirect_uri: uri })), uri);
      const parameters = redirectParameters(await ask(world, queryOf(world, { client_id, response_type: "no" })), uri);
      assert.equal(parameters.get("error"), "unsupported_response_type");
    }
    const bad = [
      "",
      "/cb",
      "cb",
      "client.example/cb",
      "//client.example/cb",
      "https:",
      "https://",
      "https:client.example/cb",
      "https:/client.example/cb",
      "https:///client.example/cb",
      "https:\\\\client.example\\cb",
      "https://client.example\\@evil.example/cb",
      "http:127.0.0.1/cb",
      'https://client.example/"<cb>',
      "https://client.example/cb#",
      "https://client.example/cb#fragment",
      "https://me:word@client.example/cb",
      "https://client.example/c b",
      " https://client.example/cb",
      "https://client.example/cb\n",
      "https://client.example/\r\nSet-Cookie: a=b",
      "https://client.example/ü",
      "http://client.example/cb",
      "http://127.0.0.1.evil.example/cb",
      "http://localhost.evil.example/cb",
      "http://127.0.0.1@evil.example/cb",
      "http://0.0.0.0/cb",
      "http://10.0.0.1/cb",
      "HTTP://client.example/cb",
      "ftp://client.example/cb",
      "file:///etc/passwd",
      "data:text/html,x",
      "javascript:alert(1)",
      "javascript://client.example/%0aalert(1)",
      "app.client:/cb",
      "urn:ietf:wg:oauth:2.0:oob",
    ];
    for (const uri of bad) {
      await assert.rejects(world.addClient({ redirectUris: [uri] }), /redirect/i, JSON.stringify(uri));
      await assert.rejects(world.addClient({ redirectUris: [callback, uri] }), /redirect/i, JSON.stringify(uri));
    }
    await assert.rejects(world.addClient({ redirectUris: [] }), /redirect/i);
  });
});

describe("the authorization endpoint: parameters", () => {
  it("5: refuses a missing or empty state with invalid_request, and gives no code", async (t) => {
    const world = await oauthWorld(t);
    for (const state of [undefined, ""]) {
      for (const more of [{}, { redirect_uri: callback }, { scope: "x" }]) {
        const shown = await ask(world, queryOf(world, { ...more, state }));
        const parameters = redirectParameters(shown, callback);
        assert.equal(parameters.get("error"), "invalid_request");
        assert.ok(!parameters.has("code") && !parameters.has("state"));
        assert.deepEqual(shown.headers.getSetCookie(), [], "no transaction begins");
      }
    }
    assertErrorPage(await ask(world, queryOf(world, { state: "", client_id: "nobody" })), "unknown client");
  });

  const awkward = [
    `&=+%"<>'\`\\;,/?:@#[]{}|^~!$()*`,
    "a b  c+d%20e%2Be",
    "&error=access_denied&code=forged",
    "%",
    "%00%0d%0a",
    "Grüße, 東京, 🦊, e\u0301, \u202e, \ufeff, \uffff",
    " leading and trailing ",
    "=",
    "+",
    "</title><script>alert(1)</script>",
    "x".repeat(2_048),
    "é".repeat(1_024),
    "🦊".repeat(512),
  ];
  for (const database of surfaceDatabases) {
    it(`6: returns the state byte for byte, up to 2 KiB (${database})`, async (t) => {
      const world = await oauthWorld(t, { database });
      for (const state of awkward) {
        const query = `response_type=code&client_id=${world.client.id}&state=${encodeURIComponent(state)}`;
        const browser = world.browser();
        const terms = await browser.signIn(`/oauth2/authorize?${query}`, ada);
        const parameters = redirectParameters(await browser.submit(formOf(terms), { decision: "accept" }), callback);
        assert.deepEqual(namesOf(parameters), ["code", "iss", "state"], state.slice(0, 80));
        assert.equal(parameters.get("state"), state);
      }
      const refused = redirectParameters(await ask(world, queryOf(world, { state: "x".repeat(2_049) })), callback);
      assert.equal(refused.get("error"), "invalid_request");
      assert.ok(!refused.has("state"), "a client would take a shortened state for a forged one");
    });

    it(`6: returns control characters as they are or refuses them, but never changes them (${database})`, async (t) => {
      const world = await oauthWorld(t, { database });
      const states = ["\u0000", "a\u0000b", "a\r\nSet-Cookie: x=y", "\u001b[2J", "\u007f", "\u0085", "\t"];
      for (const state of [...states, "\u0001".repeat(2_048)]) {
        const first = await ask(world, queryOf(world, { state }));
        const shown = first.status === 302 ? first : await accept(world, { state });
        const parameters = redirectParameters(shown, callback);
        if (first.status === 302) assert.equal(parameters.get("error"), "invalid_request");
        else assert.ok(parameters.has("code"));
        assert.ok(!parameters.has("state") || parameters.get("state") === state, JSON.stringify(state));
        assert.ok(shown.headers.getSetCookie().every((line) => !line.startsWith("x=y")));
      }
    });
  }

  it("6: returns the state also with an error and with a decline", async (t) => {
    const world = await oauthWorld(t);
    const anyState = fc.string({ unit: "grapheme", minLength: 1, maxLength: 200 });
    const check = async (state: string) => {
      const parameters = redirectParameters(
        await ask(world, queryOf(world, { state, response_type: "token" })),
        callback,
      );
      assert.equal(parameters.get("state"), state);
    };
    await fc.assert(fc.asyncProperty(anyState, check), { numRuns: rounds({ all: 100, few: 25 }) });
    for (const state of awkward) await check(state);
    const declined = await world.browser().authorize(world.authorizeUrl({ state: awkward[0] }), ada, "decline");
    assert.equal(declined.searchParams.get("state"), awkward[0]);
  });

  it("6: decodes both %20 and + as a space", async (t) => {
    const world = await oauthWorld(t);
    const shown = await ask(world, `${queryOf(world, { state: undefined, response_type: "x" })}&state=a+b%20c%2Bd`);
    assert.equal(redirectParameters(shown, callback).get("state"), "a b c+d");
  });

  it("6: refuses a state that is too long, or isn't UTF-8, before the sign-in", async (t) => {
    const world = await oauthWorld(t);
    for (const state of ["x".repeat(8_193), "🦊".repeat(1_000)]) {
      const parameters = redirectParameters(await ask(world, queryOf(world, { state })), callback);
      assert.equal(parameters.get("error"), "invalid_request");
      assert.ok(!parameters.has("code"));
    }
    for (const broken of ["%ff", "%C3", "%ED%A0%80", "%E0%80%AF", "%", "%u0041"]) {
      const shown = await ask(world, `${queryOf(world, { state: undefined })}&state=${broken}`);
      assert.ok([302, 400].includes(shown.status), `${broken}: ${shown.status}`);
      if (shown.status === 302) {
        const parameters = redirectParameters(shown, callback);
        assert.equal(parameters.get("error"), "invalid_request");
        assert.ok(!parameters.has("state"), "a state that can't be read can't be returned unchanged");
      }
    }
  });

  it("7: refuses a parameter that is sent twice", async (t) => {
    const world = await oauthWorld(t);
    const challenge = "x".repeat(43);
    const right = queryOf(world, {
      redirect_uri: callback,
      scope: "home",
      code_challenge: challenge,
      code_challenge_method: "S256",
    });
    assertLoginPage(await ask(world, right), "each once");
    for (const [name, value] of new URLSearchParams(right)) {
      for (const second of [value, "other"]) {
        for (const query of [`${right}&${name}=${encodeURIComponent(second)}`, `${name}=${second}&${right}`]) {
          const shown = await ask(world, query);
          if (name === "client_id" || name === "redirect_uri") assertErrorPage(shown, query);
          else assert.equal(redirectParameters(shown, callback).get("error"), "invalid_request", query);
        }
      }
    }
  });

  it("7: treats an empty parameter as missing", async (t) => {
    const world = await oauthWorld(t);
    const right = queryOf(world);
    const empty = ["redirect_uri=", "scope=", "code_challenge=", "code_challenge_method=", "scope", "redirect_uri"];
    for (const more of [...empty, empty.slice(0, 4).join("&"), "&&&"]) {
      assertLoginPage(await ask(world, `${right}&${more}`), more);
    }
    const parameters = redirectParameters(await ask(world, queryOf(world, { response_type: "" })), callback);
    assert.equal(parameters.get("error"), "invalid_request");
    const missing = redirectParameters(await ask(world, queryOf(world, { response_type: undefined })), callback);
    assert.equal(missing.get("error"), "invalid_request");
    assertErrorPage(await ask(world, queryOf(world, { client_id: "" })), "empty client_id");
  });

  it("7: ignores unknown parameters", async (t) => {
    const world = await oauthWorld(t);
    const right = queryOf(world);
    const known = ["prompt=none", "response_mode=fragment", "nonce=n", "login_hint=ada", "ui_locales=de", "resource=x"];
    const strange = [
      "a=1&a=2",
      "__proto__=x",
      "constructor=x&toString=y",
      "State=other",
      "CLIENT_ID=x",
      "decision=accept",
    ];
    const ofPages = ["transaction=x", "username=ada&password=x", "=", "=x", "state%5B%5D=x", "client_id%00=x"];
    for (const more of [...known, ...strange, ...ofPages, `x=${"y".repeat(10_000)}`, "x&".repeat(5_000)]) {
      assertLoginPage(await ask(world, `${right}&${more}`), more.slice(0, 80));
      assertLoginPage(await ask(world, `${more}&${right}`), more.slice(0, 80));
    }
    const unknown = {
      response_mode: "form_post",
      prompt: "none",
      error: "x",
      code: "forged",
      iss: "https://evil.example",
    };
    const parameters = redirectParameters(await accept(world, unknown), callback);
    assert.deepEqual(namesOf(parameters), ["code", "iss", "state"]);
    assert.notEqual(parameters.get("code"), "forged");
  });

  it("7: refuses a decision that is sent twice", async (t) => {
    const world = await oauthWorld(t);
    const browser = world.browser();
    const terms = await browser.signIn(world.authorizeUrl(), ada);
    const { action, fields } = formOf(terms);
    const cookie = [...browser.cookies].map((pair) => pair.join("=")).join("; ");
    for (const decisions of [
      ["decline", "accept"],
      ["accept", "decline"],
      ["accept", "accept"],
    ]) {
      const body = new URLSearchParams(fields);
      for (const decision of decisions) body.append("decision", decision);
      const init = { method: "POST", body, headers: { cookie }, redirect: "manual" } as const;
      const answer = await fetch(new URL(action, world.baseUrl), init);
      assert.equal(answer.status, 400, decisions.join());
      assert.equal(answer.headers.get("location"), null);
    }
  });

  it("8: supports only the response type code", async (t) => {
    const world = await oauthWorld(t);
    const implicit = ["token", "id_token", "id_token token", "none"];
    const hybrid = ["code token", "code id_token", "code id_token token", "token code", "code code"];
    for (const response_type of [
      ...implicit,
      ...hybrid,
      "CODE",
      "Code",
      " code",
      "code ",
      "code\n",
      "cod",
      "codes",
      "x",
    ]) {
      const parameters = redirectParameters(await ask(world, queryOf(world, { response_type })), callback);
      assert.deepEqual(
        namesOf(parameters).filter((name) => name !== "error_description"),
        ["error", "iss", "state"],
      );
      assert.equal(parameters.get("error"), "unsupported_response_type", response_type);
      assert.equal(parameters.get("state"), "s-1");
    }
  });
});

describe("the authorization endpoint: its answers", () => {
  async function issuerOf(address: string): Promise<string> {
    const answer = await fetch(new URL("/.well-known/oauth-authorization-server", address));
    const { issuer } = (await answer.json()) as { issuer: string };
    return issuer;
  }

  it("9: names the issuer in every authorization response, as the metadata does", async (t) => {
    const world = await oauthWorld(t);
    const issuer = await issuerOf(world.baseUrl);
    assert.equal(issuer, world.baseUrl);
    const enterprise = await world.addClient({ kind: "enterprise" });
    const strict = await world.addClient({ requiresPkce: true });
    const browser = world.browser();
    const terms = await browser.signIn(world.authorizeUrl(), ada);
    const responses: Record<string, Shown> = {
      success: await accept(world),
      decline: await browser.submit(formOf(terms), { decision: "decline" }),
      "no state": await ask(world, queryOf(world, { state: "" })),
      "no response type": await ask(world, queryOf(world, { response_type: undefined })),
      "unsupported response type": await ask(world, queryOf(world, { response_type: "token" })),
      "scope twice": await ask(world, `${queryOf(world)}&scope=a&scope=b`),
      "state twice": await ask(world, `${queryOf(world)}&state=b`),
      "plain challenge": await ask(
        world,
        queryOf(world, { code_challenge: "x".repeat(43), code_challenge_method: "plain" }),
      ),
      "short challenge": await ask(world, queryOf(world, { code_challenge: "x", code_challenge_method: "S256" })),
      "challenge left out": await ask(world, queryOf(world, { client_id: strict.id })),
      "state too long": await ask(world, queryOf(world, { state: "x".repeat(8_193) })),
    };
    for (const [name, shown] of Object.entries(responses)) {
      const parameters = redirectParameters(shown, callback);
      assert.equal(parameters.get("iss"), issuer, name);
      assert.equal(parameters.has("code"), name === "success", name);
      assert.equal(parameters.has("error"), name !== "success", name);
    }
    const notAdmin = await world.browser().signIn(world.authorizeUrl({ client_id: enterprise.id }), ada);
    const refused = notAdmin.location ? notAdmin : await browser.submit(formOf(notAdmin), { decision: "accept" });
    assert.equal(redirectParameters(refused, callback).get("iss"), issuer);
  });

  it("9: takes the issuer from the configuration, never from the request", async (t) => {
    const world = await oauthWorld(t, { environment: { BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1" } });
    const lies = { host: "evil.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" };
    const browser = new ScriptedBrowser(() => world.baseUrl, { ...lies, forwarded: "host=evil.example;proto=https" });
    const address = await browser.authorize(world.authorizeUrl(), ada);
    assert.equal(address.searchParams.get("iss"), world.baseUrl);
    const login = await browser.get(world.authorizeUrl());
    assert.ok(!login.body.includes("evil.example"));
    const refused = await browser.get(world.authorizeUrl({ response_type: "x" }));
    assert.equal(redirectParameters(refused, callback).get("iss"), world.baseUrl);
  });

  it("10: answers the Accept POST with a 302, never with a redirect that repeats the form", async (t) => {
    const world = await oauthWorld(t);
    for (const decision of ["accept", "decline"]) {
      const browser = world.browser();
      const login = await browser.get(world.authorizeUrl());
      const sent = await browser.submit(formOf(login), { username: ada.name, password: ada.password });
      assert.equal(sent.status, 303, "the password goes no further");
      assert.equal(new URL(sent.location, world.baseUrl).origin, world.baseUrl);
      const terms = await browser.get(sent.location);
      assert.equal(terms.status, 200);
      const decided = await browser.submit(formOf(terms), { decision });
      assert.equal(decided.status, 302);
      redirectParameters(decided, callback);
    }
    assert.equal((await ask(world, queryOf(world, { state: "" }))).status, 302);
  });

  it("13: forbids caching of pages, redirects, tokens and errors", async (t) => {
    const world = await oauthWorld(t, { isClockStill: true });
    const answers = new Map<string, { readonly headers: Headers }>(await everyPage(world));
    const browser = world.browser();
    const login = await browser.get(world.authorizeUrl());
    const sent = await browser.submit(formOf(login), { username: ada.name, password: ada.password });
    answers.set("redirect to the terms", sent);
    const terms = await browser.get(sent.location);
    answers.set("no decision", await browser.submit(formOf(terms), {}));
    answers.set("redirect with a code", await browser.submit(formOf(terms), { decision: "accept" }));
    answers.set("refusal", await ask(world, queryOf(world, { state: "" })));
    answers.set("malformed", await ask(world, "%"));
    const exchanged = await world.exchange(await world.code());
    assert.equal(exchanged.status, 200);
    answers.set("tokens", exchanged);
    answers.set("refreshed", await world.refresh(exchanged.body.refresh_token));
    answers.set("invalid grant", await world.exchange("unknown"));
    answers.set("invalid client", await world.exchange("unknown", { id: world.client.id, secret: "wrong" }));
    answers.set("no grant type", await world.post("/oauth2/access_token", {}));
    answers.set("revoked", await world.revoke(exchanged.body.access_token));
    answers.set("revocation refused", await world.post("/oauth2/revoke_token", {}));
    for (const path of ["authorize", "login", "terms", "access_token", "revoke_token", "nothing"]) {
      answers.set(`DELETE ${path}`, await fetch(`${world.baseUrl}/oauth2/${path}`, { method: "DELETE" }));
      const init = { method: "POST", body: "<x/>", headers: { "content-type": "text/xml" } };
      answers.set(`POST of XML to ${path}`, await fetch(`${world.baseUrl}/oauth2/${path}`, init));
      const long = { method: "POST", body: new URLSearchParams({ x: "y".repeat(70_000) }) };
      answers.set(`POST of too much to ${path}`, await fetch(`${world.baseUrl}/oauth2/${path}`, long));
    }
    for (const [name, { headers }] of answers) assert.equal(headers.get("cache-control"), "no-store", name);
  });

  it("14: redirects no user with a code or access_denied before the sign-in", async (t) => {
    const world = await oauthWorld(t);
    for (const decision of ["accept", "decline"]) {
      const browser = world.browser();
      const login = await browser.get(world.authorizeUrl());
      const { action, fields } = formOf(login);
      for (const path of ["/oauth2/terms", action]) {
        for (const more of [
          {},
          { username: "ada" },
          { username: "ada", password: "" },
          { username: "", password: "" },
        ]) {
          const shown = await browser.submit({ action: path, fields }, { ...more, decision });
          assert.ok([400, 401].includes(shown.status), `${path} ${JSON.stringify(more)} ${shown.status}`);
          assertNoRedirect(shown, path);
        }
      }
      for (let failures = 0; failures < 2; failures++) {
        const shown = await browser.submit(formOf(login), { username: "bob", password: "wrong", decision });
        assert.deepEqual([shown.status, shown.location], [401, ""]);
      }
      assertLoginPage(await browser.get(world.authorizeUrl({ decision, prompt: "none" })), decision);
    }
  });

  it("14: asks for the password at each authorization, also in a browser that has just signed in", async (t) => {
    const world = await oauthWorld(t);
    const browser = world.browser();
    for (const decision of ["accept", "accept", "decline", "accept"] as const) {
      const login = await browser.get(world.authorizeUrl());
      assertLoginPage(login, decision);
      const early = await browser.submit({ action: "/oauth2/terms", fields: formOf(login).fields }, { decision });
      assertErrorPage(early, "no password yet");
      await browser.authorize(world.authorizeUrl(), ada, decision);
    }
  });

  it("14: answers an enterprise client with access_denied only after a user's right password", async (t) => {
    const world = await oauthWorld(t);
    const { id: client_id } = await world.addClient({ kind: "enterprise" });
    const browser = world.browser();
    const login = await browser.get(world.authorizeUrl({ client_id }));
    const wrong = await browser.submit(formOf(login), { username: ada.name, password: "wrong" });
    assert.deepEqual([wrong.status, wrong.location], [401, ""]);
    let shown = await browser.submit(formOf(login), { username: ada.name, password: ada.password });
    if (shown.status === 303) shown = await browser.get(shown.location);
    if (shown.status === 200) shown = await browser.submit(formOf(shown), { decision: "accept" });
    const parameters = redirectParameters(shown, callback);
    assert.equal(parameters.get("error"), "access_denied");
    assert.equal(parameters.get("state"), "s-1");
    assert.ok(!parameters.has("code"));
    const ofAdmin = await world.browser().signIn(world.authorizeUrl({ client_id }), admin);
    assert.match(ofAdmin.body, /it covers every user of/);
    const ofUser = await world.browser().signIn(world.authorizeUrl(), ada);
    assert.doesNotMatch(ofUser.body, /it covers every user of/);
    const granted = await world.browser().authorize(world.authorizeUrl({ client_id }), admin);
    assert.ok(granted.searchParams.has("code"));
  });

  it("14: redirects with protocol errors of a known client and address at once", async (t) => {
    const world = await oauthWorld(t);
    for (const change of [{ state: "" }, { response_type: "token" }, { response_type: "" }]) {
      const shown = await ask(world, queryOf(world, change));
      const parameters = redirectParameters(shown, callback);
      assert.ok(["invalid_request", "unsupported_response_type"].includes(parameters.get("error") ?? ""));
      assert.deepEqual(shown.headers.getSetCookie(), []);
    }
  });

  it("15: answers Decline with access_denied, the state and the issuer, also when it is repeated", async (t) => {
    const world = await oauthWorld(t);
    const browser = world.browser();
    const terms = await browser.signIn(world.authorizeUrl({ state: "s+1&2" }), ada);
    const parameters = redirectParameters(await browser.submit(formOf(terms), { decision: "decline" }), callback);
    assert.deepEqual(
      [parameters.get("error"), parameters.get("state"), parameters.get("iss"), parameters.has("code")],
      ["access_denied", "s+1&2", world.baseUrl, false],
    );
    const changedMind = await browser.submit(formOf(terms), { decision: "accept" });
    assert.doesNotMatch(changedMind.location, /code=/);
    assert.ok([302, 400].includes(changedMind.status));
  });

  it("15: accepts only accept and decline as decisions", async (t) => {
    const world = await oauthWorld(t);
    const browser = world.browser();
    const terms = await browser.signIn(world.authorizeUrl(), ada);
    for (const decision of [undefined, "", "Accept", "ACCEPT", "accept ", "yes", "true", "1", "accept,decline"]) {
      const shown = await browser.submit(formOf(terms), { decision });
      assert.deepEqual([shown.status, shown.location], [400, ""], `${decision}`);
    }
    assert.equal((await browser.submit(formOf(terms), { decision: "decline" })).status, 302);
  });
});
