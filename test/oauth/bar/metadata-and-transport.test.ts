import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { surfaceDatabases } from "../../set-up/deployment.ts";
import { freePort } from "../../set-up/free-port.ts";
import {
  type Answered,
  ada,
  admin,
  idAndSecret,
  type MadeClient,
  type OAuthWorld,
  oauthWorld,
} from "../oauth-world.ts";
import { formOf } from "../scripted-browser.ts";
import { rawRequest } from "./raw-request.ts";
import { assertErrorRedirect, assertInvalidClient, assertRefused } from "./refused.ts";
import { storedCounts } from "./stored.ts";

const metadataPath = "/.well-known/oauth-authorization-server";
const tokenPath = "/oauth2/access_token";
const revocationPath = "/oauth2/revoke_token";
const json = { "content-type": "application/json" };
const formType = "Content-Type: application/x-www-form-urlencoded";

describe("the metadata", () => {
  it("61: names the issuer it was fetched from, and only addresses that answer there", async (t) => {
    const world = await oauthWorld(t);
    const { status, headers, body } = await world.get(metadataPath);
    assert.equal(status, 200);
    assert.match(headers.get("content-type") ?? "", /^application\/json\b/);
    assert.equal(body.issuer, world.baseUrl);
    assert.equal(body.authorization_endpoint, `${world.baseUrl}/oauth2/authorize`);
    assert.equal(body.token_endpoint, world.baseUrl + tokenPath);
    assert.equal(body.revocation_endpoint, world.baseUrl + revocationPath);
    for (const [name, value] of Object.entries(body)) {
      if (typeof value !== "string" || !/_endpoint$|_uri$|documentation$/.test(name)) continue;
      const method = /token|revocation|introspection|registration/.test(name) ? "POST" : "GET";
      const answer = await fetch(value, { method, redirect: "manual" });
      const expected = { authorization_endpoint: 400, token_endpoint: 401, revocation_endpoint: 401 }[name] ?? 200;
      assert.equal(answer.status, expected, `${name} ${value}`);
    }
    const wrong = await world.post(metadataPath, {});
    assert.equal(wrong.status, 405);
    assert.match(wrong.headers.get("allow") ?? "", /\bGET\b/);
  });

  it("61: claims the response types, grants and methods that work, and claims no other", async (t) => {
    const world = await oauthWorld(t);
    const { body } = await world.get(metadataPath);
    const secretMethods = ["client_secret_basic", "client_secret_post"];
    assert.deepEqual(body.response_types_supported, ["code"]);
    assert.deepEqual(body.response_modes_supported ?? ["query"], ["query"]);
    assert.deepEqual(body.code_challenge_methods_supported, ["S256"]);
    assert.deepEqual([...body.grant_types_supported].sort(), [
      "authorization_code",
      "client_credentials",
      "refresh_token",
    ]);
    assert.deepEqual([...body.token_endpoint_auth_methods_supported].sort(), secretMethods);
    assert.deepEqual([...body.revocation_endpoint_auth_methods_supported].sort(), secretMethods);
    assert.equal(body.authorization_response_iss_parameter_supported, true);
  });

  it("61: is true for the token endpoint: each grant by each method, and no other grant", async (t) => {
    const world = await oauthWorld(t);
    const enterprise = await world.addClient({ kind: "enterprise" });
    for (const way of [inBody, byBasic]) {
      const issued = await way(world, tokenPath, world.client, {
        grant_type: "authorization_code",
        code: await world.code(),
      });
      assert.equal(issued.status, 200);
      const { refresh_token } = issued.body;
      const refreshed = await way(world, tokenPath, world.client, { grant_type: "refresh_token", refresh_token });
      assert.equal(refreshed.status, 200);
      const own = await way(world, tokenPath, enterprise, { grant_type: "client_credentials" });
      assert.equal(own.status, 200);
      assert.equal((await way(world, revocationPath, world.client, { token: refresh_token })).status, 200);
    }
    const code = await world.code();
    const urn = "urn:ietf:params:oauth:grant-type:";
    const others = ["implicit", "password", "AUTHORIZATION_CODE", "authorization_code ", "code", "refresh", "none"];
    for (const grant_type of [...others, `${urn}device_code`, `${urn}jwt-bearer`, `${urn}token-exchange`]) {
      const answer = await inBody(world, tokenPath, world.client, { grant_type, code });
      assertRefused(answer, 400, "unsupported_grant_type");
    }
    for (const grant_type of [undefined, ""]) {
      assertRefused(await world.exchange(code, world.client, { grant_type }), 400, "invalid_request");
    }
    assert.equal((await world.exchange(code)).status, 200);
    const unproven = { grant_type: "authorization_code", code: await world.code(), client_id: world.client.id };
    assertInvalidClient(await world.post(tokenPath, unproven));
  });

  it("61: is true for the authorization endpoint: iss in every answer, and no other response type or mode", async (t) => {
    const world = await oauthWorld(t);
    for (const response_type of ["token", "id_token", "code token", "code id_token", "CODE", "none"]) {
      await assertErrorRedirect(world, world.authorizeUrl({ response_type }), "unsupported_response_type");
    }
    const accepted = await world.browser().authorize(world.authorizeUrl({ response_mode: "fragment" }), ada);
    assert.equal(accepted.searchParams.get("iss"), world.baseUrl);
    assert.ok(accepted.searchParams.get("code"));
    assert.equal(accepted.hash, "");
    const declined = await world.browser().authorize(world.authorizeUrl(), ada, "decline");
    assert.equal(declined.searchParams.get("iss"), world.baseUrl);
  });

  it("61: and iss name the configured address, not the one that the service listens on", async (t) => {
    const issuer = "https://home.example";
    const port = await freePort();
    const environment = { BREEZEWAY_BASE_URL: issuer, BREEZEWAY_PORT: String(port) };
    const world = await oauthWorld(t, { environment });
    const local = `http://127.0.0.1:${port}`;
    const metadata = (await (await fetch(local + metadataPath)).json()) as Record<string, unknown>;
    assert.equal(metadata.issuer, issuer);
    for (const [name, value] of Object.entries(metadata)) {
      if (/_endpoint$|_uri$/.test(name)) assert.ok(String(value).startsWith(`${issuer}/`), `${name} ${value}`);
    }
    const wrong = new URL(world.authorizeUrl({ response_type: "token" }));
    const sent = await fetch(local + wrong.pathname + wrong.search, { redirect: "manual" });
    assert.equal(new URL(sent.headers.get("location")!).searchParams.get("iss"), issuer);
  });
});

describe("a base address with a path", () => {
  it("61: keeps every page, form and redirect below it", async (t) => {
    const port = await freePort();
    const base = "https://home.example/breezeway";
    const world = await oauthWorld(t, { environment: { BREEZEWAY_BASE_URL: base, BREEZEWAY_PORT: String(port) } });
    /** The address that a browser would open next, and its path behind the proxy. */
    const through = (address: string) => {
      const { href } = new URL(address, `${base}/oauth2/here`);
      assert.ok(href.startsWith(`${base}/`), `${address} leads to ${href}`);
      return `http://127.0.0.1:${port}${href.slice(base.length)}`;
    };
    const browser = world.browser();
    const authorize = through(`${base}/oauth2/authorize${new URL(world.authorizeUrl()).search}`);
    const authorized = await fetch(authorize, { redirect: "manual" });
    const login = formOf(await browser.get(through(authorized.headers.get("location") ?? "")));
    const filledIn = { username: ada.name, password: ada.password };
    const signedIn = await browser.submit({ ...login, action: through(login.action) }, filledIn);
    const terms = formOf(await browser.get(through(signedIn.location)));
    const decided = await browser.submit({ ...terms, action: through(terms.action) }, { decision: "accept" });
    const { searchParams } = new URL(decided.location);
    assert.equal(searchParams.get("iss"), base);
    const body = new URLSearchParams({
      grant_type: "authorization_code",
      code: searchParams.get("code") ?? "",
      ...idAndSecret(world.client),
    });
    assert.equal((await fetch(through(`${base}${tokenPath}`), { method: "POST", body })).status, 200);
  });
});

describe("the Host and X-Forwarded-* headers of a request", () => {
  for (const environment of [{}, { BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1" }] as Record<string, string>[]) {
    const proxy = environment.BREEZEWAY_TRUSTED_PROXIES ? "from a trusted proxy" : "from any caller";
    it(`62: change neither the metadata, nor iss, nor a page, nor a cookie, ${proxy}`, async (t) => {
      const world = await oauthWorld(t, { environment });
      const lies = [
        "Forwarded: for=203.0.113.1;host=evil.example;proto=https",
        "X-Forwarded-Host: evil.example",
        "X-Forwarded-Proto: https",
        "X-Forwarded-Port: 444",
        "X-Forwarded-Prefix: /evil",
        "X-Original-URL: /evil",
        "X-Rewrite-URL: /evil",
        "X-Forwarded-For: 203.0.113.1",
      ];
      const truth = (await world.get(metadataPath)).body;
      const { pathname, search } = new URL((await world.browser().get(world.authorizeUrl())).url);
      const authorize = new URL(world.authorizeUrl());
      const wrong = new URL(world.authorizeUrl({ response_type: "token" }));
      const shape = ({ status, headers, body }: Answered) => ({
        status,
        cookies: headers.getSetCookie().map((line) => line.replace(/=[^;]*/, "")),
        policy: headers.get("content-security-policy"),
        action: /<form[^>]*action="([^"?]*)/.exec(String(body))?.[1],
      });
      const plain = await rawRequest(world.baseUrl, [`GET ${pathname}${search} HTTP/1.1`, "Host: a"]);
      for (const host of ["evil.example", "evil.example:1234", "a@evil.example", "127.0.0.1"]) {
        const headers = [`Host: ${host}`, ...lies];
        const metadata = await rawRequest(world.baseUrl, [`GET ${metadataPath} HTTP/1.1`, ...headers]);
        assert.deepEqual(metadata.body, truth);
        const page = await rawRequest(world.baseUrl, [`GET ${pathname}${search} HTTP/1.1`, ...headers]);
        assert.equal(page.status, 200);
        assert.deepEqual(shape(page), shape(plain));
        const authorized = await rawRequest(world.baseUrl, [
          `GET ${authorize.pathname}${authorize.search} HTTP/1.1`,
          ...headers,
        ]);
        assert.match(authorized.headers.get("location") ?? "", /^\/oauth2\/login\?request=/);
        assert.ok(!(page.body + JSON.stringify([...page.headers])).includes("evil"));
        const back = await rawRequest(world.baseUrl, [`GET ${wrong.pathname}${wrong.search} HTTP/1.1`, ...headers]);
        assert.equal(new URL(back.headers.get("location")!).searchParams.get("iss"), world.baseUrl);
        const refused = await rawRequest(world.baseUrl, [
          `POST ${tokenPath} HTTP/1.1`,
          ...headers,
          "Content-Length: 0",
        ]);
        assert.equal(refused.status, 401);
        assert.ok(!(JSON.stringify(refused.body) + JSON.stringify([...refused.headers])).includes("evil"));
      }
    });
  }
});

describe("grants that need no browser", () => {
  it("63: don't include a user's password", async (t) => {
    const world = await oauthWorld(t);
    const enterprise = await world.addClient({ kind: "enterprise" });
    for (const client of [world.client, enterprise]) {
      for (const person of [ada, admin]) {
        const form = { grant_type: "password", username: person.name, password: person.password };
        for (const way of [inBody, byBasic]) {
          assertRefused(await way(world, tokenPath, client, form), 400, "unsupported_grant_type");
        }
      }
    }
  });

  it("63: are for enterprise clients only, by their own secret and without a refresh token", async (t) => {
    const world = await oauthWorld(t);
    const enterprise = await world.addClient({ kind: "enterprise", redirectUris: [] });
    const form = { grant_type: "client_credentials", scope: "offline_access everything", username: "ada" };
    for (const way of [inBody, byBasic]) {
      assertRefused(await way(world, tokenPath, world.client, form), 400, "unauthorized_client");
      const { status, body, headers } = await way(world, tokenPath, enterprise, form);
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body).sort(), ["access_token", "expires_in", "scope", "token_type"]);
      assert.deepEqual([body.token_type, body.expires_in, body.scope], ["Bearer", 3600, "devices:read"]);
      assert.match(headers.get("cache-control") ?? "", /no-store/);
      assert.equal(await world.statusWith(body.access_token), 200);
      assertRefused(await world.refresh(body.access_token, enterprise), 400, "invalid_grant");
    }
    assertInvalidClient(await inBody(world, tokenPath, { ...enterprise, secret: "bwcs_wrong" }, form));
  });

  it("63: end after an hour, and with their client", async (t) => {
    const world = await oauthWorld(t);
    const enterprise = await world.addClient({ kind: "enterprise" });
    const take = async () =>
      (await inBody(world, tokenPath, enterprise, { grant_type: "client_credentials" })).body.access_token;
    const first = await take();
    assert.equal(await world.statusWith(first), 200);
    await world.timePasses(3_601_000);
    assert.equal(await world.statusWith(first), 401);
    const second = await take();
    assert.equal(await world.statusWith(second), 200);
    await world.service.parts.oauth.removeClient(enterprise.id);
    assert.equal(await world.statusWith(second), 401);
  });

  for (const database of surfaceDatabases) {
    it(`63: end with their client also when they are taken during its removal, on ${database}`, async (t) => {
      const world = await oauthWorld(t, { database });
      for (let round = 0; round < 10; round++) {
        const enterprise = await world.addClient({ kind: "enterprise" });
        const takes = Array.from({ length: 12 }, () =>
          inBody(world, tokenPath, enterprise, { grant_type: "client_credentials" }),
        );
        await takes[round];
        await world.service.parts.oauth.removeClient(enterprise.id);
        for (const { status, body } of await Promise.all(takes)) {
          if (status === 200) assert.equal(await world.statusWith(body.access_token), 401);
          else assert.ok(["invalid_client", "too_many_requests"].includes(body.error), JSON.stringify(body));
        }
      }
    });
  }
});

describe("the input of a request", () => {
  it("64: may have 16 KiB, with a length or in chunks, and not one byte more", async (t) => {
    const world = await oauthWorld(t);
    const { id, secret } = world.client;
    const start = `client_id=${id}&client_secret=${secret}&token=x&padding=`;
    for (const path of [revocationPath, tokenPath, "/oauth2/authorize"]) {
      for (const [length, isTaken] of [
        [16_384, true],
        [16_385, false],
        [60_000, false],
      ] as const) {
        const body = start.padEnd(length, "a");
        const lines = [`POST ${path} HTTP/1.1`, "Host: a", formType];
        const counted = await rawRequest(world.baseUrl, [...lines, `Content-Length: ${length}`], body);
        const chunks = `${length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
        const inPieces = await rawRequest(world.baseUrl, [...lines, "Transfer-Encoding: chunked"], chunks);
        for (const answer of [counted, inPieces]) {
          if (isTaken) assert.notEqual(answer.status, 413, path);
          else if (path === "/oauth2/authorize") assert.ok([405, 413].includes(answer.status), `${answer.status}`);
          else assertRefused(answer, 413, "body_too_large");
        }
        if (isTaken && path === revocationPath) assert.deepEqual([counted.status, inPieces.status], [200, 200]);
      }
    }
    const browser = world.browser();
    const login = formOf(await browser.get(world.authorizeUrl()));
    const shown = await browser.submit(login, { username: "ada", password: "a".repeat(17_000) });
    assert.equal(shown.status, 413);
  });

  it("64: as JSON must be an object of strings", async (t) => {
    const world = await oauthWorld(t);
    const code = await world.code();
    const members = { grant_type: "authorization_code", code, ...idAndSecret(world.client) };
    const send = (body: string) => world.post(tokenPath, {}, { headers: json, body });
    for (const name of Object.keys(members)) {
      for (const value of [1, 0, true, false, [], [code], {}, { $ne: "" }, [["a"]]]) {
        assertRefused(await send(JSON.stringify({ ...members, [name]: value })), 400, "invalid_request");
      }
      const without = await send(JSON.stringify({ ...members, [name]: null }));
      assert.ok([400, 401].includes(without.status), `${name}: ${without.status}`);
    }
    for (const body of ["[]", "1", "true", "null", '"text"', JSON.stringify([members])]) {
      const answer = await send(body);
      assertRefused(answer, answer.status === 401 ? 401 : 400, "invalid_request", "invalid_client");
    }
    assert.equal((await send(JSON.stringify(members))).status, 200);
  });

  it("64: as JSON with a duplicate member is refused, and nothing changes", async (t) => {
    const world = await oauthWorld(t);
    const code = await world.code();
    const { id, secret } = world.client;
    const members = [
      `"grant_type":"authorization_code"`,
      `"code":"${code}"`,
      `"client_id":"${id}"`,
      `"client_secret":"${secret}"`,
    ];
    for (const again of [...members, `"code":"other"`, `"c\\u006fde":"${code}"`, `"client_secret":"wrong"`]) {
      for (const body of [`{${[again, ...members].join()}}`, `{${[...members, again].join()}}`]) {
        assertRefused(await world.post(tokenPath, {}, { headers: json, body }), 400, "invalid_request");
      }
    }
    const good = `{${[...members, `"scope":"\\"code\\":1,\\"code\\":2"`].join()}}`;
    assert.equal((await world.post(tokenPath, {}, { headers: json, body: good })).status, 200);
  });

  it("64: as a form with a duplicate parameter is refused, and nothing changes", async (t) => {
    const world = await oauthWorld(t);
    const redirect_uri = "http://127.0.0.1:9/callback";
    const code = await world.code({ redirect_uri });
    const { access_token, refresh_token } = await world.tokens();
    const credentials = idAndSecret(world.client);
    for (const [path, form] of [
      [tokenPath, { grant_type: "authorization_code", code, redirect_uri, scope: "a", ...credentials }],
      [tokenPath, { grant_type: "refresh_token", refresh_token, ...credentials }],
      [revocationPath, { token: access_token, token_type_hint: "access_token", ...credentials }],
    ] as const) {
      for (const name of Object.keys(form)) {
        for (const value of [(form as Record<string, string>)[name]!, "other", ""]) {
          const body = new URLSearchParams({ ...form });
          body.append(name, value);
          assertRefused(await world.post(path, {}, { body }), 400, "invalid_request");
        }
      }
    }
    assert.equal(await world.statusWith(access_token), 200);
    assert.equal((await world.exchange(code, world.client, { redirect_uri })).status, 200);
    assert.equal((await world.refresh(refresh_token)).status, 200);
  });

  it("64: with another content type, broken escapes, invalid UTF-8 or broken JSON is refused, and nothing changes", async (t) => {
    const world = await oauthWorld(t);
    const { access_token } = await world.tokens();
    const form = String(new URLSearchParams({ token: access_token, ...idAndSecret(world.client) }));
    const object = JSON.stringify({ token: access_token, ...idAndSecret(world.client) });
    for (const path of [tokenPath, revocationPath]) {
      const send = (type: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
        world.post(path, {}, { headers: { "content-type": type, ...headers }, body });
      for (const type of [
        "text/plain",
        "application/xml",
        "multipart/form-data; boundary=x",
        "nonsense",
        "text/json",
      ]) {
        assertRefused(await send(type, form), 415, "unsupported_media_type");
        assertRefused(await send(type, object), 415, "unsupported_media_type");
      }
      const formMime = "application/x-www-form-urlencoded";
      for (const [type, body] of [
        [formMime, `${form}&x=%`],
        [formMime, `${form}&x=%zz`],
        [formMime, `${form}&x=%ff`],
        [formMime, Buffer.concat([Buffer.from(`${form}&x=`), Buffer.from([0xff, 0xfe])])],
        ["application/json", object.slice(0, -1)],
        ["application/json", `${object}x`],
        ["application/json", form],
        ["application/json", Buffer.concat([Buffer.from(object.slice(0, -2)), Buffer.from([0xff]), Buffer.from('"}')])],
      ] as const) {
        const sent = typeof body === "string" ? body : new Uint8Array(body);
        assertRefused(await send(type, sent), 400, "invalid_request");
      }
      const squeezed = await send(formMime, form, { "content-encoding": "gzip" });
      assert.ok([400, 415].includes(squeezed.status), `${squeezed.status}`);
      const lines = [`POST ${path} HTTP/1.1`, "Host: a", `Content-Length: ${form.length}`];
      const untyped = await rawRequest(world.baseUrl, lines, form);
      assertRefused(untyped, untyped.status === 415 ? 415 : 400, "unsupported_media_type", "invalid_request");
    }
    assert.equal(await world.statusWith(access_token), 200);
    const charset = { "content-type": "application/json; charset=utf-8" };
    assert.equal((await world.post(revocationPath, {}, { headers: charset, body: object })).status, 200);
    assert.equal(await world.statusWith(access_token), 401);
  });

  it("64: in a form that a proxy might parse differently is refused, and nothing changes", async (t) => {
    const world = await oauthWorld(t);
    const { access_token } = await world.tokens();
    const body = String(new URLSearchParams({ token: access_token, ...idAndSecret(world.client) }));
    const length = `Content-Length: ${body.length}`;
    const line = `POST ${revocationPath} HTTP/1.1`;
    const origin = new URL(world.baseUrl).host;
    for (const lines of [
      [line, "Host: a", "Host: b", formType, length],
      [line, "Host: a", "Host: a", formType, length],
      [line, formType, length],
      [`POST ${world.baseUrl}${revocationPath} HTTP/1.1`, `Host: ${origin}`, formType, length],
      [`POST //${origin}${revocationPath} HTTP/1.1`, "Host: a", formType, length],
      [line, "Host: a", formType, length, "Content-Length: 5"],
      [line, "Host: a", formType, length, "Transfer-Encoding: chunked"],
      [line, "Host: a", formType, length, "Transfer-Encoding : chunked"],
      [line, "Host: a", formType, "Transfer-Encoding: chunked, identity"],
      [`POST ${revocationPath}/ HTTP/1.1`, "Host: a", formType, length],
      [`POST ${revocationPath.toUpperCase()} HTTP/1.1`, "Host: a", formType, length],
      [`POST /oauth2/%72evoke_token HTTP/9.9`, "Host: a", formType, length],
    ]) {
      const answer = await rawRequest(world.baseUrl, lines, body);
      assert.ok([400, 404, 505].includes(answer.status), `${lines.join(" | ")}: ${answer.status}`);
      assert.deepEqual(Object.keys(answer.body).sort(), ["error", "error_description", "request_id"]);
    }
    assert.equal(await world.statusWith(access_token), 200);
    assert.equal((await rawRequest(world.baseUrl, [line, "Host: a", formType, length], body)).status, 200);
  });

  for (const database of surfaceDatabases) {
    it(`64: as SQL in any parameter is plain text on ${database}`, async (t) => {
      const world = await oauthWorld(t, { database, environment: { BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1" } });
      const issued = await world.tokens();
      const code = await world.code();
      const lamp = await world.addDevice(world.userId, "Lamp");
      const before = await storedCounts(world);
      let source = 0;
      for (const text of hostileTexts) {
        const headers = () => ({ "x-forwarded-for": `10.1.${source >> 8}.${source++ & 255}` });
        const token = { grant_type: "authorization_code", code: "x", ...idAndSecret(world.client) };
        const spoilt = Object.keys(token).map((name) => [tokenPath, { ...token, [name]: text }] as const);
        const refresh = { ...token, grant_type: "refresh_token" };
        for (const [path, form] of [
          ...spoilt,
          [tokenPath, { ...token, redirect_uri: text, code_verifier: text, scope: text }],
          [tokenPath, { ...refresh, code: text }],
          [tokenPath, { ...refresh, refresh_token: text }],
          [revocationPath, { token: "x", client_id: text, client_secret: text }],
        ] as const) {
          const { status, body } = await world.post(path, form, { headers: headers() });
          assert.ok(status === 400 || status === 401, `${status} ${JSON.stringify(body)} for ${text}`);
        }
        const revocation = { token: text, token_type_hint: text, ...idAndSecret(world.client) };
        assert.equal((await world.post(revocationPath, revocation)).status, 200);

        assert.equal((await world.get(`/oauth2/authorize?${new URLSearchParams({ client_id: text })}`)).status, 400);
        const elsewhere = new URL(world.authorizeUrl({ redirect_uri: text }));
        assert.equal((await world.get(elsewhere.pathname + elsewhere.search)).status, 400);
        const browser = world.browser();
        const page = formOf(await browser.get(world.authorizeUrl({ state: text, scope: text })));
        const login = await browser.submit(page, { username: text, password: text });
        assert.ok(login.location === "" && login.status < 500, `${login.status} for ${text}`);

        const written = encodeURIComponent(text);
        for (const [path, status] of [
          [`/v3/users/${written}`, 404],
          [`/v3/devices/${written}`, 404],
          [`/v3/devices?deviceTypeName=${written}`, 200],
          [`/v3/devices?cursor=${written}`, 400],
          [`/v3/devices/${lamp}?attribute=${written}`, 200],
          [`/v3/devices/${lamp}?since=${written}`, 400],
        ] as const) {
          assert.equal((await world.get(path, issued.access_token)).status, status, path);
        }
        assert.equal(await world.statusWith(encodeURIComponent(text)), 401);
      }
      assert.deepEqual(await storedCounts(world), before);
      assert.equal((await world.exchange(code)).status, 200);
      assert.equal((await world.refresh(issued.refresh_token)).status, 200);
    });
  }

  it("64: as SQL in the state is returned unchanged", async (t) => {
    const world = await oauthWorld(t);
    for (const state of hostileTexts) {
      const address = await world.browser().authorize(world.authorizeUrl({ state }), ada);
      assert.equal(address.searchParams.get("state"), state);
    }
  });
});

const hostileTexts = [
  "' OR '1'='1",
  "'; DROP TABLE users; --",
  '" OR ""="',
  "x' UNION SELECT hash, hash, hash FROM access_tokens --",
  "bwr_%",
  "\\' OR 1=1 #",
  "$1",
  "1); DELETE FROM grants; --",
];

type Form = Readonly<Record<string, string>>;

function inBody(world: OAuthWorld, path: string, client: MadeClient, form: Form): Promise<Answered> {
  return world.post(path, { ...form, ...idAndSecret(client) });
}

function byBasic(world: OAuthWorld, path: string, { id, secret }: MadeClient, form: Form): Promise<Answered> {
  const pair = Buffer.from(`${id}:${secret}`).toString("base64");
  return world.post(path, form, { headers: { authorization: `Basic ${pair}` } });
}
