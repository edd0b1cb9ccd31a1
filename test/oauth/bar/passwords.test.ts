import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hash } from "@node-rs/argon2";
import { surfaceDatabases } from "../../set-up/deployment.ts";
import { ada, type OAuthWorld, oauthWorld } from "../oauth-world.ts";
import { formOf, ScriptedBrowser } from "../scripted-browser.ts";
import { assertCodeIssued, atLogin, right, wrong } from "./browsing.ts";
import { hashRuns } from "./hash-runs.ts";
import { storedFiles, storedRows } from "./stored.ts";

describe("passwords", () => {
  const from = (world: OAuthWorld, address: string) =>
    new ScriptedBrowser(() => world.baseUrl, { "x-forwarded-for": address });

  async function storedHashes(world: OAuthWorld): Promise<string[]> {
    const users = (await storedRows(world)).get("users") ?? [];
    return users.map((row) => String(row.password_hash));
  }

  function parametersOf(stored: string) {
    const [, memory, time, lanes, salt, digest] =
      /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(stored) ?? [];
    assert.ok(digest, `not argon2id: ${stored.slice(0, 12)}`);
    return { memory: Number(memory), time: Number(time), lanes: Number(lanes), salt: salt!, digest };
  }

  function assertStrong(stored: string): void {
    const { memory, time, lanes, salt, digest } = parametersOf(stored);
    assert.ok(memory >= 19 * 1_024 && time >= 2, `m=${memory} t=${time}`);
    assert.equal(lanes, 1);
    assert.ok(Buffer.from(salt, "base64").length >= 16);
    assert.ok(Buffer.from(digest, "base64").length >= 32);
  }

  it("23: are stored as argon2id, each with its own salt and parameters", async (t) => {
    const world = await oauthWorld(t, { hasSlowPasswords: true });
    await world.code();
    const stored = await storedHashes(world);
    assert.equal(stored.length, 4);
    for (const one of stored) assertStrong(one);
    assert.equal(new Set(stored.map((one) => parametersOf(one).salt)).size, 4);
    for (const { name, bytes } of storedFiles(world)) assert.ok(!bytes.includes(ada.password), name);
    assert.ok(!world.logged.join("").includes(ada.password));
  });

  for (const database of surfaceDatabases) {
    it(`23: with weaker parameters are rehashed at login, which ends nothing (${database})`, async (t) => {
      const world = await oauthWorld(t, { database, hasSlowPasswords: true });
      const { store } = world.service.parts;
      const held = await world.tokens();
      for (const weak of [
        await hash(ada.password, { algorithm: 2, memoryCost: 8_192, timeCost: 2, parallelism: 1 }),
        await hash(ada.password, { algorithm: 2, memoryCost: 19_456, timeCost: 1, parallelism: 1 }),
      ]) {
        await store.transaction((tx) => tx.users.setPasswordHash(world.userId, weak));
        const stored = async () => (await store.read((tx) => tx.users.byId(world.userId)))!.passwordHash;
        const { browser, form } = await atLogin(world);
        assert.equal((await browser.submit(form, wrong)).status, 401);
        assert.equal(await stored(), weak, "only a correct password is rehashed");
        const sent = await browser.submit(form, right);
        assert.equal(sent.status, 303);
        assertStrong(await stored());
        await assertCodeIssued(browser, formOf(await browser.get(sent.location)));
        const strong = await stored();
        await world.code();
        assert.equal(await stored(), strong, "once is enough");
      }
      assert.equal(await world.statusWith(held.access_token), 200);
      assert.equal((await world.refresh(held.refresh_token)).status, 200);
    });
  }

  it("24: are hashed in the background, few at once, while tokens are still issued", async (t) => {
    const world = await oauthWorld(t, { environment: { BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1" } });
    const code = await world.code();
    const held = await world.tokens();
    const guests = await Promise.all(Array.from({ length: 50 }, (_, i) => atLogin(world, from(world, `192.0.2.${i}`))));
    const runs = await hashRuns(t);
    const finished: string[] = [];
    const logins = guests.map(async ({ browser, form }, i) => {
      const { status } = await browser.submit(form, { username: `guest-${i}`, password: "wrong" });
      finished.push(`login ${status}`);
    });
    const calls = [
      world.exchange(code).then(({ status }) => finished.push(`token ${status}`)),
      world.refresh(held.refresh_token).then(({ status }) => finished.push(`token ${status}`)),
      world.statusWith(held.access_token).then((status) => finished.push(`token ${status}`)),
    ];
    await Promise.all([...logins, ...calls]);
    assert.deepEqual(
      finished.filter((one) => one.startsWith("token")),
      ["token 200", "token 200", "token 200"],
    );
    assert.equal(finished.filter((one) => one === "login 401").length, 50);
    assert.ok(
      finished.slice(-20).every((one) => one.startsWith("login")),
      "no token request waited for the logins",
    );
    const { runs: counted, mostAtOnce } = runs.counted();
    assert.equal(counted, 50);
    assert.ok(mostAtOnce <= 4, `${mostAtOnce} at once`);
  });

  it("24: of one source are refused beyond 20 at a time, before they are hashed; the metric counts them", async (t) => {
    const world = await oauthWorld(t, { environment: { BREEZEWAY_METRICS_TOKEN: "a-token-of-this-test" } });
    const { browser, form } = await atLogin(world);
    const runs = await hashRuns(t);
    const shown = await Promise.all(
      Array.from({ length: 100 }, (_, i) => browser.submit(form, { username: `guest-${i}`, password: "wrong" })),
    );
    const refused = shown.filter(({ status }) => status === 429);
    assert.ok(refused.length > 0, "100 at once are more than 20");
    for (const { headers } of refused) assert.equal(headers.get("retry-after"), "1");
    assert.equal(runs.counted().runs, 100 - refused.length);
    const { body } = await world.get("/metrics", "a-token-of-this-test");
    assert.match(
      body,
      new RegExp(`^breezeway_limit_reached_total\\{limit="signInsPerSource"\\} ${refused.length}$`, "m"),
    );
  });
});
