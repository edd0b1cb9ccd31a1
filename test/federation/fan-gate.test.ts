import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { heartbeat } from "../../src/nodes/membership.ts";
import { thermostatAttribute } from "../../src/virtual-device/attribute-names.ts";
import { madeFans, until } from "./made-fans.ts";
import { otherNode } from "./made-federation.ts";
import { noonMs } from "./manual-runtime.ts";
import { followBy } from "./stored-links.ts";

const minuteMs = 60_000;
const noon = "2026-01-01T12:00:00.000Z";

describe("a fan request that the gate refuses", () => {
  const refusals = [
    ["Invalid value for fan_timer_active", "banana, split", {}],
    ["Thermostat does not have a fan", "true", { thermostats: { t1: { hasFan: false } } }],
    ["Thermostat is not online", "false", { thermostats: { t1: { isOnline: false } } }],
    ["Cannot change fan_timer_active while structure is away", "true", { away: "auto-away" }],
  ] as const;
  for (const [message, value, plan] of refusals) {
    it(`says "${message}" when the write answers, has a receipt, and is not sent`, async (t) => {
      const { write, request, receipts, deviceId, runtime, connector } = await madeFans(t, plan);
      await write(value);
      assert.equal(await request(), `error: ${message}, ${value}, ${noon}`);
      const [receipt, ...others] = await receipts();
      assert.deepEqual(others, []);
      const { id, userId, ...stored } = receipt!;
      assert.deepEqual(structuredClone(stored), {
        deviceId,
        attribute: thermostatAttribute(1, 1, "requestWrite"),
        thermostatId: "t1",
        value,
        state: "rejected",
        text: message,
        requestedMs: noonMs,
        sentMs: null,
        settledMs: noonMs,
        blockedUntilMs: null,
      });
      await runtime.advance(minuteMs);
      assert.deepEqual(connector.actions, []);
    });
  }

  it("is for an empty slot", async (t) => {
    const { write, request, states } = await madeFans(t);
    await write("true", 2);
    assert.equal(await request(2), `error: Thermostat not found, true, ${noon}`);
    assert.deepEqual(await states(), ["rejected"]);
  });

  it("is for an account that must be linked again", async (t) => {
    const { write, request, connector, federation, userId } = await madeFans(t, { away: "away" });
    connector.stream.ends("unauthorized");
    await until(async () => assert.equal((await federation.status(userId, "nest")).state, "needs_reauth"));
    await write("true");
    assert.equal(await request(), `error: The account must be linked again, true, ${noon}`);
  });

  it("is replaced by the next, whose outcome alone is shown", async (t) => {
    const { write, request, sent, states } = await madeFans(t);
    await write("yes");
    await write("true");
    assert.equal(await request(), "true");
    (await sent(1)).answers({ state: "accepted" });
    await until(async () => assert.equal(await request(), null));
    assert.deepEqual(await states(), ["rejected", "accepted"]);
  });
});

describe("a fan request that the gate lets pass", () => {
  it("is sent while the link is not live, whatever was last mirrored", async (t) => {
    const { write, sent, connector } = await madeFans(t, { away: "away", thermostats: { t1: { isOnline: false } } });
    connector.stream.ends("closed");
    await write("true");
    assert.equal((await sent(1)).thermostatId, "t1");
  });

  it("is sent while only the store says that the link is live, as after a start", async (t) => {
    const { write, sent, connector, connection, store, userId, deviceId } = await madeFans(t, { away: "away" });
    connection.isDown = true;
    connector.stream.ends("closed");
    connection.isDown = false;
    assert.equal((await store.read((tx) => tx.links.ofDevice(userId, deviceId)))?.state, "live");
    await write("true");
    await sent(1);
  });

  for (const [name, isTaken] of [
    ["no node has claimed the link of a dead owner", false],
    ["the new owner of the link has no stream", true],
  ] as const) {
    it(`is stored for the owner while ${name}, whatever was last mirrored`, async (t) => {
      const made = await madeFans(t, { isShared: true, away: "away" });
      const { federation, store, runtime, write, request, states, userId, deviceId } = made;
      await followBy(store, otherNode, userId, deviceId);
      await federation.keeper.drop(deviceId);
      await write("true");
      assert.match((await request()) ?? "", /while structure is away/, "its live values are known");
      if (isTaken) await store.transaction((tx) => tx.links.takeOver(userId, deviceId, otherNode));
      else await runtime.advance(heartbeat.leaseMs);
      await write("true");
      assert.equal(await request(), "true");
      assert.deepEqual(await states(), ["rejected", "queued"]);
    });
  }

  it("is sent when only the thermostat's id is known", async (t) => {
    const nothing = { name: null, isOnline: null, hasFan: null, fanTimerActive: null, fanTimerTimeout: null };
    const { write, sent } = await madeFans(t, { away: null, thermostats: { t1: nothing } });
    await write("true");
    await sent(1);
  });

  it("is sent though nobody is home, in an ecosystem that allows it", async (t) => {
    const { write, sent } = await madeFans(t, { away: "away", fanNeedsHome: false });
    await write("true");
    assert.equal((await sent(1)).isOn, true);
  });
});

describe("a fan request while one runs", () => {
  it("joins it when it asks for the same: one is sent, one outcome is shown", async (t) => {
    const { write, request, sent, states, runtime, connector } = await madeFans(t);
    await write("true");
    const command = await sent(1);
    await write("true");
    await write("true");
    assert.equal(await request(), "true");
    command.answers({ state: "accepted" });
    await until(async () => assert.equal(await request(), null));
    await runtime.advance(minuteMs / 2);
    assert.equal(connector.actions.length, 1);
    assert.deepEqual(await states(), ["accepted"]);
  });

  it("is rejected in its receipt when it asks for the other value, and leaves requestWrite unchanged", async (t) => {
    const { write, request, sent, receipts, store, userId, deviceId } = await madeFans(t);
    await write("true");
    const command = await sent(1);
    const before = await store.read((tx) => tx.devices.find(userId, deviceId));
    for (const value of ["false", "banana"]) {
      await write(value);
      const [receipt] = await receipts();
      assert.deepEqual([receipt?.state, receipt?.text], ["rejected", "Another request is running"]);
    }
    assert.equal(await request(), "true");
    assert.deepEqual(await store.read((tx) => tx.devices.find(userId, deviceId)), before, "nothing was written");
    command.answers({ state: "rejected", message: "No, not now" });
    await until(async () => assert.equal(await request(), `error: No, not now, true, ${noon}`));
    await write("false");
    assert.equal((await sent(2)).isOn, false);
  });

  it("for another thermostat is sent beside it", async (t) => {
    const { write, sent } = await madeFans(t, { thermostats: { t1: {}, t2: {} } });
    await write("true", 1);
    await write("false", 2);
    await sent(2);
  });

  it("is a new one once the ecosystem has answered", async (t) => {
    const { write, sent, states } = await madeFans(t);
    await write("true");
    (await sent(1)).answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    await write("true");
    await sent(2);
  });

  it("doesn't join one for the thermostat that had its slot before", async (t) => {
    const { write, request, sent, shown, shows, connector } = await madeFans(t);
    await write("true");
    const old = await sent(1);
    const crowd = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`n${i}`, {}]));
    await shows({ thermostats: crowd });
    const occupant = await shown("deviceId");
    assert.notEqual(occupant, "t1");
    assert.equal(await request(), null, "the request didn't pass to another thermostat");
    await write("true");
    assert.equal((await sent(2)).thermostatId, occupant);
    old.answers({ state: "rejected", message: "that one is gone" });
    connector.actions[1]!.answers({ state: "accepted" });
    await until(async () => assert.equal(await request(), null));
  });

  it("is refused when its thermostat is gone", async (t) => {
    const { write, request, sent, shows } = await madeFans(t);
    await write("true");
    await sent(1);
    await shows({ thermostats: {} });
    await write("true");
    assert.match((await request()) ?? "", /^error: Thermostat not found, true, /);
  });
});

describe("an erased fan request", () => {
  it("is not sent, and has no receipt", async (t) => {
    const { write, request, receipts, runtime, connector } = await madeFans(t);
    await write("maybe");
    await write(null);
    assert.equal(await request(), null);
    await runtime.advance(minuteMs);
    assert.equal((await receipts()).length, 1);
    assert.deepEqual(connector.actions, []);
  });

  it("that was being sent still shows its outcome", async (t) => {
    const { write, request, sent } = await madeFans(t);
    await write("true");
    const command = await sent(1);
    await write(null);
    assert.equal(await request(), null);
    command.answers({ state: "rejected", message: "too late" });
    await until(async () => assert.equal(await request(), `error: too late, true, ${noon}`));
  });
});

describe("a blocked thermostat", () => {
  const blocked = { state: "rejected", message: "blocked", retryAfterMs: 10 * minuteMs } as const;

  it("gets no request until the time that the ecosystem named, but other thermostats do", async (t) => {
    const { write, request, sent, runtime, states } = await madeFans(t, { thermostats: { t1: {}, t2: {} } });
    await write("true");
    (await sent(1)).answers(blocked);
    await until(async () => assert.equal(await request(), `error: blocked, true, ${noon}`));
    await write("false");
    assert.equal(await request(), `error: blocked until 2026-01-01T12:10:00.000Z, false, ${noon}`);
    await write("true", 2);
    await sent(2);
    await runtime.advance(10 * minuteMs - 1);
    await write("true");
    assert.match((await request()) ?? "", /^error: blocked until /);
    await runtime.advance(1);
    await write("true");
    assert.equal(await request(), "true");
    await sent(3);
    assert.deepEqual((await states()).slice(0, 2), ["rejected", "rejected"]);
  });

  it("stays blocked however many requests were refused since", async (t) => {
    const { write, request, sent } = await madeFans(t);
    await write("true");
    (await sent(1)).answers(blocked);
    await until(async () => assert.match((await request()) ?? "", /^error: blocked, /));
    for (let i = 0; i < 120; i++) await write("true");
    assert.match((await request()) ?? "", /^error: blocked until /);
  });

  it("gets the next request at once when the ecosystem named no time", async (t) => {
    const { write, request, sent } = await madeFans(t);
    await write("true");
    (await sent(1)).answers({ state: "rejected", message: "blocked" });
    await until(async () => assert.match((await request()) ?? "", /^error: blocked, /));
    await write("true");
    await sent(2);
  });
});

describe("receipts", () => {
  it("are the last 100 of a device, the newest first", async (t) => {
    const { write, receipts, store } = await madeFans(t, { thermostats: { t1: {}, t2: {} } });
    for (let i = 0; i < 130; i++) await write(`v${i}`, 1 + (i % 2));
    const kept = await receipts();
    assert.deepEqual(
      kept.map(({ value }) => value),
      Array.from({ length: 100 }, (_, i) => `v${129 - i}`),
    );
    const [{ userId, deviceId }] = kept as [(typeof kept)[number]];
    assert.equal((await store.read((tx) => tx.fanRequests.ofDevice(userId, deviceId, 1_000))).length, 100);
  });

  it("never lose a running request", async (t) => {
    const { write, receipts, sent, states } = await madeFans(t, { thermostats: { t1: {}, t2: {} } });
    await write("true");
    const command = await sent(1);
    for (let i = 0; i < 130; i++) await write("banana", 2);
    assert.equal((await receipts()).length, 100);
    command.answers({ state: "accepted" });
    await until(async () => assert.equal((await states()).length, 100));
    await write("true");
    await sent(2);
  });
});
