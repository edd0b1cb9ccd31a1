import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { Breezeway } from "../../sdk/src/index.ts";
import { ada } from "../oauth/oauth-world.ts";
import { formOf } from "../oauth/scripted-browser.ts";
import { longSuiteOn } from "../set-up/deployment.ts";
import { deployments, eventually } from "../stories/world.ts";
import { type LinkWorld, linkWorld, returnUrl, titleOf } from "./link-world.ts";

const bob = { name: "bob", password: "another word" };

for (const database of longSuiteOn("sqlite", deployments)) {
  describe(`a link session on ${database}`, () => {
    it("leads from the client over sign-in, consent and the home's summary back to the client", async (t) => {
      const world = await linkWorld(t, { database });
      const token = await world.tokenOf();
      const { id, url } = await world.create(token);
      assert.equal((await world.session(token, id)).status, "pending");
      const visitor = world.visitor();

      const login = await visitor.open(url);
      assert.equal(titleOf(login), "Sign in");
      assert.match(login.body, /The account <bdi class="name">ada<\/bdi> will see this home/);
      assert.match(login.body, /<input id="username"[^>]* value="ada"/);
      assert.match(login.body, /<input id="password"[^>]* autofocus>/);
      const connect = await visitor.signIn(login);
      assert.equal(titleOf(connect), "Connect your home to Acme");
      assert.match(connect.body, /ada/);
      const consent = await visitor.leave(connect);
      assert.match(consent.body, /asks to use your home/);
      const done = await visitor.arrive(await visitor.consent(consent, world.accounts.maple));
      assert.equal(titleOf(done), "Your home is connected");
      assert.match(done.body, /Maple Street: 2 thermostats, 3 alarms/);
      const back = new URL(returnUrl);
      assert.ok(done.body.includes(`href="${back.href}&amp;linkSession=${id}&amp;state=s%201"`), done.body);

      const linked = await world.session(token, id);
      assert.equal(linked.status, "linked");
      assert.equal(linked.userId, world.userId);
      const { deviceIds, devices } = (await world.get("/v3/devices?deviceTypeName=EcosystemAccount", token)).body;
      assert.ok(JSON.stringify([deviceIds, devices]).includes(String(linked.deviceId)));
      // Back and Reload show the result again; another browser does not see it.
      assert.equal(titleOf(await visitor.open(url)), "Your home is connected");
      assert.equal(titleOf(await world.visitor().open(url)), "This page was used already");
      assertNoSecrets(world);
    });

    it("renews a link, and asks before it switches to another account", async (t) => {
      const world = await linkWorld(t, { database });
      const token = await world.tokenOf();
      const first = await world.create(token);
      await world.visitor().link(first.url, world.accounts.maple);
      const { deviceId } = await world.session(token, first.id);
      const again = await world.post(token, { ecosystem: "nest" });
      assert.deepEqual([again.status, again.body.error], [409, "already_federated"]);

      const renewal = await world.create(token, { mode: "renew" });
      const renewed = await world.visitor().link(renewal.url, world.accounts.maple);
      assert.match(renewed.body, /Maple Street: 2 thermostats, 3 alarms/);
      assert.equal((await world.session(token, renewal.id)).deviceId, deviceId);

      const kept = await world.create(token, { mode: "renew" });
      const visitor = world.visitor();
      const asked = await visitor.link(kept.url, world.accounts.cabin);
      assert.equal(titleOf(asked), "This is another home");
      assert.match(asked.body, /Cabin: 1 thermostat/);
      const keeps = await visitor.follow(await visitor.browser.submit(formOf(asked), { decision: "keep" }));
      assert.equal(titleOf(keeps), "Nothing was connected");
      assert.equal((await world.session(token, kept.id)).status, "declined");

      const switching = await world.create(token, { mode: "renew" });
      const switcher = world.visitor();
      const question = await switcher.link(switching.url, world.accounts.cabin);
      const switched = await switcher.follow(await switcher.browser.submit(formOf(question), { decision: "switch" }));
      assert.match(switched.body, /Cabin: 1 thermostat/);
      const after = await world.session(token, switching.id);
      assert.deepEqual([after.status, after.deviceId], ["linked", deviceId]);
    });

    it("ends as declined when the owner declines at the ecosystem or on our page", async (t) => {
      const world = await linkWorld(t, { database });
      const token = await world.tokenOf();
      const atEcosystem = await world.create(token);
      const visitor = world.visitor();
      const consent = await visitor.leave(await visitor.signIn(await visitor.open(atEcosystem.url)));
      const declined = await visitor.arrive(await visitor.consent(consent, world.accounts.maple, "deny"));
      assert.equal(titleOf(declined), "Nothing was connected");
      assert.equal((await world.session(token, atEcosystem.id)).status, "declined");

      const atPage = await world.create(token);
      const other = world.visitor();
      const connect = await other.signIn(await other.open(atPage.url));
      const cancelled = await other.follow(await other.browser.submit(formOf(connect), { decision: "cancel" }));
      assert.equal(titleOf(cancelled), "Nothing was connected");
      assert.equal((await world.session(token, atPage.id)).status, "declined");
    });

    it("is no use to the victim of a forwarded address: only the named user can sign in", async (t) => {
      const world = await linkWorld(t, { database });
      const { id, url } = await world.create(await world.tokenOf());
      const victim = world.visitor();
      const refused = await victim.signIn(await victim.open(url), bob);
      assert.equal(refused.status, 403);
      assert.match(refused.body, /This page is for the account ada/);
      assert.equal((await world.session(await world.tokenOf(), id)).status, "pending");
      // The browser stays unbound, and the right user can still go on.
      assert.match((await world.visitor().link(url, world.accounts.maple)).body, /Maple Street/);
    });

    it("keeps the session while the ecosystem can't be reached", async (t) => {
      const world = await linkWorld(t, { database });
      const token = await world.tokenOf();
      const { id, url } = await world.create(token);
      const visitor = world.visitor();
      const consent = await visitor.leave(await visitor.signIn(await visitor.open(url)));
      const callback = await visitor.consent(consent, world.accounts.maple);
      world.proxy.mood = "closed";
      const unreachable = await visitor.arrive(callback);
      assert.equal(titleOf(unreachable), "Your home can’t be read now");
      const pending = await world.session(token, id);
      assert.deepEqual([pending.status, pending.problem.side], ["pending", "ecosystem"]);
      world.proxy.mood = "open";
      // The code may be used up, so that a new consent is needed.
      const second = await visitor.consent(await visitor.leave(unreachable), world.accounts.maple);
      assert.match((await visitor.arrive(second)).body, /Maple Street/);
      const linked = await world.session(token, id);
      assert.deepEqual([linked.status, linked.problem], ["linked", undefined]);
    });

    it("expires after 30 minutes, which is told once, and is removed a day later", async (t) => {
      const world = await linkWorld(t, { database, isClockStill: true });
      const { id, url } = await world.create(await world.tokenOf());
      await addWebhook(world);
      await world.timePasses(31 * 60_000);
      assert.equal(titleOf(await world.visitor().open(url)), "This page has expired");
      assert.equal((await world.session(await world.tokenOf(), id)).status, "expired");
      // Nobody was told before the service ended.
      await world.restart();
      const token = await world.tokenOf();
      const sdk = new Breezeway({ baseUrl: world.baseUrl, accessToken: token });
      const heard = await heardBy(t, sdk);
      const sweepAll = () => Promise.all(world.nodes.map(({ service }) => service.parts.linkSessions.sweep()));
      await Promise.all([sweepAll(), sweepAll()]);
      await sweepAll();
      const page = new URL(new URL(url).pathname, world.baseUrl).href;
      assert.equal(titleOf(await world.visitor().open(page)), "This page has expired");
      const shown = await world.session(token, id);
      assert.deepEqual([shown.status, shown.problem, shown.deviceId], ["expired", undefined, undefined]);
      // A session that ends later is told later: then everything before it was told.
      const later = await world.create(token);
      const visitor = world.visitor();
      const connect = await visitor.signIn(await visitor.open(later.url));
      await visitor.browser.submit(formOf(connect), { decision: "cancel" });
      await sweepAll();
      const expected = [
        [id, "expired"],
        [later.id, "declined"],
      ];
      await eventually(t.signal, async () => {
        assert.deepEqual(heard, expected);
        const messages = await sdk.webhooks.deliveries(webhookId);
        assert.deepEqual(
          messages.map(({ type }) => type),
          ["linkSession", "linkSession"],
        );
      });
      await world.timePasses(24 * 3_600_000);
      assert.equal(await world.service.parts.linkSessions.sweep(), 1);
      const gone = await world.session(await world.tokenOf(), id);
      assert.equal(gone.error, "not_found");
    });
  });
}

describe("a link session of an enterprise client", () => {
  it("that names nobody belongs to the user of the tenant who signs in", async (t) => {
    const world = await linkWorld(t, { kind: "enterprise" });
    const token = await world.tokenOf();
    const { id, url } = await world.create(token);
    const visitor = world.visitor();
    const login = await visitor.open(url);
    assert.doesNotMatch(login.body, /will see this home|autofocus/);
    const connect = await visitor.signIn(login, bob);
    assert.match(connect.body, /The account <bdi class="name">bob<\/bdi> will see this home/);
    await visitor.arrive(await visitor.consent(await visitor.leave(connect), world.accounts.maple));
    const linked = await world.session(token, id);
    assert.deepEqual([linked.status, linked.userId], ["linked", world.bobId]);
  });

  it("needs no sign-in when the client vouches for its users, and names the account", async (t) => {
    const world = await linkWorld(t, { kind: "enterprise", vouchesForUsers: true });
    const token = await world.tokenOf();
    const { id, url } = await world.create(token, { userId: world.userId });
    const visitor = world.visitor();
    const connect = await visitor.open(url);
    assert.equal(titleOf(connect), "Connect your home to Acme");
    assert.match(connect.body, /The account <bdi class="name">ada<\/bdi> will see this home/);
    await visitor.arrive(await visitor.consent(await visitor.leave(connect), world.accounts.maple));
    assert.equal((await world.session(token, id)).status, "linked");
  });
});

const webhookId = "wh_sessions";

/** A webhook that hears of link sessions. Nobody receives: its deliveries are what counts. */
async function addWebhook({ service, tenantId, userId, client }: LinkWorld): Promise<void> {
  await service.parts.store.transaction(async (tx) => {
    const from = await tx.log.end();
    const owner = { tenantId, userId, clientId: client.id };
    const filter = { deviceIds: [], attributes: [], from, hearsLinkSessions: true, hearsAlerts: false };
    const address = { url: "https://127.0.0.1:9/", sealedUrl: null, sealedSecret: "" };
    await tx.webhooks.add({ id: webhookId, ...owner, ...filter, ...address });
    await tx.webhooks.setFeed({ ...from, things: from, epoch: (await tx.logEpoch.current()).name });
  });
}

/** The link sessions that a stream tells, from now on. */
async function heardBy(t: TestContext, sdk: Breezeway): Promise<readonly (readonly [string, string])[]> {
  const stop = new AbortController();
  t.after(() => stop.abort());
  const heard: [string, string][] = [];
  await new Promise<void>((resolve) => {
    const read = async () => {
      for await (const event of sdk.events({ linkSessions: true, signal: stop.signal, onConnected: resolve })) {
        if (event.type === "linkSession") heard.push([event.linkSessionId, event.status]);
      }
    };
    read().catch(() => undefined);
  });
  return heard;
}

/** No log line holds a secret of a session or of the ecosystem. */
function assertNoSecrets({ logged, simulator }: LinkWorld): void {
  const lines = logged.join("\n");
  assert.doesNotMatch(lines, /link\/sessions\/[A-Za-z0-9_-]{40}/);
  for (const accountId of simulator.accountIds()) {
    const { metadata } = simulator.document(accountId) as { metadata: { access_token: string } };
    assert.ok(!lines.includes(metadata.access_token));
  }
  assert.ok(!lines.includes(ada.password));
}
