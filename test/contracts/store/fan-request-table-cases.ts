import assert from "node:assert/strict";
import { it } from "node:test";
import type { CommandState } from "../../../src/home/command-states.ts";
import type { DeviceId, UserId } from "../../../src/model/ids.ts";
import type { OpenStore } from "../../../src/store/seam.ts";
import type { FanRequestRow, FanRequestTable } from "../../../src/store/tables/fan-requests.ts";
import { onStore, type StoreHarness } from "./harness.ts";
import { type Home, linkOf, makeHome, node, plain } from "./home.ts";

type NewCommand = Parameters<FanRequestTable["add"]>[0];

const request = 17;

/** A fan request for this home's first device, as the gate adds it. */
function commandOf(home: Home, fields: Partial<NewCommand> = {}): NewCommand {
  return {
    userId: home.userId,
    deviceId: home.devices[0]!,
    attribute: request,
    thermostatId: "t1",
    value: "true",
    state: "queued",
    text: null,
    requestedMs: 1_000,
    settledMs: null,
    ...fields,
  };
}

export function fanRequestTableCases(harness: StoreHarness): void {
  it("store a fan request and its outcome", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 2 });
      const { userId } = home;
      const deviceId = home.devices[0]!;
      const id = await store.transaction((tx) => tx.fanRequests.add(commandOf(home)));
      const expected: FanRequestRow = { ...commandOf(home), id, sentMs: null, blockedUntilMs: null };
      const find = () => store.read((tx) => tx.fanRequests.find(userId, deviceId, id));
      assert.deepEqual(plain(await find()), expected);

      const largest = Number.MAX_SAFE_INTEGER;
      const change = {
        state: "rejected",
        text: "No, never",
        sentMs: 1,
        settledMs: 2,
        blockedUntilMs: largest,
      } as const;
      const changed = await store.transaction((tx) => tx.fanRequests.change(expected, ["queued", "sending"], change));
      assert.equal(changed, true);
      assert.deepEqual(plain(await find()), { ...expected, ...change });
      await store.read(async (tx) => {
        assert.equal(await tx.fanRequests.find(userId, home.devices[1]!, id), undefined);
        assert.equal(await tx.fanRequests.find((userId + 1) as UserId, deviceId, id), undefined);
        assert.equal(await tx.fanRequests.find(userId, deviceId, id + 1), undefined);
      });
    }));

  it("change a fan request only from the given states, and leave other fields unchanged", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const row = await added(store, commandOf(home));
      const change = (from: readonly CommandState[], state: CommandState) =>
        store.transaction((tx) => tx.fanRequests.change({ ...row, sentMs: 5 }, from, { state }));
      assert.equal(await change(["sending", "accepted"], "expired"), false);
      assert.deepEqual(await again(store, row), row);
      assert.equal(await change(["queued"], "sending"), true);
      assert.deepEqual(await again(store, row), { ...row, state: "sending", sentMs: 5 });
      assert.equal(await change(["queued"], "sending"), false, "nobody sends it a second time");
    }));

  it("let only one of many concurrent transactions mark a fan request as sent", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const row = await added(store, commandOf(home));
      const marks = await Promise.all(
        Array.from({ length: 8 }, (_, sentMs) =>
          store.transaction(async (tx) => {
            await tx.users.lock(home.userId);
            return tx.fanRequests.change(row, ["queued"], { state: "sending", sentMs });
          }),
        ),
      );
      assert.equal(marks.filter(Boolean).length, 1);
    }));

  it("find the latest fan request of a slot, without those that were refused before sending", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 2 });
      const { userId } = home;
      const [deviceId, other] = home.devices as [DeviceId, DeviceId];
      const latest = async () => plain(await store.read((tx) => tx.fanRequests.latest(userId, deviceId, request)));
      assert.equal(await latest(), undefined);
      const first = await added(store, commandOf(home));
      await added(store, commandOf(home, { attribute: request + 7 }));
      await added(store, commandOf(home, { deviceId: other }));
      await added(store, commandOf(home, { state: "rejected", text: "no", settledMs: 1 }));
      assert.deepEqual(await latest(), first);
      const second = await added(store, commandOf(home, { requestedMs: 1 }));
      assert.deepEqual(await latest(), second, "the order of adding counts, not the clock");
      const refusedThere = { state: "rejected", text: "no", sentMs: 9 } as const;
      await store.transaction((tx) => tx.fanRequests.change(second, ["queued"], refusedThere));
      assert.deepEqual(await latest(), { ...second, ...refusedThere }, "one that was sent counts");
    }));

  it("find the accepted fan requests of a slot before another one, without settled ones", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 2 });
      const accept = async (fields: Parameters<typeof commandOf>[1], settledMs: number | null = null) => {
        const row = await added(store, commandOf(home, fields));
        await store.transaction((tx) => tx.fanRequests.change(row, ["queued"], { state: "accepted", settledMs }));
        return row.id;
      };
      const accepted = [await accept({}), await accept({})];
      await accept({ attribute: request + 7 });
      await accept({ deviceId: home.devices[1]! });
      await accept({}, 5);
      await added(store, commandOf(home));
      const latest = await added(store, commandOf(home));
      await accept({});
      const found = await store.read((tx) => tx.fanRequests.acceptedBefore(latest));
      assert.deepEqual(
        found.map(({ id, state }) => [id, state]),
        accepted.map((id) => [id, "accepted"]),
      );
    }));

  it("know until when a thermostat is blocked, in any slot", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 2 });
      const { userId } = home;
      const deviceId = home.devices[0]!;
      const until = (thermostatId: string) =>
        store.read((tx) => tx.fanRequests.blockedUntil(userId, deviceId, thermostatId));
      assert.equal(await until("t1"), null);
      for (const [fields, blockedUntilMs] of [
        [{}, 700],
        [{ attribute: request + 7 }, 900],
        [{}, null],
        [{ thermostatId: "t2" }, 1_100],
        [{ deviceId: home.devices[1]! }, 1_300],
      ] as const) {
        const row = await added(store, commandOf(home, fields));
        await store.transaction((tx) => tx.fanRequests.change(row, ["queued"], { state: "rejected", blockedUntilMs }));
      }
      assert.equal(await until("t1"), 900);
      assert.equal(await until("t2"), 1_100);
      assert.equal(await until("t3"), null);
    }));

  it("list the queued requests of a node's links, oldest first", () =>
    onStore(harness, async (store) => {
      const [home, neighbour] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
      await store.transaction(async (tx) => {
        await tx.links.add(linkOf(home, node("A")));
        await tx.links.add(linkOf(neighbour, node("B")));
      });
      const mine = [await added(store, commandOf(home)), await added(store, commandOf(home, { attribute: 24 }))];
      const theirs = await added(store, commandOf(neighbour));
      await added(store, commandOf(home, { state: "sending" }));
      const queued = async (name: string, limit = 10) =>
        plain(await store.read((tx) => tx.fanRequests.queuedFor(node(name), limit)));
      assert.deepEqual(await queued("A"), mine);
      assert.deepEqual(await queued("A", 1), mine.slice(0, 1));
      assert.deepEqual(await queued("B"), [theirs]);
      assert.deepEqual(await queued("C"), []);
      await store.transaction((tx) => tx.links.claimOrphans(node("C"), [node("A")], 10));
      assert.deepEqual(await queued("A"), []);
      assert.deepEqual(await queued("C"), mine);
    }));

  it("list the overdue requests of all nodes", () =>
    onStore(harness, async (store) => {
      const [home, neighbour] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
      const moved = async (requestedMs: number, sentMs: number, state: CommandState, settledMs: number | null) => {
        const row = await added(store, commandOf(neighbour, { requestedMs }));
        await store.transaction((tx) => tx.fanRequests.change(row, ["queued"], { state, sentMs, settledMs }));
        return row.id;
      };
      const sentAt = (sentMs: number, state: CommandState, settledMs: number | null = null) =>
        moved(1, sentMs, state, settledMs);
      const waiting = (await added(store, commandOf(home, { requestedMs: 100 }))).id;
      await added(store, commandOf(home, { requestedMs: 101 }));
      const sending = await moved(200, 205, "sending", null);
      await moved(201, 202, "sending", null);
      const accepted = await sentAt(300, "accepted");
      await sentAt(301, "accepted");
      await sentAt(1, "accepted", 2);
      for (const state of ["confirmed", "contradicted", "rejected", "expired"] as const) await sentAt(1, state, 2);
      const ids = (limit: number) =>
        store.read(async (tx) => (await tx.fanRequests.overdue(100, 200, 300, limit)).map(({ id }) => id));
      assert.deepEqual(await ids(10), [waiting, sending, accepted]);
      assert.deepEqual(await ids(2), [waiting, sending]);
      const all = await store.read((tx) => tx.fanRequests.overdue(0, Number.MAX_SAFE_INTEGER, 0, 10));
      assert.equal(all.length, 2, "the furthest time is a time");
    }));

  it("keep the newest requests of a device, and older ones that are unsettled or block", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 2 });
      const { userId } = home;
      const [deviceId, other] = home.devices as [DeviceId, DeviceId];
      const settled = { state: "rejected", text: "no", settledMs: 1 } as const;
      const running: number[] = [];
      for (const state of ["queued", "sending", "accepted"] as const) {
        running.push((await added(store, commandOf(home, { state }))).id);
      }
      const blocks: number[] = [];
      for (const blockedUntilMs of [5_000, 5_001]) {
        const row = await added(store, commandOf(home));
        await store.transaction((tx) => tx.fanRequests.change(row, ["queued"], { ...settled, blockedUntilMs }));
        blocks.push(row.id);
      }
      const ids: number[] = [];
      for (let i = 0; i < 6; i++) ids.push((await added(store, commandOf(home, settled))).id);
      for (let i = 0; i < 6; i++) await added(store, commandOf(home, { ...settled, deviceId: other }));
      await store.transaction((tx) => tx.fanRequests.trim(userId, deviceId, 4, 5_000));
      const kept = (id: DeviceId, limit = 100) =>
        store.read(async (tx) => (await tx.fanRequests.ofDevice(userId, id, limit)).map((row) => row.id));
      assert.deepEqual(await kept(deviceId), [...running, blocks[1]!, ...ids.slice(2)].reverse());
      assert.deepEqual(await kept(deviceId, 3), ids.slice(3).reverse());
      assert.equal((await kept(other)).length, 6);
      await store.transaction((tx) => tx.fanRequests.trim(userId, deviceId, 100, 0));
      assert.equal((await kept(deviceId)).length, 8);
    }));

  it("remove the fan requests of a removed device or user, and no others", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store, { devices: 2 });
      const neighbour = await makeHome(store, { name: "Bob" });
      for (const deviceId of home.devices) await added(store, commandOf(home, { deviceId }));
      await added(store, commandOf(home));
      await added(store, commandOf(neighbour));
      const count = async ({ userId }: Home, deviceId: DeviceId) =>
        (await store.read((tx) => tx.fanRequests.ofDevice(userId, deviceId, 10))).length;
      const [first, second] = home.devices as [DeviceId, DeviceId];
      assert.equal(await store.transaction((tx) => tx.fanRequests.removeOfDevice(neighbour.userId, first)), 0);
      assert.equal(await store.transaction((tx) => tx.fanRequests.removeOfDevice(home.userId, first)), 2);
      assert.deepEqual([await count(home, first), await count(home, second)], [0, 1]);
      assert.equal(await store.transaction((tx) => tx.fanRequests.removeOfUser(home.userId)), 1);
      assert.equal(await count(neighbour, neighbour.devices[0]!), 1);
    }));
}

async function added(store: OpenStore, command: NewCommand): Promise<FanRequestRow> {
  const id = await store.transaction((tx) => tx.fanRequests.add(command));
  return { ...command, id, sentMs: null, blockedUntilMs: null };
}

async function again(store: OpenStore, { userId, deviceId, id }: FanRequestRow): Promise<FanRequestRow | undefined> {
  return plain(await store.read((tx) => tx.fanRequests.find(userId, deviceId, id)));
}
