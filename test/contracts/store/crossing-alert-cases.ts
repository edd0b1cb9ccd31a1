import assert from "node:assert/strict";
import { it } from "node:test";
import { type CommitTables, commitOn, type Reaction } from "../../../src/devices/commit.ts";
import { readAttributeBody } from "../../../src/devices/log-entries.ts";
import type { DeviceId } from "../../../src/model/ids.ts";
import type { OpenStore, Store } from "../../../src/store/seam.ts";
import { logStart } from "../../../src/store/tables/log-position.ts";
import { rounds } from "../../set-up/extent.ts";
import { onDatabase, type StoreHarness, type TestDatabase } from "./harness.ts";
import { makeHome, silent } from "./home.ts";

export function crossingAlertCases(harness: StoreHarness): void {
  it(
    "with alerts that trigger each other never deadlocks over all nodes, and the log matches the state",
    { timeout: 120_000 },
    (t) =>
      onDatabase(harness, async (database) => {
        const stores =
          harness.kind === "postgres" ? [await database.open(), await database.open()] : [await database.open()];
        const { userId, devices, byClient } = await makeHome(stores[0]!, { devices: 2 });
        const [one, other] = devices as [DeviceId, DeviceId];
        const lanes = 12;
        const total = rounds({ all: 1_500, few: 144 });
        const runs = { count: 0 };
        const lane = async (lane: number) => {
          const store = counting(stores[lane % stores.length]!, runs);
          const commit = commitOn({ store, reactions: [crossing(one, other, 2)], committed: () => {}, report: silent });
          for (let i = 0; i < total / lanes; i++) {
            const changes = [{ key: `of lane ${lane}`, value: `${i}` }];
            await commit({ userId, cause: byClient, updates: [{ deviceId: lane % 3 ? one : other, changes }] });
          }
        };
        await Promise.all(Array.from({ length: lanes }, (_, i) => lane(i)));
        assert.equal(runs.count, total, "a transaction had to be repeated");

        const log = await stores[0]!.read((tx) => tx.log.tail(logStart, 10 * total));
        assert.equal(log.length, 3 * total);
        for (const deviceId of devices) {
          const entries = log.filter((entry) => entry.deviceId === deviceId);
          assert.ok(
            entries.every(({ timeMs }, i) => i === 0 || timeMs > entries[i - 1]!.timeMs),
            "a device's time did not rise",
          );
          const replayed = new Map(
            entries.flatMap((entry) =>
              readAttributeBody(entry).changes.map(
                ([key, value]) => [key, { key, value, timeMs: entry.timeMs }] as const,
              ),
            ),
          );
          const stored = await stores[0]!.read((tx) => tx.attributes.all(userId, deviceId));
          assert.deepEqual(new Map(stored.map((row) => [row.key, row])), new Map([...replayed].sort()));
        }
        if (harness.kind === "sqlite") return;
        for (const store of stores) await store.close();
        const deadlocks = await deadlocksOf(database.sql, t.signal);
        t.diagnostic(`${total} commits, ${deadlocks} deadlocks, ${runs.count - total} repetitions`);
        assert.equal(deadlocks, 0);
      }),
  );
}

/** A reaction in place of two alerts that write to each other's device. */
export function crossing(one: DeviceId, other: DeviceId, hops: number): Reaction {
  return async (_tx, { deviceId, hop }) =>
    hop >= hops
      ? []
      : [
          {
            deviceId: deviceId === one ? other : one,
            changes: [{ key: "count", value: `${hop}` }],
            cause: { by: "alert", alert: 1, hop: hop + 1 },
          },
        ];
}

function counting(store: OpenStore, runs: { count: number }): Store<CommitTables> {
  return {
    isShared: store.isShared,
    read: (body) => store.read(body),
    transaction: (body, options) =>
      store.transaction((tx) => {
        runs.count += 1;
        return body(tx);
      }, options),
  };
}

/** A connection reports its deadlocks to the statistics at the latest when it ends. */
async function deadlocksOf(sql: TestDatabase["sql"], signal: AbortSignal): Promise<number> {
  const others = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
  while (!signal.aborted && (await sql(others)).length > 0);
  const [row] = await sql<{ deadlocks: number }>(
    "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
  );
  return Number(row!.deadlocks);
}
