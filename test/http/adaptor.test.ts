import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Callers } from "../../src/http/request/caller.ts";
import type { ScopedPrincipal } from "../../src/identity/principal.ts";
import {
  AlreadyFederated,
  EcosystemRefused,
  EcosystemUnreachable,
  InvalidSecToken,
  InvalidToken,
  NotFederated,
  StoreUnavailable,
  TooManyRequests,
  UnknownDevice,
  UnknownEcosystem,
} from "../../src/model/errors.ts";
import type { TenantId, UserId } from "../../src/model/ids.ts";
import { madeServer } from "./made-server.ts";

const path = "/adaptor/federatedtokens";
const json = (body: unknown, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

async function assertError(answer: Response, status: number, errorCode: number, errorMessage?: string) {
  const body = (await answer.json()) as { errorCode: number; errorMessage: string };
  assert.deepEqual([answer.status, body.errorCode], [status, errorCode], body.errorMessage);
  assert.deepEqual(Object.keys(body), ["errorCode", "errorMessage"]);
  if (errorMessage) assert.equal(body.errorMessage, errorMessage);
}

describe("federating a token", () => {
  it("takes the parameters from the query, a form or JSON, and the secToken from Authorization too", async (t) => {
    const { fetch, secToken, userId, federationCalls } = await madeServer(t);
    const token = { anEcosystemName: "nest", anAccessToken: "c.abc" };
    const all = { secToken, ...token };
    const bearer = { authorization: `bearer ${secToken}` };
    const answers = [
      await fetch(`${path}?${new URLSearchParams(all)}`, { method: "POST" }),
      await fetch(path, { method: "POST", body: new URLSearchParams(all) }),
      await fetch(path, json(all)),
      await fetch(path, json(token, bearer)),
      await fetch(`${path}?secToken=${secToken}`, json(all, bearer)),
      await fetch(`${path}?${new URLSearchParams(all)}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
      }),
    ];
    for (const answer of answers) {
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get("content-type")!, /^application\/json/);
      assert.deepEqual(await answer.json(), { DeviceId: "41" });
    }
    const withoutSignals = federationCalls.map((call) => call.slice(0, 5));
    assert.deepEqual(withoutSignals, Array(6).fill(["link", userId, "nest", "c.abc", undefined]));
  });

  it("with PUT replaces the token", async (t) => {
    const { fetch, secToken, userId, federationCalls } = await madeServer(t);
    const body = new URLSearchParams({ secToken, anEcosystemName: "nest", anAccessToken: "c.abc" });
    const answer = await fetch(path, { method: "PUT", body });
    assert.deepEqual(await answer.json(), { DeviceId: "42" });
    const [call = []] = federationCalls;
    assert.deepEqual(call.slice(0, 5), ["relink", userId, "nest", "c.abc", undefined]);
  });

  it("tells the federation when the client disconnects", async (t) => {
    const { fetch, secToken, federation } = await madeServer(t);
    const { promise: disconnected, resolve } = Promise.withResolvers<void>();
    const { promise: called, resolve: call } = Promise.withResolvers<void>();
    federation.link = (_user, _ecosystem, _token, _address, options) => {
      options?.disconnected?.addEventListener("abort", () => resolve());
      call();
      return new Promise(() => undefined);
    };
    const client = new AbortController();
    const body = new URLSearchParams({ secToken, anEcosystemName: "nest", anAccessToken: "c.abc" });
    const sent = fetch(path, { method: "POST", body, signal: client.signal });
    await called;
    client.abort();
    await assert.rejects(sent);
    await disconnected;
  });

  it("answers that too many tokens are being verified with 429 and 107", async (t) => {
    const { fetch, secToken, federation } = await madeServer(t);
    federation.link = () => Promise.reject(new TooManyRequests(5, "Too many tokens are being verified."));
    const body = new URLSearchParams({ secToken, anEcosystemName: "nest", anAccessToken: "c.abc" });
    const answer = await fetch(path, { method: "POST", body });
    assert.equal(answer.headers.get("retry-after"), "5");
    await assertError(answer, 429, 107);
  });

  it("checks the secToken first, then the parameters, then calls the federation", async (t) => {
    const { fetch, secToken, federationCalls, federation } = await madeServer(t);
    federation.link = () => Promise.reject(new UnknownEcosystem("There is no such ecosystem."));
    const text = "Invalid security token.";
    await assertError(await fetch(path, { method: "POST" }), 401, 106, text);
    await assertError(await fetch(path, json({ secToken: "", anEcosystemName: "x" })), 401, 106, text);
    await assertError(await fetch(path, json({ secToken: "nonsense" })), 401, 106, text);
    await assertError(await fetch(path, json({ secToken: "x", anAccessToken: { a: 1 } })), 401, 106, text);
    await assertError(await fetch(path, json({ secToken })), 400, 102, "The parameter anEcosystemName is missing.");
    const nameless = { secToken, anEcosystemName: "nowhere" };
    await assertError(await fetch(path, json(nameless)), 400, 102, "The parameter anAccessToken is missing.");
    await assertError(await fetch(path, json({ ...nameless, anAccessToken: "c.abc" })), 400, 120);
    assert.deepEqual(federationCalls, []);
  });

  it("refuses two different values in two places, and values that are not text", async (t) => {
    const { fetch, secToken, federationCalls } = await madeServer(t);
    const all = { secToken, anEcosystemName: "nest", anAccessToken: "c.abc" };
    const refused = [
      fetch(`${path}?anAccessToken=c.other`, json(all)),
      fetch(`${path}?secToken=bws_other`, json(all)),
      fetch(path, json(all, { authorization: "Bearer bws_other" })),
      fetch(`${path}?anEcosystemName=a&anEcosystemName=b`, json({ ...all, anEcosystemName: "" })),
      fetch(path, json({ ...all, anEcosystemName: ["nest"] })),
      fetch(path, json({ ...all, anEcosystemName: null })),
      fetch(path, json({ ...all, anAccessToken: "line\nbreak" })),
      fetch(path, json({ ...all, anAccessToken: "c.\u{1f3e0}" })),
      fetch(path, json({ ...all, anAccessToken: "x".repeat(4097) })),
      fetch(path, json({ ...all, anEcosystemName: "\ud83c" })),
      fetch(path, json([all])),
      fetch(path, json("text")),
      fetch(path, { ...json(all), body: "{" }),
    ];
    for (const answer of refused) await assertError(await answer, 400, 102);
    const xml = { method: "POST", headers: { "content-type": "text/xml" }, body: "<x/>" };
    await assertError(await fetch(path, xml), 415, 102);
    assert.deepEqual(federationCalls, []);
  });

  it("answers each failure with its number and status", async (t) => {
    const { fetch, secToken, federation, reported } = await madeServer(t);
    const all = { secToken, anEcosystemName: "nest", anAccessToken: "c.abc" };
    const failures = [
      [new AlreadyFederated("nest"), 409, 118],
      [new NotFederated("nest"), 404, 119],
      [new UnknownEcosystem("There is no ecosystem of that name."), 400, 120],
      [new EcosystemRefused("The ecosystem refused the token."), 422, 121],
      [new EcosystemUnreachable("The ecosystem did not answer."), 503, 122],
      [new UnknownDevice(), 404, 109],
    ] as const;
    for (const [error, status, errorCode] of failures) {
      federation.link = () => Promise.reject(error);
      await assertError(await fetch(path, json(all)), status, errorCode, error.message);
    }
    assert.deepEqual(
      reported.filter(({ level }) => level === "error"),
      [],
    );
  });

  it("logs an internal error for the operator and hides it from the caller", async (t) => {
    const { fetch, secToken, federation, reported } = await madeServer(t);
    const all = { secToken, anEcosystemName: "nest", anAccessToken: "c.abc" };
    federation.link = () => Promise.reject(new StoreUnavailable("disk /dev/sda is full"));
    const away = await fetch(path, json(all));
    assert.equal(away.headers.get("retry-after"), "5");
    await assertError(
      away,
      503,
      199,
      "Breezeway can't use its store now. Nothing was changed. Try again in a few seconds.",
    );
    const unexpected = new TypeError("x is undefined");
    federation.link = () => Promise.reject(unexpected);
    await assertError(await fetch(path, json(all)), 500, 199, "Internal error.");
    const failed = reported.filter(({ sentence }) => sentence === "request failed");
    assert.deepEqual(
      failed.map(({ level, fields }) => [level, (fields as { error: Error }).error.name]),
      [
        ["warn", "StoreUnavailable"],
        ["error", "TypeError"],
      ],
    );
  });
});

describe("an existing link", () => {
  it("is ended by DELETE, which says what was removed", async (t) => {
    const { fetch, secToken, userId, federationCalls } = await madeServer(t);
    const query = new URLSearchParams({ secToken, anEcosystemName: "nest" });
    const answer = await fetch(`/adaptor/federatedtokens?${query}`, { method: "DELETE" });
    assert.equal(answer.status, 200);
    assert.deepEqual(await answer.json(), {
      DeviceId: "43",
      removed: { attributes: 519, history: 3, blindIntervals: 1, commands: 2, alerts: 4 },
      tokenRevoked: true,
    });
    assert.deepEqual(federationCalls, [["unlink", userId, "nest"]]);
  });

  it("answers GET with its state, the objects beyond the limits, and its blind intervals", async (t) => {
    const { fetch, secToken } = await madeServer(t);
    const query = new URLSearchParams({ secToken, anEcosystemName: "nest" });
    const status = await (await fetch(`/adaptor/federatedtokens?${query}`)).json();
    assert.deepEqual(status, {
      DeviceId: "43",
      ecosystem: "nest",
      state: "waiting",
      reason: "silent: nothing was heard for too long",
      overLimit: { structures: 1, thermostats: 0, alarms: 2 },
      oddities: { incomplete: 0, unknownAlarmStates: 0, unknownAwayStates: 0, strayAlarms: 0, partialPuts: 0 },
      drifts: 0,
      presenceInfo: 0,
      stale: true,
      confirmedTime: 1_000,
      blindIntervals: [
        { from: 1, to: 2, cause: "closed" },
        { from: 3, to: null, cause: "silent" },
      ],
    });
  });

  it("needs a secToken and an ecosystem's name for GET and DELETE", async (t) => {
    const { fetch, secToken, federationCalls } = await madeServer(t);
    for (const method of ["GET", "DELETE"]) {
      assert.equal((await fetch("/adaptor/federatedtokens?anEcosystemName=nest", { method })).status, 401);
      const nameless = await fetch(`/adaptor/federatedtokens?secToken=${secToken}`, { method });
      assert.equal(((await nameless.json()) as { errorCode: number }).errorCode, 102);
    }
    assert.deepEqual(federationCalls, []);
  });
});

describe("largestrings", () => {
  it("returns the index map, also with names such as __proto__", async (t) => {
    const { fetch, secToken, userId, federation, federationCalls } = await madeServer(t);
    const labels = JSON.parse('{"Home 🏠":"s1","__proto__":"s2"}') as Record<string, string>;
    federation.largeStrings = async (...args) => {
      federationCalls.push(args);
      return { labels, identifiers: { s1: ["1"], t1: ["1", "thermostats", "Hall", "s1"] } };
    };
    const expected = `{"labels":{"Home 🏠":"s1","__proto__":"s2"},"identifiers":{"s1":["1"],"t1":["1","thermostats","Hall","s1"]}}`;
    const answers = [
      await fetch(`/adaptor/largestrings?secToken=${secToken}&id=12`),
      await fetch("/adaptor/largestrings", { method: "POST", body: new URLSearchParams({ secToken, id: "12" }) }),
      await fetch("/adaptor/largestrings", json({ secToken, id: 12 })),
      await fetch("/adaptor/largestrings?id=12", { headers: { authorization: `Bearer ${secToken}` } }),
    ];
    for (const answer of answers) assert.equal(await answer.text(), expected);
    assert.deepEqual(federationCalls, Array(4).fill([userId, 12]));
  });

  it("takes an access token in the header or as secToken, and refuses a second, different token", async (t) => {
    const userId = 5 as UserId;
    const tenantId = 7 as TenantId;
    const byAccessToken = async (token: string): Promise<ScopedPrincipal> => {
      if (token === "bwa_user") return { kind: "user", userId, tenantId, scopes: null };
      if (token === "bwa_tenant") return { kind: "enterprise", tenantId, scopes: null };
      throw new InvalidToken();
    };
    const callers = { bySecToken: () => Promise.reject(new InvalidSecToken()), byAccessToken } as unknown as Callers;
    const { fetch, federationCalls, addDevice, log, userId: alice } = await madeServer(t, { callers });
    const account = await addDevice("Nest account", true);
    const get = (query: string, token: string) =>
      fetch(`/adaptor/largestrings?${query}`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal((await get(`id=${account}`, "bwa_user")).status, 200);
    assert.equal((await get(`id=${account}`, "bwa_tenant")).status, 200);
    assert.deepEqual(federationCalls.splice(0), [
      ["largeStrings", userId, account],
      // The owner of the device.
      ["largeStrings", alice, account],
    ]);
    await assertError(await get("id=999", "bwa_tenant"), 404, 109, "Device does not exist.");
    await assertError(await get(`id=${account}&secToken=bws_other`, "bwa_user"), 400, 102);
    await assertError(await get(`id=${account}`, "bwa_nonsense"), 401, 106, "Invalid security token.");
    await assertError(await get(`id=${account}&access_token=bwa_user`, "bwa_user"), 400, 102);
    await assertError(await fetch(`/adaptor/largestrings?id=${account}&access_token=bwa_user`), 401, 106);
    assert.deepEqual(federationCalls.splice(0), []);
    const asSecToken = (token: string) => fetch(`/adaptor/largestrings?id=${account}&secToken=${token}`);
    assert.equal((await asSecToken("bwa_user")).status, 200);
    assert.deepEqual(federationCalls.splice(0), [["largeStrings", userId, account]]);
    await assertError(await asSecToken("bwa_nonsense"), 401, 106, "Invalid security token.");
    assert.doesNotMatch(log(), /bwa_/);
  });

  it("needs an id, and gives the same answer for malformed, foreign and absent ids", async (t) => {
    const { fetch, secToken, federation } = await madeServer(t);
    federation.largeStrings = () => Promise.reject(new UnknownDevice());
    const get = (id: string) => fetch(`/adaptor/largestrings?${new URLSearchParams({ secToken, id })}`);
    await assertError(await get(""), 400, 102, "The parameter id is missing.");
    for (const id of ["1", "0", "-1", "abc", "99999999999"]) {
      await assertError(await get(id), 404, 109, "Device does not exist.");
    }
    await assertError(await fetch("/adaptor/largestrings?id=1"), 401, 106);
  });

  it("names the scheme in its 401, since some clients throw without it", async (t) => {
    const { fetch } = await madeServer(t);
    assert.equal((await fetch("/adaptor/largestrings")).headers.get("www-authenticate"), "Bearer");
  });
});
