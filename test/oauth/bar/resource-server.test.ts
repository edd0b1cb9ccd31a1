import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { surfaceDatabases } from "../../set-up/deployment.ts";
import { type Answered, ada, type OAuthWorld, oauthWorld } from "../oauth-world.ts";
import { formOf } from "../scripted-browser.ts";
import { rawRequest } from "./raw-request.ts";
import { assertRefused } from "./refused.ts";

const json = { "content-type": "application/json" };
const form = { "content-type": "application/x-www-form-urlencoded" };

describe("/v3", () => {
  it("53: accepts an access token in the Authorization header, whatever the case of Bearer", async (t) => {
    const world = await oauthWorld(t);
    const { access_token } = await world.tokens();
    for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR"]) {
      assert.equal((await call(world, "/v3/users", { authorization: `${scheme} ${access_token}` })).status, 200);
    }
  });

  it("53: refuses an access token in the address or in a form, with or without the header, and changes nothing", async (t) => {
    const world = await oauthWorld(t);
    const { access_token } = await world.tokens();
    const lamp = await world.addDevice(world.userId, "Lamp");
    const bearer = { authorization: `Bearer ${access_token}` };
    for (const path of ["/v3/users", `/v3/users/${world.userId}`, "/v3/devices", `/v3/devices/${lamp}`]) {
      for (const headers of [{}, bearer]) {
        const answer = await call(world, `${path}?access_token=${access_token}`, headers);
        assertRefused(answer, 400, "invalid_request");
        assert.equal(answer.headers.get("www-authenticate"), 'Bearer error="invalid_request"');
      }
    }
    const path = `/v3/devices/${lamp}`;
    for (const headers of [{}, bearer]) {
      const write = { method: "PUT", body: JSON.stringify({ power: "on" }) };
      const byQuery = await call(world, `${path}?access_token=${access_token}`, { ...headers, ...json }, write);
      assertRefused(byQuery, 400, "invalid_request");
      const body = new URLSearchParams({ power: "on", access_token });
      const byForm = await call(world, path, { ...headers, ...form }, { method: "PUT", body });
      assert.ok([400, 401, 415].includes(byForm.status), `${byForm.status}`);
    }
    assert.deepEqual((await world.get(path, access_token)).body.attributes, {});
  });

  it("53: authenticates no caller by a cookie, another header, another scheme or two tokens", async (t) => {
    const world = await oauthWorld(t);
    const { access_token: token } = await world.tokens();
    for (const headers of [
      { cookie: `access_token=${token}; token=${token}; session=${token}` },
      { "x-access-token": token, "x-auth-token": token, "x-api-key": token },
      { "proxy-authorization": `Bearer ${token}` },
      { authorization: token },
      { authorization: `Token ${token}` },
      { authorization: `Basic ${Buffer.from(`${token}:`).toString("base64")}` },
      { authorization: `Bearer ${token} ${token}` },
      { authorization: `Bearer ${token}, Bearer ${token}` },
      { authorization: `Bearer "${token}"` },
      { authorization: `Bearer token="${token}"` },
      { authorization: `Bearer ${token}\tx` },
    ] as Record<string, string>[]) {
      assert.equal((await call(world, "/v3/users", headers)).status, 401, Object.keys(headers).join());
    }
    const line = `Authorization: Bearer ${token}`;
    const twice = await rawRequest(world.baseUrl, ["GET /v3/users HTTP/1.1", "Host: a", line, line]);
    assertRefused(twice, 400, "invalid_request");
  });

  it("53: accepts only access tokens, which are accepted nowhere else but at largestrings", async (t) => {
    const world = await oauthWorld(t);
    const { access_token, refresh_token } = await world.tokens();
    const login = { ...ada, appId: String(world.tenantId), source: "192.0.2.1" };
    const { secToken } = await world.service.parts.identity.login(login);
    const others = [refresh_token, await world.code(), world.client.secret, world.client.id, secToken, ada.password];
    const random = (token: string) => token.slice(4);
    for (const token of [...others, `bwa_${random(refresh_token)}`, `bwa_${random(secToken)}`, random(access_token)]) {
      assertRefused(await world.get("/v3/users", token), 401, "invalid_token");
    }
    const lamp = await world.addDevice(world.userId, "Lamp");
    const [largeStrings, accounts] = [
      `/adaptor/largestrings?id=${lamp}`,
      "/adaptor/federatedtokens?anEcosystemName=nest",
    ];
    const { body: errors } = await world.get(`${largeStrings}&secToken=${access_token}`);
    assert.deepEqual(errors, {
      errorCode: 109,
      errorMessage: "This device is no virtual device: it has no index map.",
    });
    assert.equal((await world.get(`${largeStrings}&secToken=bws_${random(access_token)}`)).body.errorCode, 106);
    for (const token of [`bws_${random(access_token)}`, access_token]) {
      assert.equal((await world.get(`${accounts}&secToken=${token}`)).body.errorCode, 106);
      const status = await world.get("/adaptor/federatedtokens?anEcosystemName=nest", token);
      assert.deepEqual(status.body.errorCode, 106);
    }
    for (const token of [access_token, `bwr_${random(access_token)}`]) {
      assertRefused(await world.refresh(token), 400, "invalid_grant");
    }
    assertRefused(await world.exchange(access_token), 400, "invalid_grant");
  });

  it("54: answers a call without a token with a bare Bearer challenge, before any other check", async (t) => {
    const world = await oauthWorld(t);
    const lamp = await world.addDevice(world.userId, "Lamp");
    for (const path of [
      "/v3/users",
      `/v3/users/${world.userId}`,
      "/v3/users/2147483647",
      "/v3/users/nobody",
      "/v3/devices",
      "/v3/devices?cursor=nonsense",
      `/v3/devices/${lamp}`,
      "/v3/devices/2147483647",
      `/v3/devices/${lamp}?since=never`,
    ]) {
      const answer = await world.get(path);
      assert.equal(answer.status, 401, path);
      assert.equal(answer.headers.get("www-authenticate"), "Bearer", path);
      assert.match(answer.headers.get("cache-control") ?? "", /no-store/);
      assert.ok(!("code" in answer.body) && answer.body.request_id === answer.headers.get("x-request-id"));
    }
    const write = { method: "PUT", body: JSON.stringify({ power: "on" }) };
    for (const deviceId of [lamp, 2147483647]) {
      const answer = await call(world, `/v3/devices/${deviceId}`, json, write);
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get("www-authenticate"), "Bearer");
    }
  });

  it("54: answers every kind of invalid token with 401 invalid_token", async (t) => {
    const world = await oauthWorld(t);
    const expired = (await world.tokens()).access_token;
    assert.equal(await world.statusWith(expired), 200);
    await world.timePasses(3_601_000);
    const revoked = (await world.tokens()).access_token;
    assert.equal(await world.statusWith(revoked), 200);
    await world.revoke(revoked);
    const good = (await world.tokens()).access_token;
    const bad = [
      expired,
      revoked,
      `bwa_${"A".repeat(43)}`,
      `bwa_${"A".repeat(4_000)}`,
      good.toUpperCase(),
      `${good}A`,
      good.slice(0, -1),
      `${good}=`,
      "x",
      "' OR 1=1 --",
      "%00",
    ];
    const seen = new Set<string>();
    for (const token of bad) {
      for (const path of ["/v3/users", "/v3/devices", "/v3/devices/1"]) {
        const answer = await world.get(path, token);
        assertRefused(answer, 401, "invalid_token");
        assert.equal(answer.headers.get("www-authenticate"), 'Bearer error="invalid_token"');
        seen.add(JSON.stringify({ ...answer.body, request_id: "" }));
      }
    }
    assert.equal(seen.size, 1, [...seen].join());
    assert.equal(await world.statusWith(good), 200);
  });

  it("54: answers a token without the needed scope with 403 insufficient_scope", async (t) => {
    const world = await oauthWorld(t);
    const { body } = await world.exchange(await world.code({ scope: "alerts" }));
    const answer = await world.get("/v3/users", body.access_token);
    assertRefused(answer, 403, "insufficient_scope");
    const challenge = 'Bearer error="insufficient_scope", scope="devices:read"';
    assert.equal(answer.headers.get("www-authenticate"), challenge);
    assert.equal((await world.get("/v3/alerts", body.access_token)).status, 200);
  });

  for (const database of surfaceDatabases) {
    it(`55: never logs a token, code, secret, password or cookie, nor shows one in an error, on ${database}`, async (t) => {
      const world = await oauthWorld(t, { database });
      const errors: string[] = [];
      const secrets = await everyWayToUseSecrets(world, (answer) => {
        if (answer.status >= 400) errors.push(JSON.stringify(answer.body) + JSON.stringify([...answer.headers]));
      });
      await world.service.stop();
      const log = world.logged.join("\n");
      assert.ok(
        errors.length > 30 && world.logged.length > 50,
        `${errors.length} errors, ${world.logged.length} lines`,
      );
      for (const [name, secret] of Object.entries(secrets)) {
        for (const way of [secret, encodeURIComponent(secret), encodeURIComponent(secret).replaceAll("%20", "+")]) {
          assert.ok(!log.includes(way), `${name} is in the log`);
          assert.ok(!errors.join().includes(way), `${name} is in an error`);
        }
      }
    });
  }
});

/** Uses every secret correctly, wrongly, in the wrong place and after its end; returns them by name. */
async function everyWayToUseSecrets(world: OAuthWorld, record: (answer: Answered) => void) {
  const { id, secret } = world.client;
  const wrongPassword = "canary wrong password";
  const wrongSecret = "bwcs_canary-wrong-secret";
  const verifier = "canary-verifier".repeat(4);

  const browser = world.browser();
  const login = formOf(await browser.get(world.authorizeUrl()));
  const failed = await browser.submit(login, { username: "ada", password: wrongPassword });
  assert.ok(!failed.body.includes(wrongPassword));
  const terms = formOf(await browser.signIn(world.authorizeUrl(), ada));
  const stray = await world.browser().submit(terms, { decision: "accept" });
  assert.ok(!stray.location.includes("code="));
  const cookies = Object.fromEntries([...browser.cookies].map(([name, value]) => [`the cookie ${name}`, value]));

  const code = await world.code();
  record(await world.exchange(code, { id, secret: wrongSecret }));
  record(await world.exchange(code, { id: secret, secret: id }));
  record(await world.exchange(code, await world.addClient()));
  record(await world.exchange(code, world.client, { grant_type: code }));
  record(await world.exchange(code, world.client, { redirect_uri: "https://elsewhere.example/" }));
  record(await world.exchange(await world.code(), world.client, { code_verifier: verifier }));
  const replayed = await world.code();
  await world.exchange(replayed);
  record(await world.exchange(replayed));
  const { access_token, refresh_token } = await world.tokens();
  record(await world.refresh(`${refresh_token}x`));
  record(await world.refresh(access_token));
  record(await world.revoke(refresh_token, { id, secret: wrongSecret }));
  const everything = { access_token, refresh_token, code, token: refresh_token, client_secret: secret, secToken: "" };
  const secToken = (
    await world.service.parts.identity.login({ ...ada, appId: String(world.tenantId), source: "192.0.2.1" })
  ).secToken;
  const query = new URLSearchParams({ ...everything, secToken, password: ada.password, code_verifier: verifier });
  for (const path of ["/oauth2/access_token", "/oauth2/revoke_token", "/v3/users", "/v3/devices", "/v3/devices/1"]) {
    record(await world.get(`${path}?${query}`));
    record(await world.post(`${path}?${query}`, everything));
    for (const body of [`{"client_secret": ${secret}`, JSON.stringify({ [secret]: 1, client_id: [refresh_token] })]) {
      record(await world.post(path, {}, { headers: json, body }));
      record(await call(world, path, { ...json, authorization: `Bearer ${refresh_token}` }, { method: "PUT", body }));
    }
    record(await world.post(path, {}, { headers: { ...form, authorization: `Bearer ${secret}` }, body: `%${secret}` }));
    record(await call(world, `${path}/${refresh_token}`, { authorization: `Basic ${secret}` }));
    record(await call(world, `${path}/${secret}`, { authorization: `Bearer ${access_token}` }));
  }
  for (const [name, value] of Object.entries({ ...everything, client_id: secret, grant_type: code })) {
    const body = new URLSearchParams({ grant_type: "refresh_token", client_id: id, client_secret: secret });
    for (const sent of [value, refresh_token]) body.append(name, sent);
    record(await world.post("/oauth2/access_token", {}, { body }));
    record(await world.post("/oauth2/revoke_token", {}, { body }));
    record(await world.get(`/oauth2/authorize?${body}&${body}`));
  }
  for (const path of ["/oauth2/authorize", "/adaptor/largestrings", "/adaptor/federatedtokens", "/nowhere"]) {
    record(await world.get(`${path}?${query}&id=1`));
    record(await world.get(`${path}?secToken=${secToken}&id=${secret}&client_id=${secret}`));
  }
  const retired = await world.tokens();
  const next = await world.refresh(retired.refresh_token);
  await world.refresh(next.body.refresh_token);
  await world.timePasses(61_000);
  record(await world.refresh(retired.refresh_token));
  record(await world.get("/v3/users", retired.access_token));
  await world.revoke(refresh_token);
  record(await world.refresh(refresh_token));
  const fields = Object.values(terms.fields).filter((value) => value.length >= 20);
  return {
    "the password": ada.password,
    "the wrong password": wrongPassword,
    "the client's secret": secret,
    "the wrong secret": wrongSecret,
    "the verifier": verifier,
    "the code": code,
    "the replayed code": replayed,
    "the access token": access_token,
    "the refresh token": refresh_token,
    "the retired refresh token": retired.refresh_token,
    "the secToken": secToken,
    ...cookies,
    ...Object.fromEntries(fields.map((value, n) => [`hidden field ${n}`, value])),
  };
}

async function call(
  world: OAuthWorld,
  path: string,
  headers: Readonly<Record<string, string>>,
  init: RequestInit = {},
): Promise<Answered> {
  const answer = await fetch(`${world.baseUrl}${path}`, { ...init, headers: { ...headers } });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text.startsWith("{") ? JSON.parse(text) : text };
}
