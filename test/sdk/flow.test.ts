import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, it, type TestContext } from "node:test";
import { newWebhookSecret, signedHeaders } from "../../src/events/webhooks/signature.ts";
import { browserOfFile, skip } from "../browser/world.ts";
import { ScriptedBrowser } from "../oauth/scripted-browser.ts";
import { freePort } from "../set-up/free-port.ts";
import { suiteLifetime } from "../set-up/lifetime.ts";
import { eventually, person } from "../stories/world.ts";
import { bring, type InstalledSdk, installedSdk, root } from "./installed-sdk.ts";
import { pageSite } from "./page-site.ts";
import { type SdkWorld, sdkWorld } from "./sdk-world.ts";

const example = "sdk/examples/link-a-home.js";
const browser = browserOfFile();

describe("linking a home, from the ecosystem's consent to two alerts", () => {
  const suite = suiteLifetime();
  let sdk: InstalledSdk;
  before(async () => {
    sdk = await installedSdk(suite);
    bring(sdk.project, example);
  });
  after(() => suite.end());

  it("takes less than 40 lines", () => {
    assert.ok(readFileSync(join(root, example), "utf8").split("\n").length < 40);
  });

  it("works in Node with the installed package, and so do the README's examples", {
    timeout: 120_000,
  }, async (t) => {
    const world = await sdkWorld(t);
    const lampId = await world.addLamp();
    const options = {
      ...{ baseUrl: world.baseUrl, login: world.login, lampId },
      ecosystem: ecosystemOf(world, "http://127.0.0.1:9/callback"),
    };
    const userServer = await startUser(t, world);
    const script = `import { linkHome } from "./link-a-home.js";
      const askUser = async (url) => (await fetch("${userServer}", { method: "POST", body: url })).text();
      console.log(JSON.stringify(await linkHome({ ...${JSON.stringify(options)}, askUser })));`;
    // An older Node, if there is one; the tests run on the newest.
    const linked = JSON.parse(await sdk.run("node", "--input-type=module", "-e", script));
    await assertLinked(t, world, lampId, linked);

    const [byLogin = "", byPublishedNames = "", byOAuth = ""] = readmeExamples();
    const real = (text: string) =>
      text
        .replaceAll("https://breezeway.example", world.baseUrl)
        .replace("appId: 1", `appId: ${world.login.appId}`)
        .replace("<ecosystem token>", world.simulator.issueToken(world.accountId))
        .replace("<lamp id>", String(lampId))
        .replace("<client id>", world.credentials.clientId)
        .replace("<client secret>", world.credentials.clientSecret)
        .replace("https://app.example/callback", world.credentials.redirectUri);
    writeFileSync(join(sdk.project, "by-login.js"), real(byLogin));
    assert.equal(await sdk.run("node", "by-login.js"), "The fan runs.\n");

    writeFileSync(join(sdk.project, "by-published-names.js"), real(byPublishedNames));
    const output = await sdk.run("node", "by-published-names.js");
    const [, triggerId] =
      /^Nest account: home\nAlert (\d+) switches the lamp on\.\n$/.exec(output) ?? assert.fail(output);
    const trigger = (await world.bySecToken.getTriggers()).find((trigger) => trigger.triggerId === Number(triggerId));
    assert.deepEqual(trigger?.targets, [{ deviceId: lampId, attributeName: "power", value: "on" }]);

    const userPart = `const sendUserTo = async (url) => (await fetch("${userServer}", { method: "POST", body: url })).text();\n`;
    writeFileSync(join(sdk.project, "by-oauth.js"), userPart + real(byOAuth));
    const scenes = ["smoke", "clear"];
    const eventOutput = await meanwhile(sdk.run("node", "by-oauth.js"), (turn) =>
      world.simulator.playScene(world.accountId, { scene: scenes[turn % 2]! }),
    );
    assert.match(eventOutput, /^d\.structures\[1\]\.d\.smokeCoAlarms\[1\]\.smoke_alarm_state is \w+\n$/);

    const token = world.store.tokens!.accessToken;
    const byThings = readmeExamples().find((code) => code.includes("things("))!;
    writeFileSync(join(sdk.project, "by-things.js"), real(byThings).replace("<access token>", token));
    assert.match(await sdk.run("node", "by-things.js"), /^[^\n]+: smoke (clear|warning|alarm)\n$/);

    const byState = readmeExamples().find((code) => code.includes("onState"))!;
    const untilLive = `const { log } = console;
      console.log = (line) => { log(line); if (line === "stream: live") process.exit(); };\n`;
    const ofHome = real(byState)
      .replace("<access token>", token)
      .replace("getDevice(1)", `getDevice(${linked.deviceId})`);
    writeFileSync(join(sdk.project, "by-state.js"), untilLive + ofHome);
    assert.equal(await sdk.run("node", "by-state.js"), "away: home, now\nstream: stale, no event yet\nstream: live\n");

    const company = await world.story.service.parts.oauth.addClient({
      ...{ tenant: "Story", name: "Lamps", kind: "enterprise", redirectUris: [], requiresPkce: false },
    });
    const ofCompany = readmeExamples()
      .find((code) => code.includes("ClientTokens"))!
      .replace("https://breezeway.example", world.baseUrl)
      .replace("<client id>", company.client.id)
      .replace("<client secret>", company.secret);
    writeFileSync(join(sdk.project, "company.js"), ofCompany);
    assert.equal(await sdk.run("node", "company.js"), "2 lamps are off.\n");

    const port = await freePort();
    const secret = newWebhookSecret();
    const untilMessage = `const { log } = console;
      console.log = (...words) => { log(...words); process.exit(); };\n`;
    const byWebhook = readmeExamples().find((code) => code.includes("verifyWebhook"))!;
    const receiver = byWebhook.replace("<secret>", secret).replace("9000", String(port));
    writeFileSync(join(sdk.project, "webhook.js"), untilMessage + receiver);
    const body = JSON.stringify({ type: "attribute", timestamp: "", data: { deviceId: 7, attributes: { a: "b" } } });
    const headers = signedHeaders(secret, { id: "msg_1", body }, Date.now());
    const messageOutput = await meanwhile(sdk.run("node", "webhook.js"), () =>
      fetch(`http://127.0.0.1:${port}`, { method: "POST", headers, body }).catch(() => undefined),
    );
    assert.equal(messageOutput, "7 { a: 'b' }\n");
  });

  it("works in a page of another origin, with a strict content security policy", {
    skip,
    timeout: 120_000,
  }, async (t) => {
    const site = await pageSite(t);
    const world = await sdkWorld(t, { corsOrigins: [site.origin] });
    const { project } = sdk;
    const { clientId, clientSecret: secret } = world.simulator.defaultClient;
    const tokenUrl = `${world.simulator.url}/oauth2/access_token`;
    site.serves = { project, service: world.baseUrl, tokenUrl, secret };
    const lampId = await world.addLamp();
    const context = await browser().newContext();
    t.after(() => context.close());
    const violations: string[] = [];
    context.on("console", (message) => {
      if (/Content Security Policy|Trusted|violates/i.test(message.text())) violations.push(message.text());
    });
    context.on("weberror", (error) => violations.push(String(error.error())));
    const tab = await context.newPage();
    await tab.goto(site.origin);
    await tab.waitForFunction("window.app");
    context.on("page", async (popup) => {
      await popup.getByRole("button", { name: "Allow" }).click();
    });
    const ecosystem = {
      ...ecosystemOf(world, `${site.origin}/callback`),
      clientId,
      tokenUrl: `${site.origin}/ecosystem-token`,
    };
    const { clientSecret: _, ...withoutSecret } = ecosystem;
    const options = { baseUrl: world.baseUrl, login: world.login, lampId, ecosystem: withoutSecret };
    const linked = await tab.evaluate<{ deviceId: number }>(`app.link(${JSON.stringify(options)})`);
    await assertLinked(t, world, lampId, linked);

    const { accessToken } = world.store.tokens!;
    const call = JSON.stringify({ baseUrl: world.baseUrl, accessToken });
    const fan = await tab.evaluate(
      `new app.sdk.Breezeway(${call}).runFan(${linked.deviceId}, "d.structures[1].d.thermostats[1]")`,
    );
    assert.deepEqual(fan, { done: true, isConfirmed: true });
    const event = await meanwhile(tab.evaluate<{ name: string }>(`app.firstEvent(${call})`), (turn) =>
      world.byAccessToken.setDeviceAttribute(lampId, "n", turn),
    );
    assert.equal(event.name, "n");
    const wrong = JSON.stringify({ baseUrl: world.baseUrl, accessToken: "bwa_none" });
    const unsigned = await tab.evaluate<{ name: string }>(`app.failure(new app.sdk.Breezeway(${wrong}).getUsers())`);
    assert.equal(unsigned.name, "NotSignedIn");
    const login = JSON.stringify({ ...world.login, name: "nobody" });
    let refused: { name?: string; retryAfterSeconds?: number };
    do refused = await tab.evaluate(`app.failure(new app.sdk.Breezeway(${call}).login(${login}))`);
    while (refused.name === "InvalidLogin");
    assert.equal(refused.name, "TooManyRequests");
    assert.ok(Number(refused.retryAfterSeconds) > 0, "a page can read how long to wait");
    assert.deepEqual(violations, []);

    await tab.goto(site.otherOrigin);
    await tab.waitForFunction("window.app");
    const outside = await tab.evaluate<{ name: string }>(`app.failure(new app.sdk.Breezeway(${call}).getUsers())`);
    assert.equal(outside.name, "Unreachable");
  });
});

/** Repeats an action until the listener has noticed it. */
async function meanwhile<Heard>(hearing: Promise<Heard>, act: (turn: number) => Promise<unknown>): Promise<Heard> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  hearing.then(over, over);
  for (let turn = 0; !isOver; turn++) {
    await act(turn);
    await Promise.race([hearing, new Promise((resolve) => setTimeout(resolve, 20))]);
  }
  return hearing;
}

function ecosystemOf({ simulator }: SdkWorld, redirectUri: string) {
  return {
    authUrl: `${simulator.url}/login/oauth2`,
    tokenUrl: `${simulator.url}/oauth2/access_token`,
    ...simulator.defaultClient,
    redirectUri,
  };
}

/** The home is linked, and the lamp follows the presence. */
async function assertLinked(t: TestContext, world: SdkWorld, lampId: number, linked: { readonly deviceId: number }) {
  assert.deepEqual(linked, { deviceId: linked.deviceId, name: "Mill", away: "home" });
  const { simulator, accountId } = world;
  await eventually(t.signal, async () => assert.equal((await world.bySecToken.getLinkStatus("nest")).state, "live"));
  for (const [scene, power] of [
    ["leave", "off"],
    ["come-home", "on"],
  ]) {
    await simulator.playScene(accountId, { scene: scene! });
    await eventually(t.signal, async () => {
      assert.equal((await world.bySecToken.getDevice(lampId)).attributes.power?.value, power);
    });
  }
}

/** A user with a browser, for programs in other processes: takes an address, returns the one after the redirects. */
async function startUser(t: TestContext, world: SdkWorld): Promise<string> {
  const server = createServer(async (request, response) => {
    let address = "";
    for await (const piece of request) address += piece;
    const isEcosystems = address.startsWith(world.simulator.url);
    const callback = isEcosystems
      ? await allow(new URL(address))
      : (await new ScriptedBrowser(() => world.baseUrl).authorize(address, person)).href;
    response.end(callback);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function allow({ origin, pathname, searchParams }: URL): Promise<string> {
  const body = new URLSearchParams([...searchParams, ["decision", "allow"]]);
  const answer = await fetch(`${origin}${pathname}`, { method: "POST", body, redirect: "manual" });
  return answer.headers.get("location") ?? "";
}

function readmeExamples(): readonly string[] {
  const readme = readFileSync(join(root, "sdk/README.md"), "utf8");
  return [...readme.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code!);
}
