import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { Breezeway, type HomeEvent } from "../../sdk/src/index.ts";
import { limits } from "../../src/model/limits.ts";
import { ada } from "../oauth/oauth-world.ts";
import { formOf, ScriptedBrowser } from "../oauth/scripted-browser.ts";
import { eventually } from "../stories/world.ts";
import { type LinkWorld, type LinkWorldPlan, linkWorld, returnUrl, titleOf } from "./link-world.ts";

/** A session whose owner has signed in and stands before the ecosystem's consent page. */
async function atEcosystem(t: TestContext, plan: LinkWorldPlan = {}) {
  const world = await linkWorld(t, plan);
  const token = await world.tokenOf();
  const { id, url } = await world.create(token);
  const visitor = world.visitor();
  const connect = await visitor.signIn(await visitor.open(url));
  const consent = await visitor.leave(connect);
  return { world, token, id, url, visitor, connect, consent };
}

const rowOf = ({ service, userId }: LinkWorld, id: string) =>
  service.parts.store.read((tx) => tx.linkSessions.find({ ownerId: userId, id }));

describe("a link page", () => {
  it("takes a double click on each of its buttons as one", async (t) => {
    const world = await linkWorld(t);
    const token = await world.tokenOf();
    const { id, url } = await world.create(token);
    const { browser, ...visitor } = world.visitor();
    const login = formOf(await browser.get(url));
    const filled = { username: ada.name, password: ada.password };
    const [first, second] = await Promise.all([browser.submit(login, filled), browser.submit(login, filled)]);
    assert.deepEqual([first.status, second.status], [303, 303]);
    const connect = formOf(await browser.get(url));
    const leaving = { decision: "continue" };
    const [one, other] = await Promise.all([browser.submit(connect, leaving), browser.submit(connect, leaving)]);
    assert.equal(one.location, other.location);
    const owner = world.visitor();
    Object.assign(owner, { ...visitor, browser });
    const callback = await owner.consent(await browser.get(one.location), world.accounts.maple);
    const [came, again] = await Promise.all([browser.get(callback), browser.get(callback)]);
    assert.deepEqual([came.status, again.status], [303, 303]);
    assert.match((await owner.follow(came)).body, /Maple Street/);
    assert.equal((await world.session(token, id)).status, "linked");
    // Back to any earlier page, and each form once more, shows the result and changes nothing.
    for (const form of [login, connect]) {
      const late = await owner.follow(await browser.submit(form, { ...filled, decision: "cancel" }));
      assert.equal(titleOf(late), "Your home is connected");
    }
    assert.equal(titleOf(await owner.arrive(callback)), "Your home is connected");
  });

  it("is bound to one browser: another one can neither go on nor bring the code", async (t) => {
    const { world, token, id, url, visitor, connect, consent } = await atEcosystem(t);
    const callback = await visitor.consent(consent, world.accounts.maple);
    const thief = world.visitor();
    assert.equal(titleOf(await thief.open(url)), "Go on in the other browser");
    assert.equal(titleOf(await thief.open(callback)), "Go on in the other browser");
    const forged = await thief.follow(await thief.browser.submit(formOf(connect), { decision: "cancel" }));
    assert.equal(titleOf(forged), "Go on in the other browser");
    assert.equal((await world.session(token, id)).status, "pending");
    assert.match((await visitor.arrive(callback)).body, /Maple Street/);
  });

  it("gives a cookie from before the sign-in no power, not even with the form's token", async (t) => {
    const world = await linkWorld(t);
    const { id, url } = await world.create(await world.tokenOf());
    const visitor = world.visitor();
    const login = await visitor.open(url);
    const planted = new ScriptedBrowser(() => world.baseUrl);
    for (const [name, value] of visitor.browser.cookies) planted.cookies.set(name, value);
    await visitor.signIn(login);
    assert.equal(titleOf(await planted.get(url)), "Go on in the other browser");
    const withoutPassword = await planted.submit(formOf(login), { username: ada.name, password: "wrong" });
    assert.equal(withoutPassword.status, 401);
    assert.equal((await rowOf(world, id))!.phase, "open");
    assert.equal(titleOf(await visitor.open(url)), "Connect your home to Acme");
  });

  it("ignores a form without its token, and a callback with another state", async (t) => {
    const { world, token, id, url, visitor, connect, consent } = await atEcosystem(t);
    const { action } = formOf(connect);
    await visitor.browser.submit({ action, fields: { csrf: "forged" } }, { decision: "cancel" });
    const callback = new URL(await visitor.consent(consent, world.accounts.maple));
    callback.searchParams.set("state", "forged");
    assert.equal(titleOf(await visitor.open(callback.href)), "This page has expired");
    assert.equal((await world.session(token, id)).status, "pending");
    assert.equal(titleOf(await visitor.open(url)), "Connect your home to Acme");
  });

  it("tells that the account is linked already, if that happened meanwhile", async (t) => {
    const { world, token, id, url, visitor } = await atEcosystem(t);
    const { token: accountToken } = world.simulator.addAccount({ structures: [{}] } as never);
    await world.service.parts.federation.link(world.userId, "nest", accountToken);
    assert.equal(titleOf(await visitor.open(url)), "A home is connected already");
    const { status, problem } = await world.session(token, id);
    assert.deepEqual([status, problem.side, problem.code], ["failed", "client", "already_linked"]);
  });

  it("is over when its client is removed or no longer returns there", async (t) => {
    const { world, url, visitor } = await atEcosystem(t);
    await world.service.parts.oauth.editClient(world.client.id, { returnUrls: [] });
    assert.equal(titleOf(await visitor.open(url)), "This page has expired");
    await world.service.parts.oauth.editClient(world.client.id, { returnUrls: [returnUrl] });
    assert.equal(titleOf(await visitor.open(url)), "Connect your home to Acme");
    await world.service.parts.oauth.removeClient(world.client.id);
    assert.equal(titleOf(await visitor.open(url)), "This page has expired");
  });

  it("says that the ecosystem refused a code, and ends the session with the side at fault", async (t) => {
    const { world, token, id, visitor, consent } = await atEcosystem(t);
    const callback = new URL(await visitor.consent(consent, world.accounts.maple));
    callback.searchParams.set("code", "guessed");
    const refused = await visitor.arrive(callback.href);
    assert.equal(titleOf(refused), "Your home was not connected");
    const { status, problem } = await world.session(token, id);
    assert.deepEqual([status, problem.side, problem.code], ["failed", "ecosystem", "ecosystem_refused"]);
  });
});

describe("a node that ends between the callback and the link", () => {
  it("during the exchange leaves a pending session, in which the owner can consent again", async (t) => {
    const { world, token, id, url, visitor, consent } = await atEcosystem(t);
    await visitor.consent(consent, world.accounts.maple);
    await claim(world, id, "exchanging");
    const reading = await visitor.open(url);
    assert.equal(titleOf(reading), "Reading your home …");
    assert.doesNotMatch(reading.body, /close this page/);
    assert.equal((await world.session(token, id)).status, "pending");
    await world.timePasses(3 * 60_000);
    const interrupted = await visitor.follow(await visitor.open(url));
    assert.equal(titleOf(interrupted), "Your home can’t be read now");
    assert.match(interrupted.body, /We could not finish at this moment\. Your .* is not the cause\./);
    assert.equal((await world.session(token, id)).problem.side, "breezeway");
    const again = await visitor.consent(await visitor.leave(interrupted), world.accounts.maple);
    assert.match((await visitor.arrive(again)).body, /Maple Street/);
  });

  it("while the home is read leaves a session with which another node goes on", async (t) => {
    const { world, token, id, url, visitor, consent } = await atEcosystem(t, { issuesDirectly: true });
    const callback = await visitor.consent(consent, world.accounts.maple);
    world.proxy.mood = "closed";
    const unread = await visitor.arrive(callback);
    assert.equal(titleOf(unread), "Your home can’t be read now");
    // As if the node had been killed while it tried again: the credential is stored, and nobody works on it.
    await claim(world, id, "reading");
    await world.timePasses(3 * 60_000);
    assert.equal((await world.session(token, id)).status, "pending");
    world.proxy.mood = "open";
    assert.match((await visitor.follow(await visitor.open(url))).body, /Maple Street/);
    assert.equal((await world.session(token, id)).status, "linked");
  });

  it("needs no new consent when only the home could not be read", async (t) => {
    const { world, token, id, visitor, consent } = await atEcosystem(t, { issuesDirectly: true });
    const callback = await visitor.consent(consent, world.accounts.maple);
    world.proxy.mood = "closed";
    const unread = await visitor.arrive(callback);
    assert.equal((await world.session(token, id)).problem.code, "ecosystem_unreachable");
    assert.match(unread.body, /Your .* gave no usable answer\./);
    world.proxy.mood = "open";
    const read = await visitor.follow(await visitor.browser.submit(formOf(unread), { decision: "continue" }));
    assert.match(read.body, /Maple Street/);
  });
});

describe("the end of a link session", () => {
  it("is an event for streams that ask for it, and for no other", { timeout: 60_000 }, async (t) => {
    const world = await linkWorld(t);
    const token = await world.tokenOf();
    const sdk = new Breezeway({ baseUrl: world.baseUrl, accessToken: token });
    const stop = new AbortController();
    t.after(() => stop.abort());
    const heard = { asked: [] as HomeEvent[], plain: [] as HomeEvent[] };
    const connected = (linkSessions: boolean, into: HomeEvent[]) =>
      new Promise<void>((resolve) => {
        const read = async () => {
          for await (const event of sdk.events({ linkSessions, signal: stop.signal, onConnected: resolve }))
            into.push(event);
        };
        read().catch(() => undefined);
      });
    await Promise.all([connected(true, heard.asked), connected(false, heard.plain)]);
    const session = await sdk.linkSession({ ecosystem: "nest", returnUrl, state: "s" });
    assert.equal((await session.get()).status, "pending");
    const visitor = world.visitor();
    const connect = await visitor.signIn(await visitor.open(session.url));
    await visitor.browser.submit(formOf(connect), { decision: "cancel" });
    assert.equal((await session.wait()).status, "declined");
    const linked = await sdk.linkSession({ ecosystem: "nest" });
    const done = await world.visitor().link(linked.url, world.accounts.maple);
    assert.match(done.body, /You can close this page/);
    const { deviceId } = await sdk.waitForLinkSession(linked.id);
    await eventually(t.signal, async () => {
      assert.equal(heard.asked.filter(({ type }) => type === "linkSession").length, 2);
      assert.ok(heard.plain.some(({ type }) => type === "device"));
    });
    const ends = heard.asked.flatMap((event) => (event.type === "linkSession" ? [event] : []));
    assert.deepEqual(
      ends.map((event) => [event.linkSessionId, event.status, event.deviceId]),
      [
        [session.id, "declined", null],
        [linked.id, "linked", deviceId],
      ],
    );
    assert.ok(heard.plain.every(({ type }) => type !== "linkSession"));
  });

  it("is a message for webhooks that ask for it", { timeout: 60_000 }, async (t) => {
    const world = await linkWorld(t);
    const token = await world.tokenOf();
    const sdk = new Breezeway({ baseUrl: world.baseUrl, accessToken: token });
    // Nobody receives: the deliveries are what counts.
    const { store } = world.service.parts;
    const add = (hearsLinkSessions: boolean) =>
      store.transaction(async (tx) => {
        const from = await tx.log.end();
        const id = `wh_${hearsLinkSessions}`;
        const owner = { tenantId: world.tenantId, userId: world.userId, clientId: world.client.id };
        const filter = { deviceIds: [], attributes: [], from, hearsLinkSessions, hearsAlerts: false };
        await tx.webhooks.add({
          id,
          ...owner,
          ...filter,
          url: "https://127.0.0.1:9/",
          sealedUrl: null,
          sealedSecret: "",
        });
        await tx.webhooks.setFeed({ ...from, things: from, epoch: (await tx.logEpoch.current()).name });
      });
    await add(true);
    await add(false);
    const session = await sdk.linkSession({ ecosystem: "nest" });
    const visitor = world.visitor();
    const connect = await visitor.signIn(await visitor.open(session.url));
    await visitor.browser.submit(formOf(connect), { decision: "cancel" });
    await eventually(t.signal, async () => {
      const [message] = await sdk.webhooks.deliveries("wh_true");
      assert.deepEqual([message?.type, message?.deviceId], ["linkSession", null]);
    });
    assert.deepEqual(await sdk.webhooks.deliveries("wh_false"), []);
  });
});

describe("creating link sessions", () => {
  it("is idempotent with a key, and bounded", async (t) => {
    const world = await linkWorld(t);
    const token = await world.tokenOf();
    const body = { ecosystem: "nest", returnUrl, state: "s" };
    const first = await world.post(token, body, { "idempotency-key": "k-1" });
    const second = await world.post(token, body, { "idempotency-key": "k-1" });
    assert.deepEqual(second.body, first.body);
    const row = (await rowOf(world, first.body.id))!;
    await world.service.parts.store.transaction(async (tx) => {
      for (let nth = 1; nth < limits.linkSessionsPerUser; nth++) {
        await tx.linkSessions.add({ ...row, id: `ls_${nth}`, tokenHash: String(nth) });
      }
    });
    const refused = await world.post(token, body);
    assert.deepEqual([refused.status, refused.body.error], [409, "limit_reached"]);
  });

  const wrong: readonly (readonly [string, unknown])[] = [
    ["no object", []],
    ["no ecosystem", {}],
    ["an unknown mode", { ecosystem: "nest", mode: "steal" }],
    ["an unregistered return address", { ecosystem: "nest", returnUrl: "https://attacker.example/" }],
    ["a state without a return address", { ecosystem: "nest", state: "s" }],
    ["a state that is too long", { ecosystem: "nest", returnUrl, state: "s".repeat(2_049) }],
    ["a state that can't be stored", { ecosystem: "nest", returnUrl, state: "\0" }],
    ["a user that is none", { ecosystem: "nest", userId: -1 }],
  ];
  it("is refused with a sentence for bad input, and stores nothing", async (t) => {
    const world = await linkWorld(t);
    const token = await world.tokenOf();
    for (const [name, body] of wrong) {
      const refused = await world.post(token, body);
      assert.deepEqual([refused.status, refused.body.error], [400, "invalid_request"], name);
    }
    const stranger = await world.post(token, { ecosystem: "nest", userId: world.bobId });
    assert.deepEqual([stranger.status, stranger.body.error], [404, "not_found"]);
    const count = await world.service.parts.store.read((tx) =>
      tx.linkSessions.count(world.userId, world.client.id, 10, 0),
    );
    assert.equal(count, 0);
  });
});

/** Marks the session as a node does that is killed then. */
async function claim({ service, userId }: LinkWorld, id: string, phase: "exchanging" | "reading"): Promise<void> {
  await service.parts.store.transaction(async (tx) => {
    const session = (await tx.linkSessions.lock({ ownerId: userId, id }))!;
    const claimedMs = await tx.clock.nowMs();
    await tx.linkSessions.save({ ...session, phase, claimedMs, attempt: session.attempt + 1 });
  });
}
