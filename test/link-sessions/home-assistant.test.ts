import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { owner } from "../../simulator/home-assistant/pages/login-page.ts";
import { type HomeAssistantOptions, startHomeAssistant } from "../../simulator/home-assistant/simulator.ts";
import { problems } from "../../src/link-sessions/session-status.ts";
import { limits } from "../../src/model/limits.ts";
import { oauthWorld } from "../oauth/oauth-world.ts";
import { formOf, type Shown } from "../oauth/scripted-browser.ts";
import { startFaultProxy } from "../set-up/fault-proxy.ts";
import { eventually } from "../stories/world.ts";
import { LinkVisitor, titleOf } from "./link-world.ts";

describe("a link page for accounts with addresses of their own", () => {
  it("asks for the address first, says what is wrong with it, and links the instance", async (t) => {
    const world = await instanceWorld(t);
    const instance = await world.instance();
    const { id, url } = await world.create();
    const visitor = world.visitor();
    const connect = await visitor.signIn(await visitor.open(url));
    assert.match(connect.body, /<label for="address">/);
    for (const address of ["", "not an address", "http://127.0.0.1:9"]) {
      const refused = await visitor.browser.submit(formOf(connect), { decision: "continue", address });
      assert.equal(refused.status, 400, address);
      // Between the field's label and the field, which keeps what was typed.
      assert.match(refused.body, /<label for="address">.*role="alert".*<input id="address"/s);
      assert.ok(refused.body.includes(`value="${address}"`), address);
    }
    const { store } = world.service.parts;
    for (const [problem, words] of [
      [problems.unreachable("none"), /did not answer\. Check the address/],
      [problems.interrupted(), /We were interrupted before your Home Assistant had answered\. Try again\./],
    ] as const) {
      await store.transaction(async (tx) => {
        const session = (await tx.linkSessions.find({ ownerId: world.userId, id }))!;
        await tx.linkSessions.save({ ...session, problem: JSON.stringify(problem) });
      });
      assert.match((await visitor.open(url)).body, words);
    }
    const done = await world.consent(visitor, await visitor.leave(connect, { address: instance.url }));
    assert.equal(titleOf(done), "Your home is connected");
    assert.match(done.body, /1 thermostat/);
    assert.equal((await world.session(id)).status, "linked");
  });

  it("asks before it switches to another instance, which inherits no value of the first", async (t) => {
    const world = await instanceWorld(t);
    const { deviceId } = await world.link((await world.instance()).url);
    const cabin = await world.instance({ isFurnished: false, locationName: "Cabin" });
    assert.deepEqual(await world.home(deviceId), { name: "Hearth Hollow", away: "home", presence: "home" });

    const visitor = world.visitor();
    const renewal = await world.create("renew");
    const asked = await world.arrive(visitor, renewal.url, cabin.url);
    assert.equal(titleOf(asked), "This is another home");
    assert.match(asked.body, /Cabin: no devices that can be shown/);
    assert.equal((await world.home(deviceId)).name, "Hearth Hollow");
    await visitor.follow(await visitor.browser.submit(formOf(asked), { decision: "switch" }));
    const { status, deviceId: switched } = await world.session(renewal.id);
    assert.deepEqual([status, switched], ["linked", deviceId]);
    const inherited = { name: "Cabin", away: "unknown", presence: "unknown" };
    assert.deepEqual(await world.home(deviceId), inherited, "before its stream");
    await world.untilLive(t);
    assert.deepEqual(await world.home(deviceId), inherited);
  });

  it("does not ask when the same instance has moved to another address, or has other things now", async (t) => {
    const world = await instanceWorld(t);
    const instance = await world.instance();
    await world.link(instance.url);
    const moved = await startFaultProxy(instance.url);
    t.after(() => moved.stop());
    const renewed = await world.arrive(world.visitor(), (await world.create("renew")).url, moved.url);
    assert.equal(titleOf(renewed), "Your home is connected");
    for (const entityId of [...instance.instance.entities.keys()]) instance.instance.deleteEntity(entityId);
    const emptied = await world.arrive(world.visitor(), (await world.create("renew")).url, moved.url);
    assert.equal(titleOf(emptied), "Your home is connected");
  });
});

describe("an address of which a link page looks whether an instance answers", { timeout: 60_000 }, () => {
  it("gets one connection at a time, and only so many of a burst", async (t) => {
    const world = await instanceWorld(t);
    const host = await hangingHost(t);
    const visitor = world.visitor();
    const connect = await visitor.signIn(await visitor.open((await world.create()).url));
    const answers: Shown[] = [];
    const posts = Array.from({ length: 50 }, async () => {
      answers.push(await visitor.browser.submit(formOf(connect), { decision: "continue", address: host.url }));
    });
    const made = 1 + limits.outgoingCallsWaitingPerUser;
    await eventually(t.signal, async () => assert.equal(answers.length, 50 - made));
    for (const { status, headers, body } of answers) {
      assert.deepEqual([status, headers.get("retry-after")], [429, "5"]);
      assert.match(body, /The call before has no answer yet/);
    }
    assert.equal(host.open.size, 1);
    host.refusesAll();
    await Promise.all(posts);
    assert.equal(answers.filter(({ status }) => status === 400).length, made);
    assert.deepEqual([host.accepted, host.mostOpen], [made, 1]);
  });

  it("gets two connections at a time from the sessions of one user", async (t) => {
    const world = await instanceWorld(t);
    const host = await hangingHost(t);
    const posts: Promise<Shown>[] = [];
    for (let session = 0; session < 4; session++) {
      const visitor = world.visitor();
      const connect = await visitor.signIn(await visitor.open((await world.create()).url));
      posts.push(visitor.browser.submit(formOf(connect), { decision: "continue", address: host.url }));
    }
    await eventually(t.signal, async () => assert.equal(host.open.size, 2));
    host.refusesAll();
    await Promise.all(posts);
    assert.deepEqual([host.accepted, host.mostOpen], [4, 2]);
  });

  it("gets no connection from a session that has ended meanwhile", async (t) => {
    const world = await instanceWorld(t);
    const host = await hangingHost(t);
    const { id, url } = await world.create();
    const visitor = world.visitor();
    const connect = await visitor.signIn(await visitor.open(url));
    const submit = () => visitor.browser.submit(formOf(connect), { decision: "continue", address: host.url });
    const first = submit();
    await eventually(t.signal, async () => assert.equal(host.open.size, 1));
    const others = [submit(), submit()];
    await visitor.browser.submit(formOf(connect), { decision: "cancel" });
    assert.equal((await world.session(id)).status, "declined");
    host.refusesAll();
    await first;
    for (const { status } of await Promise.all(others)) assert.equal(status, 303);
    assert.equal(host.accepted, 1);
  });
});

describe("a new token of a client for an account with an address of its own", () => {
  it("shows another instance at once, without the values of the first", async (t) => {
    const world = await instanceWorld(t);
    const { deviceId } = await world.link((await world.instance()).url);
    const cabin = await world.instance({ isFurnished: false, locationName: "Cabin" });
    const { federation } = world.service.parts;
    await federation.relink(world.userId, "home", cabin.tokens.addLongLived(), cabin.url);
    assert.deepEqual(await world.home(deviceId), { name: "Cabin", away: "unknown", presence: "unknown" });
  });
});

/** A host that takes connections and never answers, until it refuses all. */
async function hangingHost(t: TestContext) {
  const open = new Set<Socket>();
  let isRefusing = false;
  const host = {
    open,
    accepted: 0,
    mostOpen: 0,
    url: "",
    refusesAll() {
      isRefusing = true;
      for (const socket of open) socket.destroy();
    },
  };
  const server = createServer((socket) => {
    host.accepted += 1;
    open.add(socket);
    host.mostOpen = Math.max(host.mostOpen, open.size);
    socket.on("error", () => undefined).on("close", () => open.delete(socket));
    if (isRefusing) socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    host.refusesAll();
    server.close();
  });
  host.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return host;
}

async function instanceWorld(t: TestContext) {
  const home = { protocol: "home-assistant", allowPrivateNetworks: true };
  const world = await oauthWorld(t, { environment: { BREEZEWAY_ECOSYSTEMS: JSON.stringify({ home }) } });
  const { access_token: token } = await world.tokens();
  const visitor = () => new LinkVisitor(() => world.baseUrl);
  const create = async (mode = "link"): Promise<{ readonly id: string; readonly url: string }> => {
    const answer = await fetch(`${world.baseUrl}/v3/link-sessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ ecosystem: "home", mode }),
    });
    return (await answer.json()) as { readonly id: string; readonly url: string };
  };
  const session = async (id: string) => (await world.get(`/v3/link-sessions/${id}`, token)).body;
  /** Signs in at the instance, and returns the page that follows. */
  const consent = async (by: LinkVisitor, login: Parameters<typeof formOf>[0] & { readonly url: string }) => {
    const form = formOf(login);
    const action = new URL(form.action, login.url).href;
    const sent = await by.browser.submit({ ...form, action }, { username: owner.name, password: owner.password });
    return by.arrive(sent.location);
  };
  /** All the way to the page that follows the consent. */
  const arrive = async (by: LinkVisitor, url: string, address: string) => {
    const connect = await by.signIn(await by.open(url));
    return consent(by, await by.leave(connect, { address }));
  };
  return {
    ...world,
    visitor,
    create,
    session,
    consent,
    arrive,
    async instance(options?: HomeAssistantOptions) {
      const instance = await startHomeAssistant(options);
      t.after(() => instance.stop());
      return instance;
    },
    async link(address: string) {
      const { id, url } = await create();
      await arrive(visitor(), url, address);
      return session(id);
    },
    untilLive: ({ signal }: TestContext) =>
      eventually(signal, async () => {
        const { state } = await world.service.parts.federation.status(world.userId, "home");
        assert.equal(state, "live");
      }),
    /** What the device and the thing show of the home. */
    async home(deviceId: number) {
      const { attributes } = (await world.get(`/v3/devices/${deviceId}`, token)).body;
      const { things } = (await world.get("/v3/things?kind=home", token)).body;
      const { traits } = (await world.get(`/v3/things/${things[0].thingId}`, token)).body;
      const value = (name: string) => attributes[`d.structures[1].a.${name}`]?.value ?? null;
      return { name: value("name"), away: value("away"), presence: traits.presence?.state.state.value };
    },
  };
}
