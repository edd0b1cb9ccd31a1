import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import {
  AuthorizationRefused,
  Breezeway,
  ClientTokens,
  InvalidArgument,
  InvalidClient,
  InvalidGrant,
  NotSignedIn,
  OAuthClient,
  TokenKeeper,
  type Tokens,
} from "../../sdk/src/index.ts";
import { ScriptedBrowser } from "../oauth/scripted-browser.ts";
import { person } from "../stories/world.ts";
import { sdkWorld, thrownBy } from "./sdk-world.ts";

describe("signing in by OAuth", () => {
  it("sends a new state and challenge each time, and accepts only the matching answer", async (t) => {
    const { oauth, baseUrl, credentials } = await sdkWorld(t);
    const [first, second] = [await oauth.begin(), await oauth.begin()];
    assert.notEqual(first.state, second.state);
    assert.notEqual(first.codeVerifier, second.codeVerifier);
    assert.match(first.codeVerifier, /^[A-Za-z0-9_-]{43}$/);
    assert.ok(!first.url.includes(first.codeVerifier));
    const browser = new ScriptedBrowser(() => baseUrl);
    const returned = await browser.authorize(first.url, person);
    await assert.rejects(oauth.finish(returned, second), { name: "AuthorizationRefused", code: "wrong_state" });
    const elsewhere = new URL(returned);
    elsewhere.searchParams.set("iss", "https://evil.example");
    await assert.rejects(oauth.finish(elsewhere, first), { code: "wrong_issuer" });
    const tokens = await oauth.finish(returned.href, first);
    assert.ok(tokens.refreshToken && tokens.expiresAtMs > Date.now());

    const wrongVerifier = await oauth.begin();
    const again = await browser.authorize(wrongVerifier.url, person);
    const mixed = { state: wrongVerifier.state, codeVerifier: first.codeVerifier };
    await assert.rejects(oauth.finish(again, mixed), InvalidGrant);
    const declined = await oauth.begin();
    const refusal = await browser.authorize(declined.url, person, "decline");
    await assert.rejects(oauth.finish(refusal, declined), (error) => {
      return error instanceof AuthorizationRefused && error.code === "access_denied";
    });
    const noCode = new URL(`${credentials.redirectUri}?state=${declined.state}`);
    await assert.rejects(oauth.finish(noCode, declined), { code: "no_code" });
    const half = await thrownBy(oauth.finish("/callback?code=c-secret", declined));
    assert.ok(half instanceof InvalidArgument && !inspect(half).includes("c-secret"));
  });

  it("works without a global crypto, as in Node 18", async (t) => {
    const plain = Object.getOwnPropertyDescriptor(globalThis, "crypto")!;
    t.after(() => Object.defineProperty(globalThis, "crypto", plain));
    Object.defineProperty(globalThis, "crypto", { value: undefined, configurable: true });
    const { url } = await new OAuthClient({ baseUrl: "http://a.example", clientId: "c", clientSecret: "s" }).begin();
    assert.match(new URL(url).searchParams.get("code_challenge") ?? "", /^[A-Za-z0-9_-]{43}$/);
  });

  it("acts for a whole tenant as an enterprise client", async (t) => {
    const { story, baseUrl, addLamp } = await sdkWorld(t);
    await addLamp();
    const plan = { tenant: "Story", name: "Hub", kind: "enterprise", redirectUris: ["https://a.example/"] } as const;
    const registered = await story.service.parts.oauth.addClient({ ...plan, requiresPkce: false });
    const oauth = new OAuthClient({ baseUrl, clientId: registered.client.id, clientSecret: registered.secret });
    const { accessToken, refreshToken } = await oauth.asItself();
    assert.equal(refreshToken, undefined);
    const devices = await new Breezeway({ baseUrl, accessToken }).getDevices({ deviceTypeName: "Lamp" });
    assert.equal(devices.length, 1);
  });
});

describe("the tokens of an enterprise client", () => {
  it("are requested when needed, once for 20 concurrent calls, and again before they expire or when refused", async (t) => {
    const { story, baseUrl } = await sdkWorld(t);
    const plan = { tenant: "Story", name: "Hub", kind: "enterprise", redirectUris: [], requiresPkce: false } as const;
    const { client, secret } = await story.service.parts.oauth.addClient(plan);
    const oauth = new OAuthClient({ baseUrl, clientId: client.id, clientSecret: secret });
    const issued: Tokens[] = [];
    let lifetimeMs = 3_600_000;
    const asItself = async () => {
      const tokens = { ...(await oauth.asItself()), expiresAtMs: Date.now() + lifetimeMs };
      issued.push(tokens);
      return tokens;
    };
    const tokens = new ClientTokens({ asItself });
    const breezeway = new Breezeway({ baseUrl, accessToken: tokens });
    const all = () => Promise.all(Array.from({ length: 20 }, () => breezeway.getUsers()));
    assert.deepEqual(await all(), Array(20).fill([story.userId]));
    assert.equal(issued.length, 1);
    await oauth.revoke(issued[0]!.accessToken);
    lifetimeMs = 20_000;
    await all();
    assert.equal(issued.length, 2);
    await all();
    assert.equal(issued.length, 3);
    assert.equal(await tokens.renewed(issued[1]!.accessToken), issued[2]!.accessToken);
    await story.service.parts.oauth.removeClient(client.id);
    await assert.rejects(breezeway.getUsers(), InvalidClient);
  });

  it("are waited for by other callers when one caller aborts", async () => {
    const waiting = Promise.withResolvers<Tokens>();
    const tokens = new ClientTokens({ asItself: () => waiting.promise });
    const stop = new AbortController();
    const [aborted, other] = [tokens.current(stop.signal), tokens.current()];
    stop.abort(new Error("enough"));
    await assert.rejects(aborted, /enough/);
    waiting.resolve({ accessToken: "a", refreshToken: undefined, expiresAtMs: Date.now() + 3_600_000 });
    assert.equal(await other, "a");
  });
});

describe("tokens that renew themselves", () => {
  it("are refreshed once for 20 concurrent calls (single-flight), and each call works", async (t) => {
    const { baseUrl, oauth, keeper, store, byAccessToken } = await sdkWorld(t);
    let refreshes = 0;
    const refresh = oauth.refresh.bind(oauth);
    oauth.refresh = (...args) => {
      refreshes += 1;
      return refresh(...args);
    };
    const all = (count = 20) => Promise.all(Array.from({ length: count }, () => byAccessToken.getUsers()));
    // Refused by the service before its expiry time.
    store.tokens = { ...store.tokens!, accessToken: "bwa_nobodys" };
    assert.equal((await all()).length, 20);
    assert.deepEqual([refreshes, store.saved], [1, 1]);
    // Expired by the local clock.
    store.tokens = { ...store.tokens!, expiresAtMs: Date.now() };
    await all();
    assert.deepEqual([refreshes, store.saved], [2, 2]);
    await all();
    assert.equal(refreshes, 2);
    // Another process has renewed it: the SDK uses that token.
    const other = await refresh(store.tokens!.refreshToken!);
    const stale = store.tokens!.accessToken;
    store.tokens = other;
    assert.equal(await keeper.renewed(stale), other.accessToken);
    assert.equal(refreshes, 2);
    await oauth.revoke(other.accessToken);
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => byAccessToken.getUsers()));
    for (const outcome of outcomes) {
      assert.ok(outcome.status === "rejected" && outcome.reason instanceof NotSignedIn, String(outcome.status));
      assert.match(outcome.reason.message, /sign in again/);
    }
    const fixed = new Breezeway({ baseUrl, accessToken: other.accessToken });
    await assert.rejects(fixed.getUsers(), NotSignedIn);
  });

  it("are refreshed once although the store is slow and each caller reads it at another moment", async () => {
    let tokens: Tokens = { accessToken: "old", refreshToken: "r", expiresAtMs: 0 };
    let [refreshes, turns] = [0, 0];
    const turn = async (count: number) => {
      for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
    };
    const refresh = async () => {
      await turn(3);
      return { accessToken: `new ${++refreshes}`, refreshToken: "r2", expiresAtMs: Date.now() + 3_600_000 };
    };
    const load = async () => {
      const read = tokens;
      await turn(turns < 20 ? turns++ : 0);
      return read;
    };
    const save = async (fresh: Tokens) => {
      await turn(1);
      tokens = fresh;
    };
    const keeper = new TokenKeeper({ refresh }, { load, save });
    const taken = await Promise.all(Array.from({ length: 20 }, () => keeper.current()));
    assert.deepEqual([refreshes, new Set(taken)], [1, new Set(["new 1"])]);
  });

  it("do not replace those of a sign-in, or come back after a sign-out, that happened during the refresh", async () => {
    const old: Tokens = { accessToken: "old", refreshToken: "r", expiresAtMs: 0 };
    const ofAnother: Tokens = { accessToken: "another's", refreshToken: "r3", expiresAtMs: Date.now() + 3_600_000 };
    for (const meanwhile of [ofAnother, undefined]) {
      for (const isRefused of [false, true]) {
        let kept: Tokens | undefined = old;
        const refresh = async (): Promise<Tokens> => {
          kept = meanwhile;
          if (isRefused) throw new InvalidGrant("It has ended.", { code: "invalid_grant" });
          return { accessToken: "new", refreshToken: "r2", expiresAtMs: Date.now() + 3_600_000 };
        };
        const save = (tokens: Tokens) => {
          kept = tokens;
        };
        const keeper = new TokenKeeper({ refresh }, { load: () => kept, save });
        if (meanwhile) assert.equal(await keeper.current(), "another's");
        else await assert.rejects(keeper.current(), NotSignedIn);
        assert.equal(kept, meanwhile);
      }
    }
  });

  it("are requested when there are none", async (t) => {
    const { store, byAccessToken } = await sdkWorld(t);
    store.tokens = undefined;
    await assert.rejects(byAccessToken.getUsers(), { name: "NotSignedIn", code: "missing_token" });
  });
});
