import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { surfaceDatabases } from "../../set-up/deployment.ts";
import { PlatformClient } from "../../stories/platform-client.ts";
import { ada, type OAuthWorld, oauthWorld } from "../oauth-world.ts";
import { formOf, ScriptedBrowser, type Shown } from "../scripted-browser.ts";
import { atLogin, right, wrong } from "./browsing.ts";
import { hashRuns } from "./hash-runs.ts";

describe("guessing", () => {
  const still = { isClockStill: true };
  const behindProxy = { ...still, environment: { BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1" } };
  const from = (world: OAuthWorld, address: string) =>
    new ScriptedBrowser(() => world.baseUrl, { "x-forwarded-for": address });

  async function attempt(world: OAuthWorld, source: string, filledIn: typeof right): Promise<Shown> {
    const { browser, form } = await atLogin(world, from(world, source));
    return browser.submit(form, filledIn);
  }

  async function failRepeatedly(world: OAuthWorld, source: string, times = 5, filledIn = wrong): Promise<void> {
    for (let i = 0; i < times; i++) assert.equal((await attempt(world, source, filledIn)).status, 401, `failure ${i}`);
  }

  function assertDelayed(shown: Shown, why = ""): number {
    assert.equal(shown.status, 429, `${why} ${shown.status}`);
    assert.equal(shown.location, "");
    assert.ok(shown.form, "the page is there to try again");
    const seconds = shown.headers.get("retry-after") ?? "";
    assert.match(seconds, /^[1-9]\d*$/);
    return Number(seconds);
  }

  it("21: is delayed after five failures, longer each time", async (t) => {
    const world = await oauthWorld(t, behindProxy);
    await failRepeatedly(world, "198.51.100.1");
    const delays: number[] = [];
    for (let round = 0; round < 6; round++) {
      delays.push(assertDelayed(await attempt(world, "198.51.100.1", right), "even the right password waits"));
      await world.timePasses(delays.at(-1)! * 1_000);
      assert.equal((await attempt(world, "198.51.100.1", wrong)).status, 401, "then one more guess");
    }
    for (const [i, delay] of delays.entries()) if (i > 0) assert.ok(delay > delays[i - 1]!, delays.join());
    await world.timePasses(assertDelayed(await attempt(world, "198.51.100.1", right)) * 1_000);
    assert.equal((await attempt(world, "198.51.100.1", right)).status, 303, "after the delay the owner gets in");
  });

  it("21: never refuses the right password from another source, whose success does not reset the delay", async (t) => {
    const world = await oauthWorld(t, behindProxy);
    await failRepeatedly(world, "198.51.100.1");
    assertDelayed(await attempt(world, "198.51.100.1", wrong));
    for (const source of ["198.51.100.2", "203.0.113.9", "2001:db8::1"]) {
      assert.equal((await attempt(world, source, right)).status, 303, source);
    }
    assertDelayed(await attempt(world, "198.51.100.1", right), "success elsewhere");
    const bob = { username: "bob", password: "another word" };
    assert.equal((await attempt(world, "198.51.100.1", bob)).status, 303, "another account from the same source");
    assertDelayed(await attempt(world, "198.51.100.1", right), "success with another account");
  });

  it("21: counts one account as one, whatever the spelling, the client, the browser or the endpoint", async (t) => {
    const world = await oauthWorld(t, behindProxy);
    const source = "198.51.100.1";
    const { id: client_id } = await world.addClient({ name: "Second" });
    for (const username of ["ada", " ada", "ada ", "\tada", "ada\n"]) {
      const browser = from(world, source);
      const address = world.authorizeUrl(username === "ada" ? {} : { client_id });
      const shown = await browser.submit(formOf(await browser.get(address)), { username, password: "wrong" });
      assert.equal(shown.status, 401, JSON.stringify(username));
    }
    assertDelayed(await attempt(world, source, right));
    const login = { name: ada.name, password: ada.password, appId: String(world.tenantId) };
    const body = new URLSearchParams(login);
    const init = { method: "POST", body, headers: { "x-forwarded-for": source } };
    const byPlatformCall = await fetch(`${world.baseUrl}/zdk/services/zamapi/userLogin`, init);
    assert.match(await byPlatformCall.text(), />107</, "userLogin shares the count");
  });

  it("21: counts failed platform logins too", async (t) => {
    const world = await oauthWorld(t, still);
    const platform = new PlatformClient(() => world.baseUrl);
    for (let i = 0; i < 5; i++) {
      const { requestFault } = await platform.call("userLogin", {
        name: "ada",
        password: "wrong",
        appId: String(world.tenantId),
      });
      assert.ok(requestFault);
    }
    const { browser, form } = await atLogin(world);
    assertDelayed(await browser.submit(form, right));
    const stranger = await world.addClient({ tenant: "Other" });
    const login = await browser.get(world.authorizeUrl({ client_id: stranger.id }));
    assert.equal((await browser.submit(formOf(login), right)).status, 303, "the other tenant's ada is another account");
  });

  it("21: gains nothing by concurrent guesses", async (t) => {
    const world = await oauthWorld(t, still);
    const { browser, form } = await atLogin(world);
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser.submit(form, wrong)));
    assert.equal(answers.filter(({ status }) => status === 401).length, 5);
    for (const shown of answers) if (shown.status !== 401) assertDelayed(shown);
  });

  it("21: can't forge its address, nor use many addresses of one network", async (t) => {
    const world = await oauthWorld(t, still);
    for (let i = 0; i < 5; i++) assert.equal((await attempt(world, `198.51.100.${i}`, wrong)).status, 401);
    assertDelayed(await attempt(world, "198.51.100.99", right), "no proxy is trusted");

    const proxied = await oauthWorld(t, behindProxy);
    for (let i = 0; i < 5; i++) assert.equal((await attempt(proxied, `2001:db8:0:1::${i}`, wrong)).status, 401);
    assertDelayed(await attempt(proxied, "2001:db8:0:1:ffff::1", right), "one /64 is one source");
    // The proxy appends the address that it sees; addresses before it are claimed by the client.
    await failRepeatedly(proxied, "203.0.113.1, 198.51.100.7");
    assertDelayed(await attempt(proxied, "203.0.113.2, 198.51.100.7", right), "the last address counts");
  });

  it("21: of many accounts from one source is limited, without effect on other sources", async (t) => {
    const environment = { ...behindProxy.environment, BREEZEWAY_FAILURES_PER_SOURCE: "10" };
    const world = await oauthWorld(t, { ...still, environment });
    for (let i = 0; i < 10; i++) {
      const guess = { username: `guest-${i}`, password: "wrong" };
      assert.equal((await attempt(world, "198.51.100.1", guess)).status, 401);
    }
    const seconds = assertDelayed(await attempt(world, "198.51.100.1", { username: "guest-11", password: "wrong" }));
    assertDelayed(await attempt(world, "198.51.100.1", right));
    assert.equal((await attempt(world, "198.51.100.2", right)).status, 303);
    await world.timePasses(seconds * 1_000);
    assert.equal((await attempt(world, "198.51.100.1", right)).status, 303);
  });

  it("22: does not reveal which users exist", async (t) => {
    const world = await oauthWorld(t, still);
    await world.service.parts.identity.addUser({
      tenant: "Other",
      name: "zoe",
      password: "correct horse",
      isAdmin: false,
    });
    const runs = await hashRuns(t);
    const seen = new Map<string, { readonly answers: unknown[]; readonly runs: number[] }>();
    for (const username of ["ada", "eve", "zoe"]) {
      const { browser, form } = await atLogin(world);
      const answers: unknown[] = [];
      const counts: number[] = [];
      runs.counted();
      for (let i = 0; i < 7; i++) {
        const shown = await browser.submit(form, { username, password: "correct horses" });
        answers.push(bare(shown, username));
        counts.push(runs.counted().runs);
      }
      seen.set(username, { answers, runs: counts });
    }
    assert.deepEqual(seen.get("ada")!.runs, [1, 1, 1, 1, 1, 0, 0]);
    assert.deepEqual(seen.get("eve"), seen.get("ada"), "an unknown user");
    assert.deepEqual(seen.get("zoe"), seen.get("ada"), "a user of another tenant");
  });

  for (const database of surfaceDatabases) {
    it(`22: reveals nothing by text that can't be a name or a password (${database})`, async (t) => {
      const world = await oauthWorld(t, { ...still, database });
      const { browser, form } = await atLogin(world);
      const strange = ["", " ", "\u0000", "x".repeat(61), "x".repeat(5_000), "💥", "ada\u0000", "%", "'; --", "\u202e"];
      for (const text of strange) {
        for (const filledIn of [
          { username: text, password: "wrong" },
          { username: "eve", password: text },
        ]) {
          const shown = await browser.submit(form, filledIn);
          const why = JSON.stringify(filledIn).slice(0, 80);
          assert.ok([400, 401, 429].includes(shown.status), `${why} ${shown.status}`);
          assert.equal(shown.location, "", why);
        }
        const known = await (await atLogin(world)).browser.submit(form, { username: "ada", password: text });
        assert.ok([400, 401, 429].includes(known.status));
      }
    });
  }

  /** An answer without its random parts. */
  function bare({ status, headers, body }: Shown, username: string) {
    const random = ["date", "x-request-id", "set-cookie", "content-length"];
    const cookies = headers.getSetCookie().map((line) => line.replace(/=[^;]*/, "="));
    const kept = [...headers].filter(([name]) => !random.includes(name));
    const page = body
      .replaceAll(headers.get("x-request-id") ?? "", "")
      .replace(/(<input[^>]*type="hidden"[^>]*value=")[^"]*/g, "$1")
      .replaceAll(`value="${username}"`, 'value="typed"');
    return { status, kept, cookies, page };
  }
});
