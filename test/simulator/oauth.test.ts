import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { SimulatorOptions } from "../../simulator/simulator.ts";
import { movedClock, simulatorWorld } from "./world.ts";

const returnAddress = "https://app.example/callback?from=home";

/** A simulator with one home and a client that returns to an address. */
async function consentWorld(test: TestContext, options: SimulatorOptions = {}, plan: object = {}) {
  const world = await simulatorWorld(test, options);
  const account = await world.account();
  const { body } = await world.call("POST", "/simulator/clients", {
    name: "Lantern",
    redirectUri: returnAddress,
    ...plan,
  });
  const client = body as { clientId: string; clientSecret: string };
  const answer = (fields: Record<string, string>) =>
    fetch(`${world.simulator.url}/login/oauth2`, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({ client_id: client.clientId, state: "s 1&", decision: "allow", ...fields }),
    });
  const code = async () => new URL((await answer({})).headers.get("location")!).searchParams.get("code")!;
  const credentials = { client_id: client.clientId, client_secret: client.clientSecret };
  const parameters = (issued: string) => ({ ...credentials, code: issued, grant_type: "authorization_code" });
  const exchange = (query: Record<string, string>, form?: Record<string, string>) =>
    fetch(`${world.simulator.url}/oauth2/access_token?${new URLSearchParams(query)}`, {
      method: "POST",
      ...(form && { body: new URLSearchParams(form) }),
    });
  return { ...world, account, client, answer, code, parameters, exchange };
}

describe("the owner's decision", () => {
  it("redirects the browser with a code of 16 characters and the unchanged state", async (t) => {
    const { answer } = await consentWorld(t);
    const response = await answer({});
    assert.equal(response.status, 302);
    const location = new URL(response.headers.get("location")!);
    assert.equal(location.origin + location.pathname, "https://app.example/callback");
    assert.equal(location.searchParams.get("from"), "home");
    assert.match(location.searchParams.get("code")!, /^[A-Z2-9]{16}$/);
    assert.equal(location.searchParams.get("state"), "s 1&");
  });

  it("redirects with an error after a refusal", async (t) => {
    const { answer } = await consentWorld(t);
    const location = new URL((await answer({ decision: "deny" })).headers.get("location")!);
    assert.equal(location.searchParams.get("error"), "access_denied");
    assert.ok(location.searchParams.get("error_description"));
    assert.equal(location.searchParams.get("state"), "s 1&");
    assert.ok(!location.searchParams.has("code"));
  });

  it("is for the chosen home", async (t) => {
    const world = await consentWorld(t);
    const second = await world.account;
    const other = world.simulator.addAccount({ structures: [{ name: "Boathouse" }] });
    const location = new URL((await world.answer({ account: other.accountId })).headers.get("location")!);
    const taken = await world.exchange(world.parameters(location.searchParams.get("code")!));
    const { access_token: token } = (await taken.json()) as { access_token: string };
    const { body } = await world.call("GET", "/structures", undefined, token);
    assert.match(JSON.stringify(body), /Boathouse/);
    assert.equal((await world.answer({})).status, 400, "several homes and none chosen");
    assert.equal((await world.answer({ account: "nobody" })).status, 404);
    assert.notEqual(second.accountId, other.accountId);
  });

  it("creates a home for an owner without one", async (t) => {
    const { simulator } = await simulatorWorld(t);
    const { clientId } = simulator.defaultClient;
    const body = new URLSearchParams({ client_id: clientId, state: "s", decision: "allow", account: "new" });
    const response = await fetch(`${simulator.url}/login/oauth2`, { method: "POST", body });
    assert.equal(response.status, 200);
    assert.equal(simulator.accountIds().length, 1);
  });

  it("never goes to an address that is not registered for the client", async (t) => {
    const { simulator, client, answer } = await consentWorld(t);
    const wrong: Record<string, string>[] = [
      { client_id: "nobody", redirect_uri: returnAddress },
      { redirect_uri: "https://evil.example/" },
      { redirect_uri: `${returnAddress}#x` },
      { redirect_uri: "https://app.example/callback" },
      { state: "" },
      { state: "x".repeat(5000) },
      { decision: "perhaps" },
    ];
    for (const fields of wrong) {
      const response = await answer(fields);
      assert.equal(response.status, 400, JSON.stringify(fields).slice(0, 80));
      assert.equal(response.headers.get("location"), null);
      const query = new URLSearchParams({ client_id: client.clientId, state: "s", ...fields });
      if (!("decision" in fields)) {
        assert.equal((await fetch(`${simulator.url}/login/oauth2?${query}`)).status, 400);
      }
    }
    assert.equal((await fetch(`${simulator.url}/login/oauth2`, { method: "DELETE" })).status, 405);
  });
});

describe("the built-in client", () => {
  it("returns to any address on this machine and to no other", async (t) => {
    const { simulator } = await simulatorWorld(t);
    const { clientId } = simulator.defaultClient;
    const ask = async (address: string) => {
      const query = new URLSearchParams({ client_id: clientId, state: "s", redirect_uri: address });
      return (await fetch(`${simulator.url}/login/oauth2?${query}`)).status;
    };
    for (const address of ["http://localhost:3000/cb", "http://127.0.0.1:1/", "https://[::1]:8/x"]) {
      assert.equal(await ask(address), 200, address);
    }
    const others = ["http://localhost.evil.example/", "http://127.0.0.1.evil.example/", "javascript:alert(1)", "x"];
    for (const address of others) assert.equal(await ask(address), 400, address);
  });

  it("is listed with its secret, the others without", async (t) => {
    const { call, client, simulator } = await consentWorld(t);
    const { clients } = (await call("GET", "/simulator/clients")).body;
    const [first, second] = clients;
    assert.deepEqual([first.clientId, first.clientSecret], Object.values(simulator.defaultClient));
    assert.deepEqual([second.clientId, second.name, second.redirectUri], [client.clientId, "Lantern", returnAddress]);
    assert.ok(!JSON.stringify(second).includes(client.clientSecret));
  });
});

describe("a code", () => {
  it("becomes a token, with the parameters in the query, in a form or in both", async (t) => {
    const { code, parameters, exchange, call } = await consentWorld(t);
    const ways: ((all: Record<string, string>) => Promise<Response>)[] = [
      (all) => exchange(all),
      (all) => exchange({}, all),
      ({ client_id, code, ...form }) => exchange({ client_id: client_id!, code: code! }, form),
      (all) => exchange({ ...all, code: "wrong" }, all),
    ];
    for (const way of ways) {
      const response = await way(parameters(await code()));
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("cache-control"), "no-store");
      const body = (await response.json()) as { access_token: string; expires_in: number };
      assert.deepEqual(Object.keys(body), ["access_token", "expires_in"]);
      assert.match(body.access_token, /^c\.[\w-]{32,}$/);
      assert.equal(body.expires_in, 315_360_000);
      assert.equal((await call("GET", "/", undefined, body.access_token)).status, 200);
    }
  });

  const notFound = { error: "oauth2_error", error_description: "authorization code not found" };

  it("works once", async (t) => {
    const { code, parameters, exchange } = await consentWorld(t);
    const request = parameters(await code());
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(request)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array.from({ length: 7 }, () => 400)]);
    const refused = answers.find(({ status }) => status === 400)!;
    assert.deepEqual(await refused.json(), notFound);
  });

  it("is valid for ten minutes", async (t) => {
    const clock = movedClock(Date.UTC(2026, 0, 1));
    const { code, parameters, exchange } = await consentWorld(t, clock);
    const [early, late] = [await code(), await code()];
    clock.move(10 * 60_000 - 1);
    assert.equal((await exchange(parameters(early))).status, 200);
    clock.move(1);
    const refused = await exchange(parameters(late));
    assert.deepEqual([refused.status, await refused.json()], [400, notFound]);
  });

  it("is refused for another client, and stays valid for its own", async (t) => {
    const { code, parameters, exchange, simulator } = await consentWorld(t);
    const issued = await code();
    const other = simulator.registerClient({ name: "Other" });
    const stolen = { ...parameters(issued), client_id: other.clientId, client_secret: other.clientSecret };
    assert.deepEqual(await (await exchange(stolen)).json(), notFound);
    const unknown = await exchange({ ...parameters(issued), client_secret: "wrong" });
    assert.deepEqual(
      [unknown.status, await unknown.json()],
      [400, { error: "oauth2_error", error_description: "client not found" }],
    );
    assert.equal((await exchange(parameters(issued))).status, 200);
  });

  it("is refused with the name of the missing parameter", async (t) => {
    const { parameters, exchange } = await consentWorld(t);
    for (const name of ["client_id", "client_secret", "code", "grant_type"]) {
      for (const value of [undefined, ""]) {
        const { [name]: _, ...rest }: Record<string, string> = parameters("x");
        const response = await exchange(value === undefined ? rest : { ...rest, [name]: value });
        assert.equal(response.status, 400);
        const expected = { error: "oauth2_error", error_description: `missing required parameters: ${name}` };
        assert.deepEqual(await response.json(), expected);
      }
    }
    const nothing = (await (await exchange({})).json()) as { error_description: string };
    assert.equal(nothing.error_description, "missing required parameters: client_id, client_secret, code, grant_type");
    const other = await exchange({ ...parameters("x"), grant_type: "refresh_token" });
    assert.equal(other.status, 400);
  });

  it("is accepted by POST only", async (t) => {
    const { call } = await consentWorld(t);
    const { status, headers } = await call("GET", "/oauth2/access_token");
    assert.deepEqual([status, headers.get("allow")], [405, "POST"]);
    assert.equal((await call("POST", "/oauth2/nothing")).status, 404);
    assert.equal((await call("POST", "/oauth2/access_tokens/a/b")).status, 404);
    assert.equal((await call("GET", "/oauth2/access_tokens/a")).status, 405);
  });
});

describe("a PIN", () => {
  it("is shown to the owner, has 8 characters and works as a code for 48 hours, once", async (t) => {
    const clock = movedClock(Date.UTC(2026, 0, 1));
    const { answer, parameters, exchange } = await consentWorld(t, clock, { redirectUri: null });
    const pin = async () => /class="pin">([A-Z2-9]{8})</.exec(await (await answer({})).text())![1]!;
    const [early, late] = [await pin(), await pin()];
    clock.move(48 * 3_600_000 - 1);
    assert.equal((await exchange(parameters(early))).status, 200);
    assert.equal((await exchange(parameters(early))).status, 400);
    clock.move(1);
    assert.equal((await exchange(parameters(late))).status, 400);
  });

  it("isn't shown to an owner who refuses", async (t) => {
    const { answer } = await consentWorld(t, {}, { redirectUri: undefined });
    const response = await answer({ decision: "deny" });
    assert.equal(response.status, 200);
    assert.ok(!(await response.text()).includes('class="pin"'));
  });

  it("is only for clients without a redirect address", async (t) => {
    const { answer } = await consentWorld(t, {}, { redirectUri: "" });
    assert.equal((await answer({ redirect_uri: "https://app.example/" })).status, 400);
  });
});

describe("a token", () => {
  it("is revoked, and its streams get an event", async (t) => {
    const { call, account } = await consentWorld(t);
    const stream = await account.stream();
    await stream.next();
    assert.equal((await call("DELETE", `/oauth2/access_tokens/${account.token}`)).status, 204);
    assert.deepEqual(await stream.next(), { event: "auth_revoked", data: account.token });
    assert.equal(await stream.over, "ended");
    assert.equal((await account.get("/")).status, 401);
    const again = await call("DELETE", `/oauth2/access_tokens/${account.token}`);
    assert.equal(again.status, 404);
    assert.ok(!JSON.stringify(again.body).includes(account.token));
  });

  it("is revoked with all tokens of its client by the owner", async (t) => {
    const { simulator, call, account, client } = await consentWorld(t);
    const tokens = [1, 2].map(() => simulator.issueToken(account.accountId, client.clientId));
    assert.equal(simulator.endAccess(account.accountId, client.clientId), 2);
    for (const token of tokens) assert.equal((await call("GET", "/", undefined, token)).status, 401);
    assert.equal((await account.get("/")).status, 200);
  });
});

describe("registering a client", () => {
  it("is refused with a message when it is invalid", async (t) => {
    const { call } = await simulatorWorld(t);
    const plans = [[], { name: 5 }, { name: " " }, { redirectUri: "nowhere" }, { redirectUri: "https://a/#b" }];
    for (const plan of [...plans, { permissions: "all" }, { permissions: ["fridge:read"] }, { redirectUri: 3 }]) {
      const { status, body } = await call("POST", "/simulator/clients", plan);
      assert.deepEqual([status, body.error], [400, "bad_argument"], JSON.stringify(plan));
    }
    assert.equal((await call("PUT", "/simulator/clients/nobody/permissions", { permissions: [] })).status, 404);
  });
});

describe("secrets", () => {
  it("appear in no log and in no error message, wherever a caller sends them", async (t) => {
    const { simulator, call, client, code, parameters, exchange, account, answer } = await consentWorld(t);
    const used = await code();
    await exchange(parameters(used));
    await exchange(parameters(used));
    const open = await code();
    const pinPage = await answer({ client_id: simulator.defaultClient.clientId, redirect_uri: "" });
    const pin = /class="pin">([A-Z2-9]{8})</.exec(await pinPage.text())![1]!;
    const secrets = [used, open, pin, client.clientSecret, account.token];
    const responses: string[] = [];
    for (const secret of secrets) {
      responses.push(JSON.stringify((await account.put(`/${secret}`, {})).body));
      responses.push(JSON.stringify((await account.put("/structures/x", { [secret]: 1 })).body));
      responses.push(JSON.stringify((await account.get(`/devices/${secret}`)).body));
      responses.push(JSON.stringify((await account.scene(secret)).body));
      responses.push(JSON.stringify((await account.scene("leave", { [secret]: 1 })).body));
      responses.push(JSON.stringify((await account.fault("drop", { [secret]: 1 })).body));
      responses.push(JSON.stringify((await call("GET", `/simulator/${secret}`)).body));
      responses.push(JSON.stringify((await call("DELETE", `/oauth2/access_tokens/${secret.slice(0, -1)}`)).body));
      responses.push(await (await exchange({ ...parameters(secret), client_id: secret })).text());
      responses.push(await (await fetch(`${simulator.url}/login/oauth2?client_id=${secret}`)).text());
    }
    responses.push(JSON.stringify(simulator.log()));
    for (const secret of secrets) {
      for (const text of responses) assert.ok(!text.includes(secret), `${secret} in ${text.slice(0, 300)}`);
    }
  });
});
