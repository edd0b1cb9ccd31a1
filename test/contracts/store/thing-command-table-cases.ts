import assert from "node:assert/strict";
import { it } from "node:test";
import type { CommandState } from "../../../src/home/command-states.ts";
import type { DeviceId, TriggerId, UserId } from "../../../src/model/ids.ts";
import type { OpenStore } from "../../../src/store/seam.ts";
import type { NewThingCommand, ThingCommandRow } from "../../../src/store/tables/thing-commands.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { type Home, linkOf, makeHome, node, plain } from "./home.ts";

/** A command to a thing of this home's first device, as the gate adds it. */
function commandOf(home: Home, fields: Partial<NewThingCommand> = {}): NewThingCommand {
  return {
    userId: home.userId,
    deviceId: home.devices[0]!,
    thingId: "t_hall",
    key: "thermostat/hall",
    command: '{"trait":"fanTimer","command":"start","params":{}}',
    plan: "{}",
    state: "queued",
    error: null,
    clientId: "client",
    requestedMs: 1_000,
    settledMs: null,
    ...fields,
  };
}

export function thingCommandTableCases(harness: StoreHarness): void {
  it("store a command to a thing and its outcome", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 2 });
      const ofAlert = commandOf(home, { clientId: null, alertId: 7 as TriggerId });
      assert.equal((await added(store, ofAlert)).alertId, 7);
      const row = await added(store, commandOf(home));
      assert.deepEqual(row, {
        ...commandOf(home),
        alertId: null,
        dueMs: null,
        id: row.id,
        step: 0,
        sentMs: null,
        blockedUntilMs: null,
      });
      const change = {
        state: "rejected",
        plan: '{"steps":[]}',
        step: 2,
        error: '{"code":"refused"}',
        sentMs: 1,
        settledMs: 2,
        blockedUntilMs: Number.MAX_SAFE_INTEGER,
      } as const;
      assert.equal(await store.transaction((tx) => tx.thingCommands.change(row, ["queued"], change)), true);
      assert.deepEqual(await again(store, row), { ...row, ...change });
      assert.equal(await store.transaction((tx) => tx.thingCommands.change(row, ["queued"], change)), false);
      const { userId, deviceId, id } = row;
      await store.read(async (tx) => {
        assert.equal(await tx.thingCommands.find(userId, home.devices[1]!, id), undefined);
        assert.equal(await tx.thingCommands.find((userId + 1) as UserId, deviceId, id), undefined);
        assert.equal(await tx.thingCommands.blockedUntil(userId, deviceId, row.key), Number.MAX_SAFE_INTEGER);
        assert.equal(await tx.thingCommands.blockedUntil(userId, deviceId, "thermostat/other"), null);
      });
    }));

  it("store many commands at once in their order, and find those of several devices that have not ended", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 3 });
      const { userId, devices } = home;
      const commands = Array.from({ length: 205 }, (_, i) =>
        commandOf(home, { deviceId: devices[i % 2]!, state: i === 3 ? "rejected" : "sending", requestedMs: i }),
      );
      const ids = await store.transaction((tx) => tx.thingCommands.addMany(commands));
      await store.read(async (tx) => {
        for (const index of [0, 3, 99, 100, 204]) {
          const row = await tx.thingCommands.find(userId, devices[index % 2]!, ids[index]!);
          assert.equal(row?.requestedMs, index);
        }
        const open = (await tx.thingCommands.openOf(userId, devices.slice(1))).map(({ id }) => id);
        assert.deepEqual(
          open,
          ids.filter((_, i) => i % 2 === 1 && i !== 3),
        );
        assert.deepEqual(await tx.thingCommands.openOf((userId + 1) as typeof userId, devices), []);
      });
      assert.deepEqual(await store.transaction((tx) => tx.thingCommands.addMany([])), []);
    }));

  it("find commands to own things by their deadline, and leave them to it", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const own = { key: "own", state: "sending", step: 1, sentMs: 1_000 } as const;
      const late = await added(store, commandOf(home, { ...own, dueMs: 3_000 }));
      const soon = await added(store, commandOf(home, { ...own, dueMs: 2_000 }));
      const linked = await added(store, commandOf(home, { state: "sending" }));
      assert.deepEqual([late.dueMs, late.sentMs, late.step], [3_000, 1_000, 1]);
      const ids = (rows: readonly ThingCommandRow[]) => rows.map(({ id }) => id);
      await store.read(async (tx) => {
        assert.deepEqual(ids(await tx.thingCommands.due(1_999, 9)), []);
        assert.deepEqual(ids(await tx.thingCommands.due(3_000, 9)), [soon.id, late.id]);
        assert.deepEqual(ids(await tx.thingCommands.due(3_000, 1)), [soon.id]);
        assert.deepEqual(ids(await tx.thingCommands.due(3_000, 9, { dueMs: 2_000, id: soon.id })), [late.id]);
        assert.deepEqual(ids(await tx.thingCommands.due(3_000, 9, { dueMs: 3_000, id: late.id })), []);
        const always = Number.MAX_SAFE_INTEGER;
        assert.deepEqual(ids(await tx.thingCommands.overdue(always, always, always, 9)), [linked.id]);
      });
      await store.transaction((tx) => tx.thingCommands.change(soon, ["sending"], { state: "confirmed" }));
      assert.deepEqual(ids(await store.read((tx) => tx.thingCommands.due(3_000, 9))), [late.id]);
    }));

  it("let only one of many concurrent transactions mark a command as sent", () =>
    onStore(harness, async (store) => {
      const row = await added(store, commandOf(await makeHome(store)));
      const marks = await Promise.all(
        Array.from({ length: 8 }, (_, sentMs) =>
          store.transaction((tx) => tx.thingCommands.change(row, ["queued"], { state: "sending", step: 1, sentMs })),
        ),
      );
      assert.equal(marks.filter(Boolean).length, 1);
    }));

  it("give the first command that waits for each thing of a node's links, and none behind one that is being sent", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const link = linkOf(home, node("a"));
      await store.transaction((tx) => tx.links.add(link));
      const [hall, behind] = [await added(store, commandOf(home)), await added(store, commandOf(home))];
      const attic = await added(store, commandOf(home, { thingId: "t_attic", key: "thermostat/attic" }));
      const heads = (name: string, limit = 10) =>
        store.read(async (tx) => (await tx.thingCommands.queuedFor(node(name), limit)).map(({ id }) => id));
      assert.deepEqual(await heads("a"), [hall.id, attic.id]);
      assert.deepEqual(await heads("a", 1), [hall.id]);
      assert.deepEqual(await heads("b"), []);
      await changed(store, hall, "sending");
      assert.deepEqual(await heads("a"), [attic.id]);
      await changed(store, { ...hall, state: "sending" }, "accepted");
      assert.deepEqual(await heads("a"), [behind.id, attic.id]);
    }));

  it("tell which commands of a thing run, have not ended, or wait for an echo", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const states: readonly CommandState[] = [
        "queued",
        "sending",
        "accepted",
        "confirmed",
        "contradicted",
        "rejected",
        "expired",
      ];
      const rows = new Map<string, ThingCommandRow>();
      for (const state of states) {
        const row = await added(store, commandOf(home));
        await changed(store, row, state, { sentMs: state === "queued" ? null : 100 });
        rows.set(state, row);
      }
      const settled = await added(store, commandOf(home));
      await changed(store, settled, "accepted", { sentMs: 100, settledMs: 200 });
      await added(store, commandOf(home, { thingId: "t_attic", key: "thermostat/attic" }));
      const { userId, deviceId } = settled;
      const ids = (found: readonly ThingCommandRow[]) => found.map(({ id }) => id);
      const idsOf = (...names: readonly CommandState[]) => names.map((name) => rows.get(name)!.id);
      await store.read(async ({ thingCommands }) => {
        assert.deepEqual(
          ids(await thingCommands.open(userId, deviceId, "t_hall")),
          idsOf("queued", "sending", "accepted"),
        );
        assert.deepEqual(
          ids(await thingCommands.running(userId, deviceId, "thermostat/hall")),
          idsOf("queued", "sending"),
        );
        assert.deepEqual(
          ids(await thingCommands.awaitingEcho(userId, deviceId, 99)),
          idsOf("sending", "accepted", "expired"),
        );
        assert.deepEqual(await thingCommands.awaitingEcho(userId, deviceId, 100), []);
        assert.deepEqual(ids(await thingCommands.ofThing(userId, deviceId, "t_hall", 2)), [
          settled.id,
          rows.get("expired")!.id,
        ]);
      });
    }));

  it("find overdue commands by the time of their request or of their sending", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const late = await added(store, commandOf(home, { requestedMs: 100 }));
      await added(store, commandOf(home, { requestedMs: 101 }));
      const sending = await added(store, commandOf(home, { requestedMs: 200 }));
      await changed(store, sending, "sending", { sentMs: 205 });
      const accepted = await added(store, commandOf(home, { requestedMs: 299 }));
      await changed(store, accepted, "accepted", { sentMs: 300 });
      const settled = await added(store, commandOf(home, { requestedMs: 299 }));
      await changed(store, settled, "accepted", { sentMs: 300, settledMs: 400 });
      const overdue = (limit: number) =>
        store.read(async (tx) => (await tx.thingCommands.overdue(100, 200, 300, limit)).map(({ id }) => id));
      assert.deepEqual(await overdue(10), [late.id, sending.id, accepted.id]);
      assert.deepEqual(await overdue(2), [late.id, sending.id]);
    }));

  it("remove old receipts, but none of a command that has not ended or still blocks its thing", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const rows: ThingCommandRow[] = [];
      for (let i = 0; i < 8; i++) rows.push(await added(store, commandOf(home)));
      await changed(store, rows[0]!, "sending", { sentMs: 1 });
      await changed(store, rows[1]!, "accepted", { sentMs: 1 });
      await changed(store, rows[2]!, "accepted", { sentMs: 1, settledMs: 2 });
      await changed(store, rows[3]!, "rejected", { settledMs: 2, blockedUntilMs: 5_001 });
      for (const row of rows.slice(4)) await changed(store, row, "confirmed", { settledMs: 2, blockedUntilMs: 5_000 });
      const { userId, deviceId } = rows[0]!;
      await store.transaction((tx) => tx.thingCommands.trim(userId, deviceId, 3, 5_000));
      const kept = await store.read((tx) => tx.thingCommands.ofThing(userId, deviceId, "t_hall", 10));
      const expected = [0, 1, 3, 5, 6, 7].map((index) => rows[index]!.id).reverse();
      assert.deepEqual(
        kept.map(({ id }) => id),
        expected,
      );
    }));

  it("are removed with their device and their user", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 3 });
      for (const deviceId of home.devices) await added(store, commandOf(home, { deviceId }));
      const [first, second, third] = home.devices as readonly [DeviceId, DeviceId, DeviceId];
      const count = async (deviceId: DeviceId) =>
        (await store.read((tx) => tx.thingCommands.ofThing(home.userId, deviceId, "t_hall", 10))).length;
      assert.equal(await store.transaction((tx) => tx.thingCommands.removeOfDevice(home.userId, first)), 1);
      assert.deepEqual([await count(first), await count(second)], [0, 1]);
      // A node of the version before removes only the device.
      await store.transaction((tx) => tx.devices.remove(home.userId, second));
      assert.deepEqual([await count(second), await count(third)], [0, 1]);
      assert.equal(await store.transaction((tx) => tx.thingCommands.removeOfUser(home.userId)), 1);
    }));
}

async function added(store: OpenStore, command: NewThingCommand): Promise<ThingCommandRow> {
  const id = await store.transaction((tx) => tx.thingCommands.add(command));
  const row = await store.read((tx) => tx.thingCommands.find(command.userId, command.deviceId, id));
  return plain(row) as ThingCommandRow;
}

async function again(store: OpenStore, { userId, deviceId, id }: ThingCommandRow) {
  return plain(await store.read((tx) => tx.thingCommands.find(userId, deviceId, id)));
}

async function changed(
  store: OpenStore,
  row: ThingCommandRow,
  state: CommandState,
  change: Partial<Pick<ThingCommandRow, "sentMs" | "settledMs" | "blockedUntilMs">> = {},
): Promise<void> {
  await store.transaction((tx) => tx.thingCommands.change(row, [row.state], { state, ...change }));
}
