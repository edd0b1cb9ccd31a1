import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { type Answer, browserAt, callback, houseOfFile, person, post, send, tenant, withoutMember } from "./house.ts";

const house = houseOfFile();

interface Credentials {
  readonly client_id: string;
  readonly client_secret: string;
}

async function register(kind: "user" | "enterprise" = "user"): Promise<Credentials> {
  const plan = { tenant, name: "Voice", kind, redirectUris: [callback], requiresPkce: false };
  const { client, secret } = await house().service.parts.oauth.addClient(plan);
  return { client_id: client.id, client_secret: secret };
}

function authorizeUrl(parameters: Readonly<Record<string, string>>): string {
  return `${house().service.baseUrl}/oauth2/authorize?${new URLSearchParams(parameters)}`;
}

/** Signs in, accepts the terms, and returns the address to which the browser is sent. */
async function authorize(client: Credentials, state = "s", who: typeof person = person): Promise<URL> {
  const browser = browserAt(house().service.baseUrl);
  const parameters = { response_type: "code", client_id: client.client_id, state };
  const login = await browser.open(authorizeUrl(parameters));
  const terms = await browser.submit(login, { username: who.name, password: who.password });
  const end = terms.form ? await browser.submit(terms, { decision: "accept" }) : terms;
  return new URL(end.location);
}

const codeOf = async (client: Credentials) => (await authorize(client)).searchParams.get("code")!;
const tokenUrl = () => `${house().service.baseUrl}/oauth2/access_token`;
const revokeUrl = () => `${house().service.baseUrl}/oauth2/revoke_token`;
const exchange = async (client: Credentials) => {
  const code = await codeOf(client);
  return (await post(tokenUrl(), { ...client, code, grant_type: "authorization_code" })).body;
};
const statusWith = async (token: string) =>
  (await send(`${house().service.baseUrl}/v3/users`, { headers: { authorization: `Bearer ${token}` } })).status;

function assertError({ status, body }: Answer, code: string) {
  assert.ok(status >= 400, `${status}`);
  assert.equal(body.error, code);
  assert.equal(typeof body.error_description, "string");
}

describe("GET /oauth2/authorize", () => {
  it("4.1: leads the user to the tenant's login page, then to the page of its terms", async () => {
    const { client_id } = await register();
    const browser = browserAt(house().service.baseUrl);
    const login = await browser.open(authorizeUrl({ response_type: "code", client_id, state: "s" }));
    assert.equal(login.status, 200);
    assert.match(login.body, new RegExp(tenant));
    assert.match(login.body, /name="username".*name="password"/s);
    const terms = await browser.submit(login, { username: person.name, password: person.password });
    assert.equal(terms.status, 200);
    assert.match(terms.body, /value="accept"/);
  });

  it("4.1: answers acceptance with 302 to the registered redirect address, with a code", async () => {
    const client = await register();
    const browser = browserAt(house().service.baseUrl);
    const parameters = { response_type: "code", client_id: client.client_id, state: "s" };
    const login = await browser.open(authorizeUrl(parameters));
    const terms = await browser.submit(login, { username: person.name, password: person.password });
    const accepted = await browser.submit(terms, { decision: "accept" });
    assert.equal(accepted.status, 302);
    const { origin, pathname, searchParams } = new URL(accepted.location);
    assert.equal(`${origin}${pathname}`, callback);
    assert.ok(searchParams.get("code"));
  });

  it("4.1, 5: returns the state unchanged", async () => {
    const state = 'a b+c&d=é/%20?#"<🏠';
    assert.equal((await authorize(await register(), state)).searchParams.get("state"), state);
  });

  it("4.1: requires the response type code", async () => {
    const { client_id } = await register();
    for (const [parameters, error] of [
      [{ client_id, state: "s" }, "invalid_request"],
      [{ client_id, state: "s", response_type: "token" }, "unsupported_response_type"],
    ] as const) {
      const { status, headers } = await send(authorizeUrl(parameters));
      assert.equal(status, 302);
      const { searchParams } = new URL(headers.get("location")!);
      assert.deepEqual([searchParams.get("error"), searchParams.get("code")], [error, null]);
    }
  });

  it("4.1: requires the id of a registered client, and else redirects nowhere", async () => {
    for (const client of [{}, { client_id: "bwc_unknown" }]) {
      const { status, headers } = await send(authorizeUrl({ response_type: "code", state: "s", ...client }));
      assert.deepEqual([status, headers.get("location")], [400, null]);
    }
  });

  it("4.1, 5: requires a state, except with a PKCE challenge (amended)", async () => {
    const { client_id } = await register();
    const { headers } = await send(authorizeUrl({ response_type: "code", client_id }));
    assert.equal(new URL(headers.get("location")!).searchParams.get("error"), "invalid_request");
    const challenge = {
      code_challenge: createHash("sha256").update("verifier").digest("base64url"),
      code_challenge_method: "S256",
    };
    const browser = browserAt(house().service.baseUrl);
    const login = await browser.open(authorizeUrl({ response_type: "code", client_id, ...challenge }));
    assert.match(login.body, /name="username"/, login.location);
  });
});

describe("POST /oauth2/access_token", () => {
  for (const [encoding, submit] of [
    ["form", post],
    [
      "JSON object",
      (url: string, fields: object) =>
        send(url, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(fields),
        }),
    ],
  ] as const) {
    it(`2.1, 4.1: answers a code in a ${encoding} with an access token and a refresh token in JSON`, async () => {
      const client = await register();
      const request = { ...client, code: await codeOf(client), grant_type: "authorization_code" };
      const { status, body } = await submit(tokenUrl(), request);
      assert.deepEqual([status, typeof body.access_token, typeof body.refresh_token], [200, "string", "string"]);
      assert.equal(await statusWith(body.access_token), 200);
    });
  }

  for (const [name, error] of [
    ["client_id", "invalid_client"],
    ["client_secret", "invalid_client"],
    ["code", "invalid_request"],
    ["grant_type", "invalid_request"],
  ] as const) {
    it(`2.1: requires ${name}, and else answers an error object`, async () => {
      const client = await register();
      const request = { ...client, code: await codeOf(client), grant_type: "authorization_code" };
      assertError(await post(tokenUrl(), withoutMember(request, name)), error);
    });
  }

  it("2.1, 5: refreshes an access token with the grant type refresh_token; `code` may carry the token", async () => {
    const client = await register();
    const { refresh_token } = await exchange(client);
    for (const carrier of ["refresh_token", "code"]) {
      const fields = { ...client, grant_type: "refresh_token", [carrier]: refresh_token };
      const { status, body } = await post(tokenUrl(), fields);
      assert.deepEqual([status, typeof body.refresh_token], [200, "string"]);
      assert.equal(await statusWith(body.access_token), 200);
    }
  });

  it("4.1, 7: answers an error object when no token is generated", async () => {
    const client = await register();
    const request = { ...client, code: "unknown", grant_type: "authorization_code" };
    const answer = await post(tokenUrl(), request);
    assertError(answer, "invalid_grant");
    assert.deepEqual(Object.keys(answer.body), ["error", "error_description", "request_id"]);
    assertError(await post(tokenUrl(), { ...request, grant_type: "magic" }), "unsupported_grant_type");
  });

  it("5: takes the client's secret in the body, and never in the query", async () => {
    const client = await register();
    const { client_secret, ...fields } = { ...client, code: await codeOf(client), grant_type: "authorization_code" };
    const answer = await post(`${tokenUrl()}?${new URLSearchParams({ client_secret })}`, fields);
    assert.ok(answer.status === 400 || answer.status === 401);
    assert.equal((await post(tokenUrl(), { ...fields, client_secret })).status, 200);
  });

  it("5: gives an enterprise client the enterprise token of an administrator who signs in", async () => {
    const who = { name: "root", password: "battery staple" };
    await house().service.parts.identity.addUser({ tenant, ...who, isAdmin: true });
    const client = await register("enterprise");
    const code = (await authorize(client, "s", who)).searchParams.get("code")!;
    const { body } = await post(tokenUrl(), { ...client, code, grant_type: "authorization_code" });
    const headers = { authorization: `Bearer ${body.access_token}` };
    const users = await send(`${house().service.baseUrl}/v3/users`, { headers });
    assert.ok(users.body.includes(house().userId), "an enterprise token reaches the users of its tenant");
    assert.equal((await authorize(client)).searchParams.get("error"), "access_denied");
  });
});

describe("POST /oauth2/revoke_token", () => {
  for (const token of ["access_token", "refresh_token"] as const) {
    it(`2.2, 4.1: answers 200 and ends the access, given the ${token} and an empty hint`, async () => {
      const client = await register();
      const tokens = await exchange(client);
      const { status } = await post(revokeUrl(), { ...client, token: tokens[token], token_type_hint: "" });
      assert.deepEqual([status, await statusWith(tokens.access_token)], [200, 401]);
      const refresh = { ...client, grant_type: "refresh_token", refresh_token: tokens.refresh_token };
      assertError(await post(tokenUrl(), refresh), "invalid_grant");
    });
  }

  it("2.2: also takes a request without the hint, or with another one", async () => {
    const client = await register();
    for (const hint of [{}, { token_type_hint: "refresh_token" }, { token_type_hint: "?" }]) {
      const { access_token: token } = await exchange(client);
      assert.equal((await post(revokeUrl(), { ...client, token, ...hint } as Record<string, string>)).status, 200);
      assert.equal(await statusWith(token), 401);
    }
  });

  for (const [name, error] of [
    ["client_id", "invalid_client"],
    ["client_secret", "invalid_client"],
    ["token", "invalid_request"],
  ] as const) {
    it(`2.2, 4.1: requires ${name}; the token stays valid after the failure`, async () => {
      const client = await register();
      const { access_token: token } = await exchange(client);
      const request = { ...client, token, token_type_hint: "" };
      assertError(await post(revokeUrl(), withoutMember(request, name)), error);
      assert.equal(await statusWith(token), 200);
    });
  }
});

describe("the authorization server", () => {
  it("9: has no version in its paths", async () => {
    for (const path of ["authorize", "access_token", "revoke_token"]) {
      assert.equal((await send(`${house().service.baseUrl}/v3/oauth2/${path}`)).status, 404);
      assert.notEqual((await send(`${house().service.baseUrl}/oauth2/${path}`)).status, 404);
    }
  });
});

describe("another environment", () => {
  const other = houseOfFile();

  it("1, 5: does not know a client that is registered in this one", async () => {
    const client = await register();
    const parameters = { response_type: "code", client_id: client.client_id, state: "s" };
    const there = `${other().service.baseUrl}/oauth2`;
    assert.equal((await send(`${there}/authorize?${new URLSearchParams(parameters)}`)).status, 400);
    const request = { ...client, code: await codeOf(client), grant_type: "authorization_code" };
    assertError(await post(`${there}/access_token`, request), "invalid_client");
    assert.equal((await post(tokenUrl(), request)).status, 200);
  });
});
