import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { type AnyJson, first, movedClock, simulatorWorld } from "./world.ts";

describe("a stream", () => {
  it("starts with the whole account and sends the whole account at each change", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    const stream = await account.stream();
    assert.deepEqual([stream.status, stream.contentType], [200, "text/event-stream"]);
    const opening = await stream.next();
    assert.deepEqual(opening, { event: "put", data: { path: "/", data: await account.document() } });
    await account.scene("leave");
    const change = await stream.next();
    assert.equal(change.event, "put");
    assert.equal(first(change.data.data.structures).away, "away");
    assert.deepEqual(change.data.data, await account.document());
  });

  it("of a narrower path sends that part, and only its changes", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    const { device_id: id } = first((await account.document()).devices.smoke_co_alarms);
    const path = `/devices/smoke_co_alarms/${id}/ui_color_state`;
    const stream = await account.stream(path);
    assert.deepEqual((await stream.next()).data, { path, data: "green" });
    await account.scene("leave");
    await account.scene("smoke", { alarm: id });
    assert.deepEqual((await stream.next()).data, { path, data: "red" });
    await account.scene("remove-alarm", { alarm: id });
    assert.deepEqual((await stream.next()).data, { path, data: null });
  });

  it("is refused for an unknown path, or without a token", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    assert.equal((await account.stream("/devices/cameras")).status, 404);
    assert.equal((await account.stream("/", "c.wrong")).status, 401);
  });

  it("carries any text, each frame on its two lines", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    const stream = await account.stream();
    await stream.next();
    for (const name of [
      "Žofín – 家 🏡 ünïcode",
      "two\nlines\r\nand \u2028 more",
      "data: x\n\nevent: put",
      "\ud83c lone",
    ]) {
      await account.scene("rename", { name });
      assert.equal(first((await stream.next()).data.data.structures).name, name);
    }
    await account.scene("rename", { name: "家".repeat(1000), thermostat: 2 });
    const { devices } = (await stream.next()).data.data;
    assert.equal(Object.values<AnyJson>(devices.thermostats)[1].name, "家".repeat(1000));
  });

  it("names the token with which it is read", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    const { token } = (await account.control("POST", "tokens")).body;
    const [one, other] = [await account.stream(), await account.stream("/", token)];
    assert.equal((await one.next()).data.data.metadata.access_token, account.token);
    assert.equal((await other.next()).data.data.metadata.access_token, token);
    await account.replace({ metadata: { access_token: "mine", user_id: "u" } });
    assert.deepEqual((await other.next()).data.data, { metadata: { access_token: token, user_id: "u" } });
  });

  it("reaches every reader with the same token", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    const streams = await Promise.all(Array.from({ length: 20 }, () => account.stream()));
    await Promise.all(streams.map((stream) => stream.next()));
    await account.scene("auto-away");
    for (const stream of streams) assert.equal(first((await stream.next()).data.data.structures).away, "auto-away");
  });

  it("does not merge separate changes", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    const stream = await account.stream("/structures");
    await stream.next();
    const play = (scene: string) => world.simulator.playScene(account.accountId, { scene });
    await Promise.all([play("leave"), play("come-home"), play("auto-away")]);
    const seen: string[] = [];
    for (let i = 0; i < 3; i++) seen.push(first((await stream.next()).data.data).away);
    assert.deepEqual(seen, ["away", "home", "auto-away"]);
  });

  it("stays alive with an event every 30 seconds", async (t) => {
    const clock = movedClock(0);
    const account = await (await simulatorWorld(t, clock)).account();
    const stream = await account.stream();
    await stream.next();
    clock.move(29_999);
    await account.scene("leave");
    assert.equal((await stream.next()).event, "put");
    clock.move(1);
    assert.deepEqual(await stream.next(), { event: "keep-alive", data: null });
    clock.move(30_000);
    assert.deepEqual(await stream.next(), { event: "keep-alive", data: null });
  });

  it("leaves no timer behind when its reader disconnects", async (t) => {
    const clock = movedClock(0);
    const world = await simulatorWorld(t, clock);
    const account = await world.account();
    const stream = await account.stream();
    await stream.next();
    assert.equal(clock.waiting(), 1);
    stream.close();
    while ((await world.call("GET", "/simulator")).body.streams > 0);
    assert.equal(clock.waiting(), 0);
    assert.equal(world.simulator.log().at(-1)?.reason, "reader");
  });

  it("gets an event when its token is revoked, and ends", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    const { token } = (await account.control("POST", "tokens")).body;
    const [revoked, kept] = [await account.stream("/", token), await account.stream()];
    await revoked.next();
    await kept.next();
    assert.equal((await world.call("DELETE", `/simulator/tokens/${token}`)).status, 204);
    assert.deepEqual(await revoked.next(), { event: "auth_revoked", data: token });
    assert.equal(await revoked.over, "ended");
    assert.equal((await account.stream("/", token)).status, 401);
    assert.equal((await world.call("DELETE", `/simulator/tokens/${token}`)).status, 404);
    await account.scene("leave");
    assert.equal((await kept.next()).event, "put");
  });

  it("can be broken without a final event", async (t) => {
    const world = await simulatorWorld(t);
    const [account, neighbour] = [await world.account(), await world.account()];
    const streams = [await account.stream(), await account.stream("/structures")];
    const spared = await neighbour.stream();
    for (const stream of [...streams, spared]) await stream.next();
    assert.deepEqual((await account.control("POST", "drop")).body, { dropped: 2 });
    for (const stream of streams) assert.equal(await stream.over, "broken");
    await neighbour.scene("leave");
    assert.equal((await spared.next()).event, "put");
  });

  it("is closed when its client does not read", async (t) => {
    const { simulator } = await simulatorWorld(t);
    const { accountId, token } = simulator.addAccount();
    const socket = connect(simulator.port, "127.0.0.1");
    socket.on("error", () => {});
    t.after(() => socket.destroy());
    socket.write(`GET / HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    await once(socket, "readable");
    const document = { text: "x".repeat(2_000_000) };
    for (let i = 0; i < 50; i++) simulator.replaceDocument(accountId, document);
    assert.equal(simulator.log().find((entry) => entry.kind === "stream-closed")?.reason, "slow");
  });
});
