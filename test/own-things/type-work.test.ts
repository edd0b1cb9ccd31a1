import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { alertsOn } from "../../src/alerts/alerts.ts";
import { commitOn } from "../../src/devices/commit.ts";
import { commitGroupOn } from "../../src/devices/commit-group.ts";
import { DeviceStates } from "../../src/devices/states.ts";
import { deviceWriting } from "../../src/devices/write.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { OwnThings } from "../../src/own-things/own-things.ts";
import { thingReading } from "../../src/own-things/thing-reading.ts";
import { TypeWork, type TypeWorkParts } from "../../src/own-things/type-work.ts";
import { describeIn } from "../../src/provisioning/description.ts";
import { deviceTypesOn } from "../../src/provisioning/device-types.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import { heldPatterns } from "../alerts/made-matching.ts";
import { makeHome, silent } from "../contracts/store/home.ts";
import { watchedStore } from "../devices/watched-store.ts";
import { clockedStore, noonMs } from "./clocked-store.ts";
import { lampMap, plainIds } from "./made-own-things.ts";

const silentMap = { ...lampMap, online: { silentAfterSeconds: 60 } };
/** How often a type with this silence limit is examined: ten times within the limit. */
const roundMs = 6_000;

/** Lamps of one type, and the background work on the type, which each test runs itself. */
async function madeType(t: TestContext, lamps = 3) {
  const { store, clock } = await clockedStore(t);
  const home = await makeHome(store, { devices: lamps });
  const { tenantId, userId } = home;
  /** Devices for which no log entry can be made: `thingIdOf` throws. */
  const failing = new Set<DeviceId>();
  const ownThings = new OwnThings({
    ...plainIds,
    thingIdOf(deviceId) {
      if (failing.has(deviceId)) throw new Error("a defect");
      return plainIds.thingIdOf(deviceId);
    },
  });
  const states = new DeviceStates(store);
  const alerts = alertsOn({ store, ownThings });
  const committed = (commits: Parameters<typeof states.apply>[0]) => {
    states.apply(commits);
    alerts.afterCommit(commits);
  };
  const parts = { store, ownThings, reactions: [alerts.react], committed, report: silent };
  const failures: string[] = [];
  const elapsed = { ms: 0, perCall: 0 };
  const runtime = {
    ...processRuntime(silent),
    elapsedMs: () => {
      elapsed.ms += elapsed.perCall;
      return elapsed.ms;
    },
    after: (_: number, act: () => void) => processRuntime(silent).after(0, act),
    countFailure: (task: string) => void failures.push(task),
  };
  const work = (change: Partial<TypeWorkParts> = {}) =>
    new TypeWork({ store, commitGroup: commitGroupOn(parts), ownThings, runtime, ...change });
  const writing = deviceWriting(store, commitOn(parts));
  const accessScope = { kind: "user", userId } as const;
  const only = work();
  return {
    ...home,
    ...{ store, clock, alerts, states, failures, failing, elapsed, work, runtime, accessScope, run: () => only.run() },
    parts,
    types: deviceTypesOn(store, ownThings.maps),
    tenantId,
    read: (deviceId: DeviceId) => thingReading(store, ownThings).find(accessScope, plainIds.thingIdOf(deviceId)),
    write: (deviceId: DeviceId, name: string, value: string) => writing.write(accessScope, deviceId, [{ name, value }]),
    /** The log entries about a device's thing, oldest first. */
    async logged(deviceId: DeviceId) {
      const entries = await store.read((tx) => tx.log.ofDevice(userId, deviceId));
      return entries
        .filter(({ kind }) => kind === "thing")
        .map(({ timeMs, body }) => {
          const { things, cause } = JSON.parse(body);
          return { timeMs, cause: cause?.by, what: things[0].what, fields: things[0].fields };
        });
    },
  };
}

describe("a change of a trait map", () => {
  it("is logged for each device of the type once: added, changed, gone", async (t) => {
    const { types, tenantId, devices, run, logged } = await madeType(t, 120);
    const whats = async (index: number) => (await logged(devices[index]!)).map(({ what }) => what);
    await types.set(tenantId, "lamp", lampMap);
    assert.deepEqual(await whats(0), [], "the request itself logs nothing: there may be a million devices");
    await run();
    await run();
    for (const index of [0, 49, 50, 119]) assert.deepEqual(await whats(index), ["added"], `device ${index}`);
    await types.set(tenantId, "lamp", { ...lampMap, maker: "Acme" });
    await run();
    await types.set(tenantId, "lamp", { ...lampMap, maker: "Acme" });
    await run();
    assert.deepEqual(await whats(119), ["added", "changed"], "an equal map is no change");
    await types.remove(tenantId, "lamp");
    await run();
    assert.deepEqual(await whats(0), ["added", "changed", "gone"]);
    assert.equal(
      (await logged(devices[0]!)).at(-1)!.cause,
      "administrator",
      "the log names the administrator as the cause",
    );
  });

  it("that follows before the first is logged shares its entry: added stays added, a removal is gone", async (t) => {
    const { types, tenantId, devices, run, logged } = await madeType(t);
    await types.set(tenantId, "lamp", lampMap);
    await types.set(tenantId, "lamp", { ...lampMap, maker: "Acme" });
    await run();
    assert.deepEqual(
      (await logged(devices[0]!)).map(({ what }) => what),
      ["added"],
    );
    await types.set(tenantId, "lamp", lampMap);
    await types.remove(tenantId, "lamp");
    await run();
    assert.deepEqual(
      (await logged(devices[0]!)).map(({ what }) => what),
      ["added", "gone"],
    );
  });

  it("is left to the node that works on it, and taken over by another node when the lease has ended", async (t) => {
    const { types, tenantId, devices, store, clock, logged, work } = await madeType(t);
    await types.set(tenantId, "lamp", lampMap);
    const [row] = await store.read((tx) => tx.deviceTypeWork.due(clock.nowMs, 9));
    const other = { ...row!, dueMs: clock.nowMs + 60_000 };
    assert.equal(await store.transaction((tx) => tx.deviceTypeWork.advance(row!, other)), true);
    await work().run();
    assert.deepEqual(await logged(devices[0]!), []);
    clock.nowMs += 60_000;
    await Promise.all([work().run(), work().run()]);
    assert.deepEqual(
      (await logged(devices[2]!)).map(({ what }) => what),
      ["added"],
    );
  });

  it("is not logged for a device that is removed while the work runs", async (t) => {
    const { types, tenantId, userId, devices, store, logged, work } = await madeType(t);
    const [removed, kept] = devices as [DeviceId, DeviceId];
    await types.set(tenantId, "lamp", lampMap);
    let reads = 0;
    const racing: typeof store = Object.assign(Object.create(store), {
      transaction: (...given: Parameters<typeof store.transaction>) => store.transaction(...given),
      async read(...given: Parameters<typeof store.read>) {
        const found = await store.read(...given);
        // The second read finds the devices of the type.
        if (++reads === 2) await store.transaction((tx) => tx.devices.remove(userId, removed));
        return found;
      },
    });
    await work({ store: racing }).run();
    assert.ok(reads >= 2);
    assert.deepEqual([await logged(removed), (await logged(kept)).length], [[], 1]);
  });

  it("is looked for once a second, one round after the other, until the work stops", async (t) => {
    const { types, tenantId, devices, logged, work, runtime } = await madeType(t);
    const waiting: { readonly delayMs: number; readonly act: () => void }[] = [];
    const after = (delayMs: number, act: () => void) => {
      // Pauses between transactions pass at once.
      if (delayMs < 1_000) return runtime.after(0, act);
      const one = { delayMs, act };
      waiting.push(one);
      return () => void waiting.splice(waiting.indexOf(one), 1);
    };
    const neverStarted = work({ runtime: { ...runtime, after } });
    await neverStarted.stop();
    const started = work({ runtime: { ...runtime, after } });
    started.start();
    await types.set(tenantId, "lamp", lampMap);
    for (let round = 0; round < 2; round++) {
      const [next, ...more] = waiting.splice(0);
      assert.deepEqual([next?.delayMs, more], [1_000, []]);
      next!.act();
      while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal((await logged(devices[0]!)).length, 1);
    await started.stop();
    assert.deepEqual(waiting, []);
  });

  it("that can't be logged does not stop the work on other types, and waits for the end of its lease", async (t) => {
    const { types, tenantId, userId, devices, store, run, logged, failures, failing } = await madeType(t);
    const device = { userId, typeName: "broken", name: "broken", isVirtual: false };
    failing.add(await store.transaction((tx) => tx.devices.add(device)));
    await types.set(tenantId, "broken", lampMap);
    await types.set(tenantId, "lamp", lampMap);
    await run();
    assert.deepEqual([failures, (await logged(devices[0]!)).length], [["own_things"], 1]);
    failing.clear();
    await run();
    assert.equal(failures.length, 1, "it was tried again before its lease had ended");
  });
});

describe("an own device that writes nothing for longer than its silence limit", () => {
  it("is logged as unavailable once for each silence, with the time that the thing shows, and fires alerts", async (t) => {
    const { types, tenantId, devices, clock, run, logged, write, read, alerts, accessScope, states, userId } =
      await madeType(t);
    const [quiet, busy, never] = devices as [DeviceId, DeviceId, DeviceId];
    await types.set(tenantId, "lamp", silentMap);
    await run();
    const alert = await alerts.onThings.add(accessScope, {
      ...{ thingId: plainIds.thingIdOf(quiet), field: "onOff.available", operation: "equals" },
      ...{ stringThreshold: "false", threshold: "", action: "note", targets: [], address: "", message: "" },
      ...{ autoDisarm: false, autoDelete: false, autoDisable: false, isEnabled: true },
    });
    for (const lamp of [quiet, busy]) await write(lamp, "power", "on");
    const writtenMs = (await states.get(userId, quiet))!.device.lastTimeMs;
    clock.nowMs += 60_000;
    await write(busy, "power", "on");
    await run();
    assert.deepEqual((await logged(quiet)).length, 1, "the limit is not exceeded yet");
    clock.nowMs += roundMs;
    await run();
    clock.nowMs += roundMs;
    await run();
    const available = { "onOff.available": false, "brightness.available": false };
    const { fields, timeMs, cause, what } = (await logged(quiet)).at(-1)!;
    assert.deepEqual([what, fields, timeMs, cause], ["state", available, writtenMs + 60_000, undefined]);
    assert.equal((await logged(quiet)).length, 2, "the silence was logged twice");
    assert.deepEqual((await read(quiet)).state.onOff?.available, [false, timeMs]);
    assert.equal((await logged(busy)).length, 1);
    assert.equal((await logged(never)).length, 1, "a device that has never written is not logged as silent");
    assert.equal((await states.get(userId, quiet))!.device.lastTimeMs, writtenMs);
    assert.equal((await alerts.onThings.find(accessScope, alert.id)).firings, 1);
    await write(quiet, "power", "on");
    assert.equal((await read(quiet)).state.onOff?.available?.[0], true);
    clock.nowMs += 60_001 + roundMs;
    await run();
    assert.deepEqual((await logged(quiet)).length, 3, "the next silence was not logged");
  });

  it("is not heard by a new name or room: it stays or turns unavailable as if it had kept them", async (t) => {
    const { types, tenantId, userId, devices, clock, run, logged, write, read, store, parts } = await madeType(t);
    const [quiet, soon, never] = devices as [DeviceId, DeviceId, DeviceId];
    await types.set(tenantId, "lamp", silentMap);
    await run();
    const describeAll = (name: string) =>
      store.transaction(async (tx) => {
        for (const id of devices) await describeIn(tx, userId, id, { name, room: name }, parts.ownThings);
      });
    const available = async (id: DeviceId) => (await read(id)).state.onOff!.available;
    const silences = async (id: DeviceId) =>
      (await logged(id)).filter(({ fields }) => fields?.["onOff.available"] === false).map(({ timeMs }) => timeMs);
    await write(quiet, "power", "on");
    clock.nowMs += 50_000;
    await write(soon, "power", "on");
    clock.nowMs += 10_001;
    await run();
    await describeAll("first");
    await describeAll("second");
    assert.deepEqual(await available(quiet), [false, noonMs + 60_000]);
    assert.deepEqual([await available(soon), (await available(never))![0]], [[true, noonMs + 50_000], false]);
    clock.nowMs += 50_000;
    await run();
    clock.nowMs += 60_001 + roundMs;
    await run();
    assert.deepEqual(await Promise.all(devices.map(silences)), [[noonMs + 60_000], [noonMs + 110_000], []]);
    assert.deepEqual(await available(soon), [false, noonMs + 110_000]);
    await write(quiet, "power", "on");
    assert.deepEqual(await available(quiet), [true, clock.nowMs]);
    const { timeMs, kind, body } = (await store.read((tx) => tx.log.ofDevice(userId, quiet))).at(-1)!;
    assert.deepEqual(
      [timeMs, kind, JSON.parse(body).things[0].fields["onOff.available"]],
      [clock.nowMs, "attribute", true],
    );
  });

  it("is written together with others in a few statements, and alone when an alert watches its thing", async (t) => {
    const { types, tenantId, devices, clock, work, run, logged, write, alerts, accessScope, store, parts } =
      await madeType(t, 60);
    await types.set(tenantId, "lamp", silentMap);
    await run();
    const watched = devices[30]!;
    const alert = await alerts.onThings.add(accessScope, {
      ...{ thingId: plainIds.thingIdOf(watched), field: "onOff.available", operation: "equals" },
      ...{ stringThreshold: "false", threshold: "", action: "attribute", address: "", message: "" },
      ...{ targets: [{ deviceId: devices[0]!, attributeName: "note", value: "lamp 31 is silent" }] },
      ...{ autoDisarm: false, autoDelete: false, autoDisable: false, isEnabled: true },
    });
    for (const lamp of devices) await write(lamp, "power", "on");
    clock.nowMs += 60_001 + roundMs;
    const observed = watchedStore(store);
    await work({ commitGroup: commitGroupOn({ ...parts, store: observed }) }).run();
    const silences = observed.statements.filter(({ name }) => name === "devices.setSilent");
    assert.deepEqual(
      silences.map(({ parameters }) => (parameters[1] as readonly DeviceId[]).length),
      [49, 1, 10],
    );
    for (const lamp of devices) assert.equal((await logged(lamp)).length, 2, `lamp ${lamp}`);
    assert.equal((await alerts.onThings.find(accessScope, alert.id)).firings, 1);
    const [note] = await store.read((tx) => tx.attributes.some(accessScope.userId, devices[0]!, ["note"]));
    assert.equal(note?.value, "lamp 31 is silent");
  });

  it("is written in several short transactions when many of the devices are watched by alerts", async (t) => {
    const { types, tenantId, devices, clock, work, run, logged, write, alerts, accessScope, store, parts, elapsed } =
      await madeType(t, 12);
    await types.set(tenantId, "lamp", silentMap);
    await run();
    const alertIds = [];
    for (const lamp of devices) {
      const alert = await alerts.onThings.add(accessScope, {
        ...{ thingId: plainIds.thingIdOf(lamp), field: "onOff.available", operation: "equals" },
        ...{ stringThreshold: "false", threshold: "", action: "note", address: "", message: "", targets: [] },
        ...{ autoDisarm: false, autoDelete: false, autoDisable: false, isEnabled: true },
      });
      alertIds.push(alert.id);
      await write(lamp, "power", "on");
    }
    clock.nowMs += 60_001 + roundMs;
    const observed = watchedStore(store);
    // Each reading of the monotonic clock is 2 ms after the one before; a transaction may take 5 ms.
    elapsed.perCall = 2;
    await work({ commitGroup: commitGroupOn({ ...parts, store: observed }) }).run();
    const names = observed.statements.map(({ name }) => name);
    const silences = names.filter((name) => name === "users.lockOfTenant" || name === "devices.setSilent");
    const transaction = ["users.lockOfTenant", ...Array.from({ length: 3 }, () => "devices.setSilent")];
    assert.deepEqual(silences, [...transaction, ...transaction, ...transaction, ...transaction]);
    for (const lamp of devices) assert.equal((await logged(lamp)).length, 2, `lamp ${lamp}`);
    for (const id of alertIds) assert.equal((await alerts.onThings.find(accessScope, id)).firings, 1);
  });

  it("of one type is not delayed by the many of another type that fell silent at the same time", async (t) => {
    const { types, tenantId, devices, clock, work, run, write, alerts, accessScope, store, parts, elapsed } =
      await madeType(t, 12);
    const other = await store.transaction((tx) =>
      tx.devices.add({ userId: accessScope.userId, typeName: "sensor", name: "Cellar", isVirtual: false }),
    );
    for (const type of ["lamp", "sensor"]) await types.set(tenantId, type, silentMap);
    await run();
    for (const lamp of devices) {
      await alerts.onThings.add(accessScope, {
        ...{ thingId: plainIds.thingIdOf(lamp), field: "onOff.available", operation: "equals" },
        ...{ stringThreshold: "false", threshold: "", action: "note", address: "", message: "", targets: [] },
        ...{ autoDisarm: false, autoDelete: false, autoDisable: false, isEnabled: true },
      });
    }
    for (const device of [...devices, other]) await write(device, "power", "on");
    clock.nowMs += 60_001 + roundMs;
    const observed = watchedStore(store);
    // Three devices of the first type fill a transaction.
    elapsed.perCall = 2;
    await work({ commitGroup: commitGroupOn({ ...parts, store: observed }) }).run();
    const silenced = observed.statements
      .filter(({ name }) => name === "devices.setSilent")
      .map(({ parameters }) => ((parameters[1] as readonly DeviceId[]).includes(other) ? "sensor" : "lamp"));
    assert.deepEqual(silenced.slice(0, 4).toSorted(), ["lamp", "lamp", "lamp", "sensor"]);
    assert.equal(silenced.length, 13);
  });

  it("is logged while alerts of another tenant wait for costly patterns, which stopping gives up", {
    timeout: 60_000,
  }, async (t) => {
    const { types, tenantId, userId, devices, clock, work, run, write, alerts, accessScope, store, parts, logged } =
      await madeType(t, 1);
    const [lamp] = devices as [DeviceId];
    const other = await store.transaction(async (tx) => {
      const tenant = (await tx.tenants.add({ name: "other" }))!;
      const user = (await tx.users.add({ tenantId: tenant, name: "Eve", passwordHash: "…", isAdmin: false }))!;
      const id = await tx.devices.add({ userId: user, typeName: "lamp", name: "lamp", isVirtual: false });
      return { tenant, user, id };
    });
    for (const tenant of [tenantId, other.tenant]) await types.set(tenant, "lamp", silentMap);
    await run();
    await alerts.onThings.add(accessScope, {
      ...{ thingId: plainIds.thingIdOf(lamp), field: "onOff.available", operation: "equals" },
      ...{ stringThreshold: "false", threshold: "", action: "note", address: "", message: "", targets: [] },
      ...{ autoDisarm: false, autoDelete: false, autoDisable: false, isEnabled: true },
    });
    const ofOther = { kind: "user", userId: other.user } as const;
    await write(lamp, "power", "on");
    await deviceWriting(store, commitOn(parts)).write(ofOther, other.id, [{ name: "power", value: "on" }]);
    clock.nowMs += 60_001 + roundMs;
    const held = heldPatterns((commit) => commit.userId === userId);
    const commitGroup = commitGroupOn({ ...parts, reactions: [held.react] });
    const silences = async (user: typeof userId, id: DeviceId) =>
      (await store.read((tx) => tx.log.ofDevice(user, id))).filter(({ body }) =>
        body.includes('"onOff.available":false'),
      ).length;
    const stopped = work({ commitGroup });
    await stopped.run();
    await stopped.run();
    assert.deepEqual([await silences(other.user, other.id), await silences(userId, lamp), held.waiting()], [1, 0, 1]);
    await stopped.stop();
    const count = (await logged(lamp)).length;
    clock.nowMs += 60_000;
    const waiting = work({ commitGroup });
    await waiting.run();
    held.release();
    while ((await logged(lamp)).length === count) {
      await new Promise((resolve) => setImmediate(resolve));
      await waiting.run();
    }
    assert.equal(await silences(userId, lamp), 1);
    await waiting.stop();
  });

  it("is logged while alerts of other users of the same type wait for costly patterns", {
    timeout: 60_000,
  }, async (t) => {
    const { types, tenantId, clock, work, run, alerts, store, parts } = await madeType(t, 1);
    /** The first two have cheap patterns. */
    const users = await store.transaction((tx) =>
      Promise.all(
        Array.from({ length: 20 }, async (_, nth) => {
          const userId = (await tx.users.add({ tenantId, name: `Bob ${nth}`, passwordHash: "…", isAdmin: false }))!;
          const lamp = await tx.devices.add({ userId, typeName: "lamp", name: "lamp", isVirtual: false });
          return { userId, lamp, accessScope: { kind: "user", userId } as const };
        }),
      ),
    );
    await types.set(tenantId, "lamp", silentMap);
    await run();
    const writing = deviceWriting(store, commitOn(parts));
    const turnOn = ({ accessScope, lamp }: (typeof users)[number]) =>
      writing.write(accessScope, lamp, [{ name: "power", value: "on" }]);
    for (const user of users) {
      await alerts.onThings.add(user.accessScope, {
        ...{ thingId: plainIds.thingIdOf(user.lamp), field: "onOff.available", operation: "equals" },
        ...{ stringThreshold: "false", threshold: "", action: "note", address: "", message: "", targets: [] },
        ...{ autoDisarm: false, autoDelete: false, autoDisable: false, isEnabled: true },
      });
      await turnOn(user);
    }
    const held = heldPatterns(({ userId }) => users.findIndex((user) => user.userId === userId) >= 2);
    const tried: number[] = [];
    const waiting = work({
      commitGroup: commitGroupOn({
        ...parts,
        reactions: [
          (...given) => {
            tried.push(given[1].userId);
            return held.react(...given);
          },
        ],
      }),
    });
    /** How often the silence of each user's lamp was logged: of the two with cheap patterns, and of all others. */
    const silences = async () => {
      const counts = [];
      for (const { userId, lamp } of users) {
        const entries = await store.read((tx) => tx.log.ofDevice(userId, lamp));
        counts.push(entries.filter(({ body }) => body.includes('"onOff.available":false')).length);
      }
      const [first, second, ...others] = counts;
      return [first, second, others.reduce((sum, count) => sum + count)];
    };
    clock.nowMs += 60_001 + roundMs;
    await waiting.run();
    while (held.waiting() < 16) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(await silences(), [1, 1, 0]);
    tried.length = 0;
    await turnOn(users[1]!);
    clock.nowMs += 60_001 + roundMs;
    await waiting.run();
    assert.deepEqual([await silences(), held.waiting()], [[1, 2, 0], 16], "the type is examined meanwhile");
    assert.equal(new Set(tried).size, 3, "the users who wait already are not tried again");
    held.release();
    while ((await silences())[2]! < 18) {
      clock.nowMs += roundMs;
      await waiting.run();
    }
    await waiting.stop();
    assert.deepEqual(await silences(), [1, 2, 18]);
  });

  it("can keep one round busy: failures count for each look, and types without work are found meanwhile", async (t) => {
    const made = await madeType(t, 12);
    const { types, tenantId, userId, devices, clock, work, run, write, alerts, accessScope, store, elapsed } = made;
    const broken = (typeName: string) =>
      store.transaction((tx) => tx.devices.add({ userId, typeName, name: "broken", isVirtual: false }));
    for (const typeName of ["broken", "broken later"]) made.failing.add(await broken(typeName));
    await types.set(tenantId, "lamp", silentMap);
    await run();
    for (const lamp of devices) {
      await alerts.onThings.add(accessScope, {
        ...{ thingId: plainIds.thingIdOf(lamp), field: "onOff.available", operation: "equals" },
        ...{ stringThreshold: "false", threshold: "", action: "note", address: "", message: "", targets: [] },
        ...{ autoDisarm: false, autoDelete: false, autoDisable: false, isEnabled: true },
      });
      await write(lamp, "power", "on");
    }
    clock.nowMs += 60_001 + roundMs;
    await types.set(tenantId, "broken", lampMap);
    const reported: string[] = [];
    const report = { ...silent, error: (_: object, sentence: string) => void reported.push(sentence) };
    const commitGroup = commitGroupOn(made.parts);
    let transactions = 0;
    // Three devices fill a transaction, and each one is followed by a look for work.
    elapsed.perCall = 2;
    const busy = work({
      runtime: { ...made.runtime, report },
      async commitGroup(body, priority, options) {
        transactions += 1;
        elapsed.ms += 1_000;
        if (transactions === 2) await types.set(tenantId, "broken later", lampMap);
        if (transactions === 4) {
          elapsed.ms += 3_600_000;
          await store.transaction((tx) => tx.deviceTypeMaps.put(tenantId, "sensor", JSON.stringify(silentMap)));
        }
        return commitGroup(body, priority, options);
      },
    });
    await busy.run();
    assert.deepEqual([transactions, reported.length], [4, 2]);
    const rows = await store.read((tx) => tx.deviceTypeWork.due(Number.MAX_SAFE_INTEGER, 9));
    assert.equal(rows.length, 4, "the lamps, both broken types, and the type that an older version has left");
  });

  it("keeps its type to the node that works on it, however long its devices take, and new work takes part", async (t) => {
    const { types, tenantId, devices, clock, work, run, write, store, parts, elapsed, accessScope } = await madeType(
      t,
      120,
    );
    const other = await store.transaction((tx) =>
      tx.devices.add({ userId: accessScope.userId, typeName: "sensor", name: "Cellar", isVirtual: false }),
    );
    await types.set(tenantId, "lamp", silentMap);
    await run();
    for (const device of [...devices, other]) await write(device, "power", "on");
    clock.nowMs += 60_001 + roundMs;
    const [lamps] = await store.read((tx) => tx.deviceTypeWork.due(clock.nowMs, 9));
    const due: (readonly number[])[] = [];
    const commitGroup = commitGroupOn(parts);
    // Each transaction takes 40 seconds. The second type is due only after the first one.
    elapsed.perCall = 0;
    await work({
      async commitGroup(body, priority) {
        if (due.length === 0) await types.set(tenantId, "sensor", silentMap);
        const result = await commitGroup(body, priority);
        elapsed.ms += 40_000;
        clock.nowMs += 40_000;
        due.push((await store.read((tx) => tx.deviceTypeWork.due(clock.nowMs, 9))).map(({ typeId }) => typeId));
        return result;
      },
    }).run();
    assert.ok(due.length >= 3, `${due.length} transactions`);
    assert.ok(
      due.every((types) => !types.includes(lamps!.typeId)),
      "the lease never ends",
    );
    const silences = await store.read((tx) => tx.log.ofDevice(accessScope.userId, other));
    assert.ok(silences.some(({ kind, body }) => kind === "thing" && body.includes("onOff.available")));
  });

  it("is found within two minutes also when the search before it took long, as with a stalled store", async (t) => {
    const { types, tenantId, devices, run, logged, write, clock, elapsed } = await madeType(t);
    const [lamp] = devices as [DeviceId];
    await types.set(tenantId, "lamp", silentMap);
    await write(lamp, "power", "on");
    // Each reading of the monotonic clock is a minute after the one before.
    elapsed.perCall = 60_000;
    await run();
    elapsed.perCall = 0;
    clock.nowMs += 120_000;
    await run();
    assert.deepEqual((await logged(lamp)).at(-1)?.fields, { "onOff.available": false, "brightness.available": false });
  });

  it("is looked for ten times within the limit", async (t) => {
    const { types, tenantId, clock, run, store } = await madeType(t);
    await types.set(tenantId, "lamp", silentMap);
    await run();
    const due = (afterMs: number) => store.read((tx) => tx.deviceTypeWork.due(clock.nowMs + afterMs, 9));
    assert.deepEqual([(await due(roundMs - 1)).length, (await due(roundMs)).length], [0, 1]);
  });

  it("is looked for also after the clock was set back", async (t) => {
    const { types, tenantId, clock, run, store, devices, logged, userId } = await madeType(t);
    const [lamp] = devices as [DeviceId];
    await types.set(tenantId, "lamp", silentMap);
    await run();
    clock.nowMs -= 3_600_000;
    await store.transaction((tx) => tx.devices.setLastTime(userId, lamp, clock.nowMs));
    clock.nowMs += 121_000;
    await run();
    assert.deepEqual((await logged(lamp)).at(-1)?.fields, { "onOff.available": false, "brightness.available": false });
  });

  it("is found in a type whose map an older version of Breezeway set, until the map has no limit", async (t) => {
    const { tenantId, devices, store, clock, work, logged, write, types } = await madeType(t);
    const [lamp] = devices as [DeviceId];
    await store.transaction((tx) => tx.deviceTypeMaps.put(tenantId, "lamp", JSON.stringify(silentMap)));
    await write(lamp, "power", "on");
    clock.nowMs += 61_000;
    await work().run();
    assert.deepEqual(
      (await logged(lamp)).map(({ what }) => what),
      ["state"],
    );
    await types.set(tenantId, "lamp", lampMap);
    await work().run();
    assert.deepEqual(await store.read((tx) => tx.deviceTypeWork.due(Number.MAX_SAFE_INTEGER, 9)), []);
  });
});
