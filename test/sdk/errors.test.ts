import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import * as sdk from "../../sdk/src/index.ts";
import { Breezeway, OAuthClient, ServiceError } from "../../sdk/src/index.ts";
import { fault, json, scripted, sdkWorld, thrownBy } from "./sdk-world.ts";

const baseUrl = "http://home.example";
const by = (fetch: typeof globalThis.fetch) => ({
  platform: () => new Breezeway({ baseUrl, secToken: "s-secret", fetch }).setDeviceAttribute(1, "a", "b"),
  adaptor: () => new Breezeway({ baseUrl, secToken: "s-secret", fetch }).unlink("nest"),
  v3: () => new Breezeway({ baseUrl, accessToken: "t-secret", fetch }).setDeviceAttribute(1, "a", "b"),
  oauth: () =>
    new OAuthClient({ baseUrl, clientId: "c", clientSecret: "c-secret", fetch }).exchange("code-secret", "v"),
});

/** The refusals of each interface, by number or code, and the class of the resulting error. */
const refusals: readonly (readonly [keyof ReturnType<typeof by>, number, number | string, typeof ServiceError])[] = [
  ["platform", 500, 101, sdk.InvalidLogin],
  ["platform", 500, 102, sdk.InvalidRequest],
  ["platform", 500, 103, sdk.NotFound],
  ["platform", 500, 106, sdk.NotSignedIn],
  ["platform", 500, 107, sdk.TooManyRequests],
  ["platform", 500, 109, sdk.NotFound],
  ["platform", 500, 110, sdk.NotFound],
  ["platform", 500, 111, sdk.ReadOnlyAttribute],
  ["platform", 500, 112, sdk.InvalidRequest],
  ["platform", 500, 113, sdk.NotFound],
  ["platform", 500, 123, sdk.Conflict],
  ["platform", 500, 124, sdk.OutcomeUnknown],
  ["platform", 500, 199, sdk.Unavailable],
  ["platform", 500, 177, sdk.Unavailable],
  ["adaptor", 401, 106, sdk.NotSignedIn],
  ["adaptor", 400, 102, sdk.InvalidRequest],
  ["adaptor", 409, 118, sdk.AlreadyFederated],
  ["adaptor", 404, 119, sdk.NotFederated],
  ["adaptor", 400, 120, sdk.UnknownEcosystem],
  ["adaptor", 422, 121, sdk.EcosystemRefused],
  ["adaptor", 503, 122, sdk.EcosystemUnreachable],
  ["adaptor", 503, 124, sdk.OutcomeUnknown],
  ["adaptor", 404, 109, sdk.NotFound],
  ["v3", 400, "invalid_request", sdk.InvalidRequest],
  ["v3", 401, "invalid_token", sdk.NotSignedIn],
  ["v3", 401, "missing_token", sdk.NotSignedIn],
  ["v3", 403, "insufficient_scope", sdk.Forbidden],
  ["v3", 403, "read_only_attribute", sdk.ReadOnlyAttribute],
  ["v3", 404, "unknown_device", sdk.NotFound],
  ["v3", 404, "not_found", sdk.NotFound],
  ["v3", 405, "method_not_allowed", sdk.ServiceError],
  ["v3", 409, "too_many_triggers", sdk.Conflict],
  ["v3", 413, "value_too_large", sdk.InvalidRequest],
  ["v3", 415, "unsupported_media_type", sdk.InvalidRequest],
  ["v3", 429, "too_many_requests", sdk.TooManyRequests],
  ["v3", 429, "quota_exceeded", sdk.QuotaExceeded],
  ["v3", 500, "internal_error", sdk.Unavailable],
  ["v3", 503, "store_unavailable", sdk.Unavailable],
  ["v3", 503, "outcome_unknown", sdk.OutcomeUnknown],
  ["oauth", 400, "invalid_grant", sdk.InvalidGrant],
  ["oauth", 401, "invalid_client", sdk.InvalidClient],
  ["oauth", 400, "unauthorized_client", sdk.InvalidRequest],
];

describe("a refusal", () => {
  it("has its class, its code, and no secret, even when the answer repeats one", async () => {
    for (const [api, status, code, Kind] of refusals) {
      const echo = "no: s-secret t-secret c-secret code-secret";
      // Longer than the SDK waits automatically.
      const headers = { "retry-after": "17", "x-request-id": "r-1" };
      const answer =
        api === "platform"
          ? fault(Number(code), echo, headers)
          : typeof code === "number"
            ? json(status, { errorCode: code, errorMessage: echo }, headers)
            : json(status, { error: code, error_description: echo, request_id: "r-1" }, headers);
      const { fetch, requests } = scripted(answer);
      const error = await thrownBy(by(fetch)[api]());
      assert.ok(error instanceof ServiceError, String(error));
      assert.equal(error.constructor, Kind, `${api} ${code}`);
      assert.deepEqual(
        [error.name, error.status, error.requestId, error.retryAfterSeconds],
        [Kind.name, status, "r-1", 17],
      );
      assert.equal(typeof code === "number" ? error.errorCode : error.code, code);
      const own =
        api === "platform" || api === "adaptor"
          ? ["s-secret"]
          : api === "v3"
            ? ["t-secret"]
            : ["c-secret", "code-secret"];
      for (const secret of own) assert.ok(!inspect(error, { depth: 9 }).includes(secret), inspect(error));
      assert.equal(requests.length, 1, "a refused call is not repeated");
    }
  });

  it("is distinguished from answers of other servers", async () => {
    const page = (status: number) => new Response("<html><p>t-secret</html>", { status });
    for (const api of ["platform", "adaptor", "v3", "oauth"] as const) {
      for (const status of [200, 302, 403, 502]) {
        const answer = () => (status === 302 ? json(302, {}) : page(status));
        const error = await thrownBy(by(scripted(answer(), answer(), answer()).fetch)[api]());
        const expected = status === 502 ? sdk.Unavailable : sdk.UnexpectedAnswer;
        assert.ok(error instanceof expected, `${api} ${status}: ${error}`);
        assert.ok(!inspect(error, { depth: 9 }).includes("secret"));
      }
    }
  });

  it("comes from the real service with the right class", async (t) => {
    const { bySecToken, byAccessToken, login, linked, addLamp, baseUrl: real, oauth } = await sdkWorld(t);
    const unauthenticated = new Breezeway({ baseUrl: real, secToken: "bws_none", accessToken: "bwa_none" });
    const away = "d.structures[1].a.away";
    const [deviceId, lampId] = [await linked(), await addLamp()];
    const cases: readonly (readonly [string, () => Promise<unknown>, new (...credentials: never[]) => Error])[] = [
      ["login", () => new Breezeway({ baseUrl: real }).login({ ...login, password: "wrong" }), sdk.InvalidLogin],
      ["secToken", () => unauthenticated.getTriggers(), sdk.NotSignedIn],
      ["secToken for the adaptor", () => unauthenticated.getLinkStatus("nest"), sdk.NotSignedIn],
      ["access token", () => unauthenticated.getDevices(), sdk.NotSignedIn],
      ["ecosystem", () => bySecToken.updateFederatedToken("hive", "t"), sdk.UnknownEcosystem],
      ["ecosystem's token", () => bySecToken.updateFederatedToken("nest", "wrong"), sdk.EcosystemRefused],
      ["device", () => bySecToken.getDevice(999), sdk.NotFound],
      ["device of /v3", () => byAccessToken.getDevice(999), sdk.NotFound],
      ["read-only", () => bySecToken.setDeviceAttribute(deviceId, away, "home"), sdk.ReadOnlyAttribute],
      ["read-only of /v3", () => byAccessToken.setDeviceAttribute(deviceId, away, "home"), sdk.ReadOnlyAttribute],
      ["attribute", () => byAccessToken.setDeviceAttribute(deviceId, "roof", "on"), sdk.NotFound],
      ["too large", () => byAccessToken.setDeviceAttribute(lampId, "a", "x".repeat(9_000)), sdk.InvalidRequest],
      ["largestrings", () => bySecToken.getLargeStrings(lampId), sdk.NotFound],
      ["alert", () => bySecToken.removeTrigger(999), sdk.NotFound],
      ["refresh", () => oauth.refresh("bwr_none"), sdk.InvalidGrant],
      [
        "client",
        () => new OAuthClient({ baseUrl: real, clientId: "x", clientSecret: "y" }).asItself(),
        sdk.InvalidClient,
      ],
    ];
    for (const [what, call, Kind] of cases) {
      const error = await thrownBy(call());
      assert.equal((error as Error).constructor, Kind, `${what}: ${error}`);
    }
    await bySecToken.unlink("nest");
    await assert.rejects(bySecToken.getLinkStatus("nest"), sdk.NotFederated);
    await bySecToken.logout();
    await assert.rejects(bySecToken.getDevices(), /getDevices needs a secToken: call login first/);
    let error: unknown;
    const stranger = new Breezeway({ baseUrl: real });
    do error = await stranger.login({ ...login, name: "nobody" }).catch((thrown: unknown) => thrown);
    while (error instanceof sdk.InvalidLogin);
    assert.ok(error instanceof sdk.TooManyRequests && Number(error.retryAfterSeconds) > 0, String(error));
  });
});

describe("no answer", () => {
  it("is Unreachable: no server, a broken connection, a time-out", async (t) => {
    const server = createServer((request, response) => {
      if (request.url?.includes("broken"))
        response.writeHead(200, { "content-length": "50" }).write("{", () => response.destroy());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const write = (base: string, timeoutMs?: number) =>
      new Breezeway({ baseUrl: base, accessToken: "t-secret", timeoutMs }).setDeviceAttribute(1, "a", "b");
    const refused = await write("http://127.0.0.1:1").catch((error: unknown) => error);
    assert.ok(refused instanceof sdk.Unreachable && refused.cause instanceof Error);
    await assert.rejects(write(`${url}/broken`), sdk.Unreachable);
    await assert.rejects(write(`${url}/silent`, 20), /Unreachable: No answer came within 20 ms/);
    assert.ok(!inspect(refused, { depth: 9 }).includes("t-secret"));
  });

  it("never sends a token to the target of a redirect", async (t) => {
    const received: string[] = [];
    const server = createServer((request, response) => {
      received.push(String(request.headers.authorization));
      response.writeHead(307, { location: `http://localhost:${port}/elsewhere` }).end();
    });
    server.listen(0);
    await once(server, "listening");
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const client = new Breezeway({ baseUrl: `http://127.0.0.1:${port}`, accessToken: "t-secret" });
    const redirected = (error: unknown) =>
      error instanceof sdk.UnexpectedAnswer &&
      error.status === 307 &&
      error.message.includes(`a redirect to http://localhost:${port}. It was not followed`) &&
      !inspect(error, { depth: 9 }).includes("t-secret");
    await assert.rejects(client.setDeviceAttribute(1, "a", "b"), redirected);
    const credentials = { clientId: "bwc_1", clientSecret: "t-secret", redirectUri: "https://app.example/callback" };
    const oauth = new sdk.OAuthClient({ baseUrl: `http://127.0.0.1:${port}`, ...credentials });
    await assert.rejects(oauth.asItself(), redirected);
    assert.deepEqual(received, ["Bearer t-secret", "undefined"], "each call sent one request");
  });

  it("is retried when that is safe, after the service's Retry-After, and not forever", async () => {
    const list = () => json(200, { devices: [] });
    const busy = (after: string) => json(503, { error: "store_unavailable" }, { "retry-after": after });
    const read = (...answers: Parameters<typeof scripted>) => {
      const { fetch, requests } = scripted(...answers);
      const call = new Breezeway({ baseUrl, accessToken: "t", fetch }).getDevices();
      return call.then(
        () => ["read", requests.length],
        (error: Error) => [error.name, requests.length],
      );
    };
    assert.deepEqual(await read(new TypeError("fetch failed"), list()), ["read", 2]);
    assert.deepEqual(await read(busy("0"), busy("0"), list()), ["read", 3]);
    assert.deepEqual(await read(busy(new Date(0).toUTCString()), list()), ["read", 2]);
    assert.deepEqual(await read(busy("0"), busy("0"), busy("0"), list()), ["Unavailable", 3]);
    assert.deepEqual(await read(busy("3600"), list()), ["Unavailable", 1]);
    assert.deepEqual(await read(json(404, { error: "not_found" }), list()), ["NotFound", 1]);
  });

  it("is retried as often as `retries` says", async () => {
    const broken = () => new TypeError("fetch failed");
    for (const retries of [0, 1]) {
      const { fetch, requests } = scripted(broken(), broken(), broken());
      await assert.rejects(new Breezeway({ baseUrl, accessToken: "t", fetch, retries }).getDevices(), sdk.Unreachable);
      assert.equal(requests.length, 1 + retries);
      const credentials = { clientId: "c", clientSecret: "s" };
      const another = scripted(broken(), broken(), broken());
      await assert.rejects(
        new OAuthClient({ baseUrl, ...credentials, fetch: another.fetch, retries }).asItself(),
        sdk.Unreachable,
      );
      assert.equal(another.requests.length, 1 + retries);
    }
  });
});

describe("a write with an access token", () => {
  const write = (answers: Parameters<typeof scripted>, options: sdk.WriteOptions = {}) => {
    const { fetch, requests } = scripted(...answers);
    const call = new Breezeway({ baseUrl, accessToken: "t", fetch }).alerts.remove(7, options);
    const keys = () => requests.map(({ headers }) => headers.get("idempotency-key"));
    return call.then(
      () => ({ outcome: "done", keys: keys() }),
      (error: Error) => ({ outcome: error.name, keys: keys() }),
    );
  };
  const ok = () => json(200, { status: "OK" });
  const unknown = () => json(503, { error: "outcome_unknown" }, { "retry-after": "0" });

  it("is repeated with the same key when its answer is lost, and each write has a key of its own", async () => {
    const lost = await write([new TypeError("fetch failed"), unknown(), ok()]);
    assert.equal(lost.outcome, "done");
    assert.match(lost.keys[0] ?? "", /^[\w-]{24}$/);
    assert.deepEqual(lost.keys, [lost.keys[0], lost.keys[0], lost.keys[0]]);
    const next = await write([ok()]);
    assert.notEqual(next.keys[0], lost.keys[0]);
    assert.deepEqual(await write([ok()], { idempotencyKey: "mine" }), { outcome: "done", keys: ["mine"] });
    const running = json(409, { error: "idempotency_key_in_use" }, { "retry-after": "0" });
    assert.deepEqual(await write([running, ok()], { idempotencyKey: "mine" }), {
      outcome: "done",
      keys: ["mine", "mine"],
    });
    assert.equal((await write([unknown(), unknown(), unknown()])).outcome, "OutcomeUnknown");
  });

  it("is sent without a key when there is no room for keys, and then never repeated", async () => {
    const full = () => json(409, { error: "too_many_idempotency_keys" });
    const unkeyed = await write([full(), unknown(), ok()]);
    assert.deepEqual([unkeyed.outcome, unkeyed.keys.at(-1), unkeyed.keys.length], ["OutcomeUnknown", null, 2]);
    assert.deepEqual(await write([full(), ok()], { idempotencyKey: "mine" }), { outcome: "Conflict", keys: ["mine"] });
  });
});

describe("an invalid argument", () => {
  it("is refused before anything is sent, and its error holds no secret", async () => {
    assert.throws(() => new Breezeway({ baseUrl: "home.example" }), sdk.InvalidArgument);
    assert.throws(() => new Breezeway({ baseUrl }).setEcoCloudUrl("ftp://x"), sdk.InvalidArgument);
    const { fetch, requests } = scripted();
    const client = new Breezeway({ baseUrl, accessToken: "t-secret\r\n", fetch });
    const error = await thrownBy(client.getDevices());
    assert.ok(error instanceof sdk.InvalidArgument && !inspect(error).includes("t-secret"));
    assert.deepEqual(requests, []);
    for (const call of [() => client.getTriggers(), () => client.getLinkStatus("nest"), () => client.logout()]) {
      await assert.rejects(call(), { name: "NotSignedIn", code: "missing_token" });
    }
    const unauthenticated = new Breezeway({ baseUrl, fetch }).getLargeStrings(1);
    await assert.rejects(unauthenticated, { name: "NotSignedIn", code: "missing_token" });
    const other = new Breezeway({ baseUrl, secToken: "s", fetch });
    assert.throws(() => other.events(), sdk.NotSignedIn);
    for (const call of [() => other.getUsers(), () => other.getDevice(1, { since: 1 }), () => other.alerts.list()]) {
      await assert.rejects(call(), { name: "NotSignedIn", code: "missing_token" });
    }
  });

  it("can be an unknown form or member", async () => {
    const { fetch, requests } = scripted();
    // biome-ignore lint/suspicious/noExplicitAny: a program without types may hand in anything
    const client: any = new Breezeway({ baseUrl, accessToken: "t", secToken: "s", fetch });
    const alert = { devId: 4, attrName: "a", operation: "equals", stringThreshold: "b" };
    const cases: readonly (readonly [call: () => unknown, expectedMessage: RegExp])[] = [
      [() => client.getDevice(4, ["power"]), /getDevice takes an object here: { attributes, since, signal }/],
      [() => client.getDevice(4, { attribute: "power" }), /getDevice doesn't know attribute\. It takes attributes,/],
      [() => client.getDevices("Lamp"), /getDevices takes an object here/],
      [() => client.getTriggers({ devId: 4 }), /getTriggers doesn't know devId/],
      [() => client.runFan(4, "d.structures[1].d.thermostats[1]", { minutes: 5 }), /runFan doesn't know minutes/],
      [() => client.alerts.list(4), /alerts.list takes an object here/],
      [() => client.addTrigger({ ...alert, attribute: "a" }), /addTrigger doesn't know attribute\./],
      [() => client.addTrigger({ ...alert, deviceId: 5 }), /deviceId and initWithDeviceId and devId are names of one/],
      [() => client.addTrigger({ ...alert, devId: undefined }), /needs deviceId \(or initWithDeviceId or devId\)/],
    ];
    for (const [call, expectedMessage] of cases)
      await assert.rejects(async () => call(), { name: "InvalidArgument", message: expectedMessage });
    assert.throws(() => client.events({ deviceId: 4 }), /events doesn't know deviceId/);
    assert.throws(() => client.getHistory(4, { since: 1 }), /getHistory doesn't know since/);
    assert.deepEqual(requests, [], "nothing was sent");
  });
});
