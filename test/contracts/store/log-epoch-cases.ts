import assert from "node:assert/strict";
import { it } from "node:test";
import type { OpenStore } from "../../../src/store/seam.ts";
import { comparePositions, type LogPosition, logStart } from "../../../src/store/tables/log-position.ts";
import { onDatabase, onStore, type StoreHarness } from "./harness.ts";
import { type Home, makeHome } from "./home.ts";

/** Positions and epochs of the log, on which all ids that clients get rely. */
export function logEpochCases(harness: StoreHarness): void {
  it("ends at its last entry, whatever was rolled back since", () =>
    onStore(harness, async (store, database) => {
      const home = await makeHome(store);
      await append(store, home);
      const last = (await store.read((tx) => tx.log.tail(logStart, 100))).at(-1)!.position;
      // After a crash PostgreSQL reissues ids that only aborted transactions had used.
      for (let i = 0; i < 3; i++) await assert.rejects(appendAndFail(store, home), /rolled back/);
      if (harness.kind === "postgres") await database.sql("SELECT pg_current_xact_id()");
      const end = await store.read((tx) => tx.log.end());
      assert.equal(end.transaction, last.transaction);
      assert.equal(comparePositions(end, last), 0);
    }));

  it("ends at its horizon when retention has removed all entries", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      await append(store, home);
      const end = await store.read((tx) => tx.log.end());
      await store.transaction((tx) => tx.log.removeOlder(Number.MAX_SAFE_INTEGER, 1_000));
      assert.deepEqual(await store.read((tx) => tx.log.tail(logStart, 100)), []);
      assert.deepEqual(await store.read((tx) => tx.log.end()), end);
    }));

  it("knows whether it holds an entry at a position", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      await append(store, home);
      const { transaction, id } = await store.read((tx) => tx.log.end());
      const holds = (position: LogPosition) => store.read((tx) => tx.log.holds(position));
      assert.equal(await holds({ transaction, id }), true);
      assert.equal(await holds({ transaction, id: id + 1 }), false);
      assert.equal(await holds({ transaction: transaction + 1, id }), false);
    }));

  it("returns the revocations since a position, and none before it", () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const revoke = (body: string) => append(store, home, { kind: "revocation", body });
      await revoke("old");
      const end = await store.read((tx) => tx.log.end());
      await append(store, home);
      await revoke("new");
      await revoke("newer");
      assert.deepEqual(await store.read((tx) => tx.log.revocations(end, 10)), ["new", "newer"]);
      assert.deepEqual(await store.read((tx) => tx.log.revocations(end, 1)), ["new"]);
    }));

  it("keeps its epoch when it is opened again, and gets a new one after a restore", () =>
    onDatabase(harness, async (database) => {
      const first = await database.open();
      const epoch = await epochOf(first);
      assert.match(epoch.name, /^[0-9a-f]{8}$/);
      assert.equal(epoch.takesOldIds, true);
      await first.close();
      const second = await database.open();
      assert.deepEqual(await epochOf(second), epoch);
      await second.transaction((tx) => tx.logEpoch.renew("deadbeef", true));
      assert.deepEqual(await epochOf(second), { name: "deadbeef", takesOldIds: false });
    }));

  it("marks a queued command as sent after a restore", () =>
    onStore(harness, async (store, database) => {
      const { userId, devices } = await makeHome(store);
      await database.sql(`INSERT INTO commands (user_id, device_id, attribute, thermostat_id, value, state, requested_ms)
        VALUES (${userId}, ${devices[0]}, 1, 't', 'true', 'queued', 5)`);
      await database.sql(`INSERT INTO thing_commands (user_id, device_id, thing_id, external_key, command, state, step,
        requested_ms) VALUES (${userId}, ${devices[0]}, 't', 'thermostat/t', '{}', 'queued', 0, 6)`);
      await store.transaction((tx) => tx.logEpoch.renew("deadbeef", true));
      const [command] = await store.read((tx) => tx.fanRequests.ofDevice(userId, devices[0]!, 1));
      assert.deepEqual([command?.state, command?.sentMs], ["sending", 5]);
      const [toThing] = await store.read((tx) => tx.thingCommands.ofThing(userId, devices[0]!, "t", 1));
      assert.deepEqual([toThing?.state, toThing?.sentMs], ["sending", 6]);
    }));

  it("adds a message to the deliveries of every webhook, before all others", () =>
    onStore(harness, async (store, database) => {
      await database.sql(`INSERT INTO webhooks (owner_id, id, tenant_id, client_id, url, sealed_secret, device_ids,
        attributes, from_transaction, from_entry, created_ms)
        VALUES (7, 'wh_a', 1, 'c', 'https://a.example', '', '[]', '[]', 0, 0, 0),
               (-1, 'wh_b', 1, 'c', 'https://b.example', '', '[]', '[]', 0, 0, 0)`);
      await store.transaction((tx) => tx.deliveries.addToAll({ suffix: "e1", type: "resync", body: "{}" }));
      const look = { after: "", webhooks: 10, perWebhook: 10 };
      const { deliveries: due } = await store.read((tx) => tx.deliveries.due(0, look));
      assert.deepEqual(
        due.map(({ messageId, type, deviceId }) => [messageId, type, deviceId]),
        [
          ["msg_wh_a_e1", "resync", 0],
          ["msg_wh_b_e1", "resync", 0],
        ],
      );
    }));

  if (harness.kind === "postgres") {
    it("gets a new epoch for all nodes when the database was replaced", () =>
      onDatabase(harness, async (database) => {
        const [one, other] = [await database.open(), await database.open()];
        const before = await epochOf(one);
        await database.sql("UPDATE log_epoch SET place = regexp_replace(place, '/[^/]*/', '/00000000/')");
        const epochs = await Promise.all([epochOf(one), epochOf(other), epochOf(one)]);
        assert.notEqual(epochs[0].name, before.name);
        assert.deepEqual(new Set(epochs.map(({ name }) => name)).size, 1);
        assert.equal(epochs[0].takesOldIds, false);
      }));

    it("continues its epoch after a migration to another database", () =>
      onDatabase(harness, async (database) => {
        const store = await database.open();
        const before = await epochOf(store);
        await database.sql("UPDATE log_epoch SET place = ''");
        assert.deepEqual(await epochOf(store), before);
        const [row] = await database.sql<{ place: string }>("SELECT place FROM log_epoch");
        assert.match(row!.place, /^\d+\/[0-9A-F]{8}\/\d+\/\d+$/);
      }));
  }
}

function epochOf(store: OpenStore) {
  return store.read((tx) => tx.logEpoch.current());
}

function append(
  store: OpenStore,
  { userId, devices }: Home,
  { kind = "attribute", body = "{}" }: { readonly kind?: "attribute" | "revocation"; readonly body?: string } = {},
): Promise<void> {
  const deviceId = kind === "revocation" ? null : devices[0]!;
  return store.transaction((tx) => tx.log.append({ userId, deviceId, kind, timeMs: 1_000, body }));
}

function appendAndFail(store: OpenStore, { userId, devices }: Home): Promise<void> {
  return store.transaction(async (tx) => {
    await tx.log.append({ userId, deviceId: devices[0]!, kind: "attribute", timeMs: 1_000, body: "{}" });
    throw new Error("rolled back");
  });
}
