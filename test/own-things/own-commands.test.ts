import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import type { OpenStore } from "../../src/store/seam.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { makeHome } from "../contracts/store/home.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";
import { lampMap, madeOwnThings } from "./made-own-things.ts";

const noonMs = Date.UTC(2026, 0, 1, 12);

/** A store whose clock the test moves. */
async function clockedStore(t: TestContext): Promise<{ store: OpenStore; clock: { nowMs: number } }> {
  const clock = { nowMs: noonMs };
  const folder = await newDataFolder("breezeway-own-");
  const store = await openSqlite({ folder, nowMs: () => clock.nowMs });
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return { store, clock };
}

describe("a command to an own thing", () => {
  it("is sent by logging what the device should show, and confirmed when the company writes it", async (t) => {
    const { store, clock } = await clockedStore(t);
    const { send, write, state, logged, thingId, control, accessScope } = await madeOwnThings(store);
    await write({ power: "off", level: "10" });
    const sent = await send("brightness", "set", { percent: 40 });
    assert.deepEqual([sent.thingId, sent.state, sent.sentMs, sent.settledMs], [thingId, "sending", noonMs, null]);
    const [entry, ...more] = await logged();
    assert.deepEqual([entry.state, entry.writes, more], ["sending", { level: "40", power: "on" }, []]);
    clock.nowMs += 5_000;
    await write({ level: "40" });
    assert.equal(await state(sent), "sending");
    await write({ power: "on" });
    assert.equal(await state(sent), "confirmed");
    assert.deepEqual(
      (await logged()).map((one) => [one.state, one.writes]),
      [
        ["sending", { level: "40", power: "on" }],
        ["confirmed", undefined],
      ],
    );
    assert.deepEqual(
      (await control.receipts(accessScope, thingId)).map(({ id }) => id),
      [sent.id],
    );
  });

  it("is confirmed by a write of the value that the thing shows already, and by nothing that was written before", async (t) => {
    const { store } = await clockedStore(t);
    const { send, write, state } = await madeOwnThings(store);
    await write({ power: "on" });
    const sent = await send("onOff", "set", { on: true });
    await write({ name: "Hall" });
    assert.equal(await state(sent), "sending");
    await write({ power: "on" });
    assert.equal(await state(sent), "confirmed");
  });

  it("is contradicted by other values after two seconds, unless they answer another command", async (t) => {
    const { store, clock } = await clockedStore(t);
    const { send, write, state } = await madeOwnThings(store);
    const first = await send("onOff", "set", { on: true });
    clock.nowMs += 1_999;
    await write({ power: "off" });
    assert.equal(await state(first), "sending");
    const second = await send("onOff", "set", { on: false });
    clock.nowMs += 2_001;
    await write({ power: "on" });
    assert.deepEqual([await state(first), await state(second)], ["confirmed", "sending"]);
    await write({ power: "on" });
    assert.deepEqual([await state(first), await state(second)], ["confirmed", "contradicted"]);
  });

  it("expires at the deadline of its type without an answer, and not before", async (t) => {
    const { store, clock } = await clockedStore(t);
    const { send, state, settleDue, control, accessScope, thingId } = await madeOwnThings(store);
    const sent = await send("onOff", "set", { on: true });
    clock.nowMs += 29_999;
    await settleDue();
    assert.equal(await state(sent), "sending");
    clock.nowMs += 1;
    await settleDue();
    const { state: settled, error, settledMs } = await control.receipt(accessScope, thingId, sent.id);
    assert.deepEqual([settled, error?.code, settledMs], ["expired", "noAnswer", clock.nowMs]);
  });

  it("is decided at its deadline by a state that only a new map can read", async (t) => {
    const { store, clock } = await clockedStore(t);
    const { send, write, state, settleDue, setMap } = await madeOwnThings(store);
    const sent = await send("onOff", "set", { on: true });
    clock.nowMs += 1_000;
    await write({ power: "ON" });
    const onOff = { on: { attribute: "power", words: { true: "ON", false: "OFF" }, writable: true } };
    await setMap({ ...lampMap, traits: { ...lampMap.traits, onOff } });
    clock.nowMs += 30_000;
    await settleDue();
    assert.equal(await state(sent), "confirmed");
  });

  it("joins an equal one; four may be open, and the fifth is busy", async (t) => {
    const { store } = await clockedStore(t);
    const { send } = await madeOwnThings(store);
    const first = await send("brightness", "set", { percent: 10 });
    assert.equal((await send("brightness", "set", { percent: 10 })).id, first.id);
    for (const percent of [20, 30, 40]) {
      assert.equal((await send("brightness", "set", { percent })).state, "sending");
    }
    const fifth = await send("brightness", "set", { percent: 50 });
    assert.deepEqual([fifth.state, fifth.error?.code], ["rejected", "busy"]);
  });

  it("is refused while the device is offline, when the map can't write it, and outside the access scope", async (t) => {
    const { store } = await clockedStore(t);
    const { send, write, setMap, control, thingId } = await madeOwnThings(store);
    await write({ connected: "no" });
    assert.equal((await send("onOff", "set", { on: true })).error?.code, "offline");
    await write({ connected: "yes" });
    await setMap({ ...lampMap, traits: { onOff: { on: { attribute: "power" } } } });
    assert.equal((await send("onOff", "set", { on: true })).error?.code, "notSupported");
    assert.equal((await send("brightness", "set", { percent: 5 })).error?.code, "notSupported");
    const { userId } = await makeHome(store, { name: "Bob" });
    const command = { trait: "onOff", command: "set", params: { on: true } } as const;
    const foreign = control.command({ kind: "user", userId }, thingId, { command, clientId: null });
    await assert.rejects(foreign, { code: "unknown_thing" });
    await assert.rejects(control.receipts({ kind: "user", userId }, thingId), { code: "unknown_thing" });
  });

  it("comes from an alert to all lamps of the user, and a write of a state never starts one", async (t) => {
    const { store } = await clockedStore(t);
    const { alerts, accessScope, lamp, devices, write, logged } = await madeOwnThings(store, { lamps: 3 });
    const { id } = await alerts.add(accessScope, {
      ...{ deviceId: lamp, attributeName: "smoke", operation: "equals", stringThreshold: "yes", threshold: "" },
      ...{ action: "note", targets: [], address: "", message: "" },
      ...{ autoDisarm: true, autoDelete: false, autoDisable: false, isEnabled: true },
      commands: [{ kind: "light", trait: "onOff", command: "set", params: { on: true } }],
    });
    await write({ power: "off" });
    assert.deepEqual(await logged(), []);
    await write({ smoke: "yes" });
    for (const device of devices) {
      const [entry, ...more] = await logged(device);
      assert.deepEqual([entry.alert, entry.state, entry.writes, more], [id, "sending", { power: "on" }, []]);
    }
  });
});
