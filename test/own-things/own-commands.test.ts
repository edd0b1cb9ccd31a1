import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CommandReceipt } from "../../src/devices/command-receipts.ts";
import { ownThingControl } from "../../src/own-things/own-thing-control.ts";
import { OwnThings } from "../../src/own-things/own-things.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import { makeHome, silent } from "../contracts/store/home.ts";
import { clockedStore, noonMs } from "./clocked-store.ts";
import { lampMap, madeOwnThings, plainIds } from "./made-own-things.ts";

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
      (await control.receipts(accessScope, thingId)).map(({ id, error }) => [id, error]),
      [[sent.id, null]],
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

  it("is confirmed by a write whose transaction takes longer than its device may be silent", async (t) => {
    const { store, clock } = await clockedStore(t);
    const { send, write, state } = await madeOwnThings(store, {
      map: { ...lampMap, online: { silentAfterSeconds: 10 } },
    });
    await write({ power: "on" });
    const sent = await send("onOff", "set", { on: false });
    let nowMs = noonMs;
    Object.defineProperty(clock, "nowMs", { get: () => (nowMs += 11_000) });
    await write({ power: "off" });
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

  it("is contradicted from the second second on", async (t) => {
    const { store, clock } = await clockedStore(t);
    const { send, write, state } = await madeOwnThings(store);
    const sent = await send("onOff", "set", { on: true });
    clock.nowMs += 2_000;
    await write({ power: "off" });
    assert.equal(await state(sent), "contradicted");
  });

  it("expires at its deadline although the thing shows what it asked for, if nothing was written since", async (t) => {
    const { store, clock } = await clockedStore(t);
    const { send, write, state, settleDue } = await madeOwnThings(store);
    await write({ power: "on" });
    const sent = await send("onOff", "set", { on: true });
    clock.nowMs += 30_000;
    await settleDue();
    assert.equal(await state(sent), "expired");
  });

  it("expires at its deadline when its device is no thing any more", async (t) => {
    const { store, clock } = await clockedStore(t);
    const { send, logged, settleDue, tenantId } = await madeOwnThings(store);
    await send("onOff", "set", { on: true });
    assert.ok(await store.transaction((tx) => tx.deviceTypeMaps.remove(tenantId, "lamp")));
    clock.nowMs += 30_000;
    await settleDue();
    assert.equal((await logged()).at(-1).state, "expired");
  });

  it("is unknown when its device stops being a thing before the command is admitted", async (t) => {
    const { store } = await clockedStore(t);
    const { accessScope, thingId, tenantId } = await madeOwnThings(store);
    const racing: typeof store = Object.assign(Object.create(store), {
      transaction: (body: Parameters<typeof store.transaction>[0]) =>
        store.transaction(async (tx) => {
          await tx.deviceTypeMaps.remove(tenantId, "lamp");
          return body(tx);
        }),
      read: (body: Parameters<typeof store.read>[0]) => store.read(body),
    });
    const control = ownThingControl({ store: racing, ownThings: new OwnThings(plainIds) });
    const command = { trait: "onOff", command: "set", params: { on: true } } as const;
    await assert.rejects(control.command(accessScope, thingId, { command, clientId: null }), { code: "unknown_thing" });
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
    assert.doesNotMatch(error?.text ?? "", /ecosystem/, "an own thing has no ecosystem");
  });

  it("that can't be settled leaves the others alone, and is tried again after a growing pause", async (t) => {
    const { store, clock } = await clockedStore(t);
    const elapsed = { ms: 0 };
    const failed: unknown[] = [];
    const runtime = { ...processRuntime(silent), elapsedMs: () => elapsed.ms, countFailure: () => void failed.push(1) };
    // More than one page of commands that fail comes before the last one.
    const made = await madeOwnThings(store, { lamps: 102, runtime });
    const { devices, accessScope, control, thingIdOf, userId, settleDue } = made;
    const sent: CommandReceipt[] = [];
    for (const lamp of devices) sent.push(await made.send("onOff", "set", { on: true }, thingIdOf(lamp)));
    const rowOf = async (index: number) =>
      (await store.read((tx) => tx.thingCommands.open(userId, devices[index]!, sent[index]!.thingId)))[0]!;
    const setPlan = async (index: number, plan: string) => {
      const row = await rowOf(index);
      await store.transaction((tx) => tx.thingCommands.change(row, ["sending"], { plan, state: "sending" }));
    };
    const { plan } = await rowOf(0);
    for (const index of devices.keys()) if (index < 101) await setPlan(index, "broken");
    const stateOf = async (index: number) =>
      (await control.receipt(accessScope, sent[index]!.thingId, sent[index]!.id)).state;
    clock.nowMs += 30_000;
    await settleDue();
    assert.deepEqual([failed.length, await stateOf(0), await stateOf(101)], [101, "sending", "expired"]);
    await settleDue();
    elapsed.ms = 1_999;
    await settleDue();
    assert.equal(failed.length, 101, "a command was tried again before its pause had passed");
    elapsed.ms = 2_000;
    await settleDue();
    elapsed.ms = 5_999;
    await settleDue();
    assert.equal(failed.length, 202, "the second pause is not longer than the first");
    for (const index of devices.keys()) if (index < 101) await setPlan(index, plan!);
    elapsed.ms = 6_000;
    await settleDue();
    assert.deepEqual([failed.length, await stateOf(0), await stateOf(100)], [202, "expired", "expired"]);
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

  it("expires at its deadline when the map of its type was changed and the device has written nothing since", async (t) => {
    const { store, clock } = await clockedStore(t);
    const { send, write, state, settleDue, setMap } = await madeOwnThings(store);
    await write({ power: "on" });
    clock.nowMs += 1_000;
    const sent = await send("onOff", "set", { on: true });
    clock.nowMs += 1_000;
    await setMap({ ...lampMap, maker: "Acme" });
    clock.nowMs += 30_000;
    await settleDue();
    assert.equal(await state(sent), "expired");
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

  it("comes from an alert to 1,000 lamps of the user at once, and to no more", async (t) => {
    const { store } = await clockedStore(t);
    const reached: string[] = [];
    const made = await madeOwnThings(store, { lamps: 1_001, onLimitReached: (limit) => void reached.push(limit) });
    const { alerts, accessScope, lamp, devices, write, logged, userId } = made;
    await alerts.add(accessScope, {
      ...{ deviceId: lamp, attributeName: "smoke", operation: "equals", stringThreshold: "yes", threshold: "" },
      ...{ action: "note", targets: [], address: "", message: "" },
      ...{ autoDisarm: true, autoDelete: false, autoDisable: false, isEnabled: true },
      commands: [{ kind: "light", trait: "onOff", command: "set", params: { on: true } }],
    });
    await write({ smoke: "yes" });
    const [last, beyond] = [await logged(devices[999]), await logged(devices[1_000])];
    assert.deepEqual([last.map(({ state }) => state), beyond, reached], [["sending"], [], ["alertCommandsPerCause"]]);
    const entries = await store.read((tx) => tx.log.ofDevice(userId, lamp));
    const { commands, note } = JSON.parse(entries.find(({ kind }) => kind === "alert")!.body);
    assert.deepEqual([commands.length, note], [1_000, "stopped at the limit alertCommandsPerCause"]);
  });

  it("of two alerts that undo each other through the device is sent ten times a minute by each", async (t) => {
    const { store, clock } = await clockedStore(t);
    const reached: string[] = [];
    const { alerts, accessScope, lamp, write, logged, userId } = await madeOwnThings(store, {
      onLimitReached: (limit: string) => void reached.push(limit),
    });
    for (const [seen, on] of [
      ["on", false],
      ["off", true],
    ] as const) {
      await alerts.add(accessScope, {
        ...{ deviceId: lamp, attributeName: "power", operation: "equals", stringThreshold: seen, threshold: "" },
        ...{ action: "note", targets: [], address: "", message: "" },
        ...{ autoDisarm: false, autoDelete: false, autoDisable: false, isEnabled: true },
        commands: [{ kind: "light", trait: "onOff", command: "set", params: { on } }],
      });
    }
    /** The device obeys the newest command until nothing commands it any more. */
    const obey = async () => {
      for (let reports = 0; reports < 100; reports++) {
        const [open] = await store.read((tx) => tx.thingCommands.open(userId, lamp, `t_own_${lamp}`));
        if (!open) return reports;
        clock.nowMs += 1_000;
        await write({ power: JSON.parse(open.command).params.on ? "on" : "off" });
      }
      return assert.fail("the alerts undo each other for ever");
    };
    const sent = async () => (await logged()).filter(({ state }) => state === "sending").length;
    await write({ power: "on" });
    await obey();
    assert.equal(await sent(), 20);
    assert.deepEqual(reached, ["commandingFiringsPerMinute"]);
    const entries = await store.read((tx) => tx.log.ofDevice(userId, lamp));
    const last = entries.findLast(({ kind }) => kind === "alert")!;
    assert.match(JSON.parse(last.body).note, /stopped at the limit commandingFiringsPerMinute/);
    clock.nowMs += 60_000;
    await write({ power: "on" });
    assert.equal(await sent(), 21, "the alert sends no command in the next minute");
  });

  it("has a receipt that only its thing shows, and that is stored with the answer of its request", async (t) => {
    const { store } = await clockedStore(t);
    const { send, control, accessScope, devices, thingId, thingIdOf } = await madeOwnThings(store);
    const sent = await send("onOff", "set", { on: true });
    const receipt = (thing: string, id: string) => control.receipt(accessScope, thing, id);
    assert.equal((await receipt(thingId, sent.id)).id, sent.id);
    for (const id of ["c999", "nonsense", `f${sent.id.slice(1)}`]) {
      await assert.rejects(receipt(thingId, id), { code: "unknown_command" }, id);
    }
    await assert.rejects(receipt(thingIdOf(devices[1]!), sent.id), { code: "unknown_command" });
    await assert.rejects(receipt("t_linked", sent.id), { code: "unknown_thing" });
    const kept: unknown[] = [];
    const command = { trait: "onOff", command: "set", params: { on: false } } as const;
    const other = await control.command(accessScope, thingId, { command, clientId: "app" }, async (tx, receipt) => {
      kept.push(receipt, (await tx.thingCommands.open(accessScope.userId, devices[0]!, thingId)).length);
    });
    assert.deepEqual(kept, [other, 2]);
  });

  it("reaches the things of a kind and room, of one id, and no more than the limit", async (t) => {
    const { store } = await clockedStore(t);
    const { control, userId, devices, thingIdOf } = await madeOwnThings(store, { lamps: 3 });
    const [one, two, three] = devices.map(thingIdOf) as [string, string, string];
    await store.transaction(async (tx) => {
      await tx.devices.rename(userId, devices[1]!, { name: "lamp", room: "Hall" });
      await tx.devices.add({ userId, typeName: "plug", name: "plug", isVirtual: false });
    });
    const reached = (target: object, limit = 9) =>
      store.read((tx) => control.reached(tx, userId, target as never, limit));
    assert.deepEqual(await reached({ kind: "light" }), [one, two, three]);
    assert.deepEqual(await reached({ kind: "light" }, 2), [one, two]);
    assert.deepEqual(await reached({ kind: "light", room: "Hall" }), [two]);
    assert.deepEqual(await reached({ kind: "fan" }), []);
    assert.deepEqual(await reached({ thingId: three }), [three]);
    assert.deepEqual(await reached({ thingId: thingIdOf(999 as never) }), []);
    assert.deepEqual(await reached({ thingId: "t_linked" }), []);
    const command = { trait: "onOff", command: "set", params: { on: true } } as const;
    const admitted = await store.transaction((tx) =>
      control.admit(tx, userId, [three, "t_linked", thingIdOf(999 as never), one], { command, clientId: null }),
    );
    assert.deepEqual(
      new Set(admitted.map(({ thingId, state }) => `${thingId} ${state}`)),
      new Set([`${one} sending`, `${three} sending`]),
    );
  });

  it("reaches all things of a kind, also those of the second page of devices", async (t) => {
    const { store } = await clockedStore(t);
    const { control, userId, devices, thingIdOf } = await madeOwnThings(store, { lamps: 501 });
    const reached = (limit: number) => store.read((tx) => control.reached(tx, userId, { kind: "light" }, limit));
    assert.deepEqual(await reached(600), devices.map(thingIdOf));
    assert.equal((await reached(500)).length, 500);
  });

  it("reads only the devices of the room for which it is meant", async (t) => {
    const { store } = await clockedStore(t);
    const { control, userId, devices, thingIdOf } = await madeOwnThings(store, { lamps: 30 });
    await store.transaction((tx) => tx.devices.rename(userId, devices[20]!, { name: "lamp", room: "Hall" }));
    let read = 0;
    const reached = await store.read(({ users, things, deviceTypeMaps, mappedDevices }) => {
      const page: typeof mappedDevices.page = async (...asked) => {
        const found = await mappedDevices.page(...asked);
        read += found.length;
        return found;
      };
      const tables = { users, things, deviceTypeMaps, mappedDevices: { ...mappedDevices, page } };
      return control.reached(tables, userId, { kind: "light", room: "Hall" }, 99);
    });
    assert.deepEqual([reached, read], [[thingIdOf(devices[20]!)], 1]);
  });

  it("removes old receipts of its thing when it ends, and when it is refused", async (t) => {
    const { store, clock } = await clockedStore(t);
    const { send, write, userId, lamp, thingId, settleDue } = await madeOwnThings(store);
    const old = { userId, deviceId: lamp, thingId, key: "own", command: "{}", plan: null, error: null, clientId: null };
    const ended = { ...old, state: "rejected", requestedMs: 1, settledMs: 1 } as const;
    await store.transaction((tx) => tx.thingCommands.addMany(Array.from({ length: 510 }, () => ended)));
    const count = async () => (await store.read((tx) => tx.thingCommands.ofThing(userId, lamp, thingId, 1_000))).length;
    await send("onOff", "set", { on: true });
    assert.equal(await count(), 511);
    clock.nowMs += 30_000;
    await settleDue();
    assert.equal(await count(), 500);
    await write({ connected: "no" });
    await send("onOff", "set", { on: true });
    assert.equal(await count(), 500);
  });

  it("is settled by the running deadlines, one round after the other, until they stop", async (t) => {
    const { store, clock } = await clockedStore(t);
    const waiting: (() => void)[] = [];
    const runtime = {
      ...processRuntime(silent),
      after: (_: number, act: () => void) => {
        waiting.push(act);
        return () => void waiting.splice(waiting.indexOf(act), 1);
      },
    };
    const { send, state, deadlines } = await madeOwnThings(store, { runtime });
    await deadlines.stop();
    deadlines.start();
    const rounds = async (count: number) => {
      for (let round = 0; round < count; round++) {
        const next = waiting.shift();
        assert.ok(next, "no further round is planned");
        next();
        while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const first = await send("onOff", "set", { on: true });
    await rounds(2);
    assert.equal(await state(first), "sending");
    clock.nowMs += 30_000;
    await rounds(1);
    assert.equal(await state(first), "expired");
    await deadlines.stop();
    assert.deepEqual(waiting, []);
  });
});
