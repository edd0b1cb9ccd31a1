import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { home, send, write } from "../events/made-home.ts";
import { receiver } from "../events/receiver.ts";
import { PlatformClient } from "../stories/platform-client.ts";
import { eventually } from "../stories/world.ts";
import { ada, idAndSecret, type OAuthWorld, oauthWorld } from "./oauth-world.ts";

const privateHooks = { environment: { BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true" } };
const userSentence = "This user is suspended. Ask the operator of this service.";
const clientSentence = "This client is suspended. Ask the operator of this service.";

function runOn({ service }: OAuthWorld) {
  // biome-ignore lint/suspicious/noExplicitAny: each answer's shape is what the tests look at
  return (command: string, input: object): Promise<any> => service.parts.administration.run(command, input);
}

describe("a suspended user", () => {
  it("is refused everywhere with the reason, and has all access again after the resume", async (t) => {
    const { world, token, open } = await home(t, {});
    const run = runOn(world);
    const user = String(world.userId);
    const { refresh_token } = await world.tokens();
    const platform = new PlatformClient(() => world.baseUrl);
    await platform.login(ada.name, ada.password, world.tenantId);
    const code = await world.code();
    const terms = world.browser();
    const openTerms = await terms.signIn(world.authorizeUrl(), ada);
    const stream = await open();

    assert.deepEqual(await run("user suspend", { user }), { userId: world.userId, name: "ada", suspended: true });
    await stream.ended;
    const refused = await world.get("/v3/users", token);
    assert.equal(refused.status, 401);
    assert.match(refused.headers.get("www-authenticate") ?? "", /error="invalid_token"/);
    assert.equal(refused.body.error_description ?? refused.body.message, userSentence);
    assert.equal((await world.get("/v3/events", token)).status, 401);
    const byToken = await platform.call("getDeviceList", { secToken: platform.secToken });
    assert.deepEqual(byToken.requestFault, { errorCode: "106", errorMsg: userSentence });
    const byEither = await fetch(
      `${world.baseUrl}/adaptor/ecosystems/federatedTokens/nest/largestrings?secToken=${token}`,
    );
    assert.doesNotMatch(String(byEither.status), /^2/);
    await byEither.arrayBuffer();
    const login = { name: ada.name, password: ada.password, appId: String(world.tenantId) };
    const fault = (await platform.call("userLogin", login)).requestFault;
    assert.deepEqual(fault, { errorCode: "101", errorMsg: userSentence });
    for (const attempt of [world.refresh(refresh_token), world.exchange(code)]) {
      const { status, body } = await attempt;
      assert.deepEqual([status, body.error, body.error_description], [400, "invalid_grant", userSentence]);
    }
    const page = await world.browser().signIn(world.authorizeUrl(), ada);
    assert.equal(page.status, 401);
    assert.match(page.body, /This account is suspended\./);
    const wrong = await world.browser().signIn(world.authorizeUrl(), { ...ada, password: "a wrong one" });
    assert.doesNotMatch(wrong.body, /suspended/);
    const decided = await terms.submit(openTerms.form!, { decision: "accept" });
    assert.equal(decided.status, 400, "a page from before gives no code");
    assert.equal((await world.get("/v3/users", (await world.tokens(undefined, bob)).access_token)).status, 200);
    const { entries } = await run("audit list", { user, act: "sign_in_failed", limit: "9" });
    assert.ok(entries.some(({ detail }: { readonly detail: object }) => "suspended" in detail));

    assert.equal((await run("user resume", { user })).suspended, false);
    assert.equal((await world.get("/v3/users", token)).status, 200);
    assert.equal((await world.refresh(refresh_token)).status, 200);
    assert.equal((await platform.call("getDeviceList", { secToken: platform.secToken })).requestFault, undefined);
    assert.ok(await world.code());
  });

  it("is unlocked by an operator after too many wrong passwords", async (t) => {
    const world = await oauthWorld(t, { isClockStill: true });
    const wrong = { ...ada, password: "a wrong one" };
    for (let guess = 0; guess < 5; guess++) await world.browser().signIn(world.authorizeUrl(), wrong);
    assert.equal((await world.browser().signIn(world.authorizeUrl(), ada)).status, 429);
    await runOn(world)("user unlock", { user: String(world.userId) });
    assert.ok(await world.code());
  });
});

const bob = { name: "bob", password: "another word" };

describe("a suspended client", () => {
  it("is refused with the reason, keeps what waits for its webhook, and gets it after the resume", {
    timeout: 60_000,
  }, async (t) => {
    const { world, token, lamp, open } = await home(t, privateHooks);
    const run = runOn(world);
    const client = world.client.id;
    const { refresh_token } = await world.tokens();
    const another = await world.addClient({ name: "Another" });
    const others = (await world.tokens(another)).access_token;
    const hook = await receiver(t);
    await send(`${world.baseUrl}/v3/webhooks`, token, "POST", { url: hook.url });
    const stream = await open();

    assert.equal((await run("client suspend", { client })).suspended, true);
    await stream.ended;
    const refused = await world.get("/v3/users", token);
    assert.deepEqual([refused.status, refused.body.error_description ?? refused.body.message], [401, clientSentence]);
    const { status, body } = await world.refresh(refresh_token);
    assert.deepEqual([status, body.error, body.error_description], [401, "invalid_client", clientSentence]);
    const form = { grant_type: "client_credentials", ...idAndSecret(world.client) };
    assert.equal((await world.post("/oauth2/access_token", form)).body.error, "invalid_client");
    const back = new URL((await world.browser().get(world.authorizeUrl())).location);
    assert.deepEqual([back.searchParams.get("error"), back.searchParams.get("state")], ["unauthorized_client", "s-1"]);
    await write(world, others, lamp, { a: "1" });
    await write(world, others, lamp, { a: "2" });
    const [{ webhookId }] = (await run("hook list", {})).webhooks;
    const shown = () => run("hook show", { webhook: webhookId });
    await eventually(t.signal, async () => assert.equal((await shown()).waiting, 2));
    assert.deepEqual([(await shown()).state, hook.received.length], ["suspended", 0]);

    await run("client resume", { client });
    assert.equal((await world.get("/v3/users", token)).status, 200);
    assert.equal((await world.refresh(refresh_token)).status, 200);
    await hook.until(2);
    assert.deepEqual(
      hook.received.map(({ message }) => message.data.attributes.a),
      ["1", "2"],
    );
  });
});

describe("a paused webhook", () => {
  it("gets nothing, and goes on in order when it is resumed", { timeout: 60_000 }, async (t) => {
    const { world, token, lamp } = await home(t, privateHooks);
    const run = runOn(world);
    const hook = await receiver(t);
    const { webhookId: webhook } = (await send(`${world.baseUrl}/v3/webhooks`, token, "POST", { url: hook.url })).body;
    await write(world, token, lamp, { a: "0" });
    await hook.until(1);
    assert.equal((await run("hook pause", { webhook })).state, "paused");
    for (const a of ["1", "2"]) await write(world, token, lamp, { a });
    await run("hook test", { webhook });
    const isHeld = async () => {
      const found = await run("hook deliveries", { webhook, state: "waiting" });
      const times = found.deliveries.flatMap(({ nextTry }: { readonly nextTry: string | null }) => nextTry ?? []);
      assert.equal(found.deliveries.length, 3);
      assert.ok(times.length === 2 && times.every((time: string) => Date.parse(time) > Date.now() + 60_000));
    };
    await eventually(t.signal, isHeld);
    assert.equal(hook.received.length, 1);
    assert.equal((await run("hook show", { webhook })).nextTry, null);
    await run("hook resume", { webhook });
    await hook.until(4);
    const values = hook.received.flatMap(({ message }) => message.data.attributes?.a ?? []);
    assert.deepEqual(values, ["0", "1", "2"]);
    await eventually(t.signal, async () => assert.equal((await run("hook show", { webhook })).state, "working"));
  });
});
