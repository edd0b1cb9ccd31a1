import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { attributeEntry, thingEntry } from "../../src/devices/log-entries.ts";
import type { ThingChange } from "../../src/devices/thing-writes.ts";
import { historyLimits, historyOf } from "../../src/events/history.ts";
import { type ThingHistoryQuery, thingHistoryOf } from "../../src/events/thing-history.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import { onStore } from "../contracts/store/harness.ts";
import { type Home, makeHome } from "../contracts/store/home.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";

const cause = { by: "ecosystem" } as const;
const changed = (thingId: string, what: ThingChange["what"], state?: string): ThingChange => ({
  thingId,
  what,
  fields: state === undefined ? [] : [{ trait: "smoke", field: "state", value: state }],
});

describe("the history of a thing", () => {
  it("has the thing's changes of every commit, with attributes or without, and filters them by field and by time", () =>
    onStore(sqliteHarness, async (store) => {
      const home = await makeHome(store, { devices: 2 });
      await commit(store, home, 1, [changed("t_hall", "added", "clear"), changed("t_attic", "added", "clear")]);
      await commit(store, home, 2, [changed("t_attic", "state", "alarm")]);
      await commit(store, home, 3, [changed("t_hall", "state", "alarm")], true);
      await commit(store, home, 4, [], true);
      await commit(store, home, 5, [changed("t_hall", "gone")]);
      const shown = async (query: Partial<ThingHistoryQuery> = {}) =>
        (await historyOn(store, home, query)).changes.map(({ what, fields, updateTimeMs }) =>
          [updateTimeMs, what, fields["smoke.state"]].join(" "),
        );
      assert.deepEqual(await shown(), ["1 added clear", "3 state alarm", "5 gone "]);
      assert.deepEqual(await shown({ fields: ["smoke.state"] }), ["1 added clear", "3 state alarm"]);
      assert.deepEqual(await shown({ fields: ["smoke.word"] }), []);
      assert.deepEqual(await shown({ fromMs: 3, toMs: 5 }), ["3 state alarm"]);
      assert.deepEqual((await historyOn(store, home)).changes[1]?.cause, cause);
      const ofDevice = { attributes: [], fromMs: 0, toMs: 100 };
      const device = await historyOf(parts(store), home.userId, home.devices[0]!, ofDevice);
      assert.deepEqual(
        device.changes.map(({ updateTimeMs }) => updateTimeMs),
        [3, 4],
        "the history of the device has attributes alone",
      );
    }));

  it("has pages of a bounded number of commits, which omit nothing", () =>
    onStore(sqliteHarness, async (store) => {
      const home = await makeHome(store);
      const { commits } = historyLimits;
      await store.transaction(async (tx) => {
        for (let timeMs = 1; timeMs <= commits; timeMs++) {
          await tx.log.append(
            thingEntry(home.userId, home.devices[0]!, timeMs, [changed("t_attic", "state", "clear")], cause),
          );
        }
      });
      await commit(store, home, commits + 1, [changed("t_hall", "state", "alarm")]);
      const first = await historyOn(store, home);
      assert.deepEqual(first, { changes: [], nextFromMs: commits + 1 });
      const { changes, nextFromMs } = await historyOn(store, home, { fromMs: first.nextFromMs! });
      assert.deepEqual([changes.length, nextFromMs], [1, undefined]);
    }));

  it("keeps entries of one time together, since a change of a map can share the time of a commit", () =>
    onStore(sqliteHarness, async (store) => {
      const home = await makeHome(store);
      const { changes: fullPage } = historyLimits;
      // Two entries for each time but the first, so that full pages of the log and of the answer end between two.
      const times = Array.from({ length: fullPage + 2 }, (_, n) => Math.ceil(n / 2) + 1);
      const entryAt = (timeMs: number) =>
        thingEntry(home.userId, home.devices[0]!, timeMs, [changed("t_hall", "state", "alarm")], cause);
      await store.transaction((tx) => tx.log.appendAll(times.map(entryAt)));
      const first = await historyOn(store, home);
      assert.equal(first.changes.length, fullPage + 1);
      const second = await historyOn(store, home, { fromMs: first.nextFromMs! });
      assert.deepEqual(
        [...first.changes, ...second.changes].map(({ updateTimeMs }) => updateTimeMs),
        times,
      );
    }));
});

function parts(store: OpenStore) {
  return { store, turn: async () => undefined };
}

function historyOn(store: OpenStore, { userId, devices }: Home, query: Partial<ThingHistoryQuery> = {}) {
  const thing = { userId, deviceId: devices[0]!, thingId: "t_hall" };
  return thingHistoryOf(parts(store), thing, { fields: [], fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, ...query });
}

async function commit(
  store: OpenStore,
  { userId, devices }: Home,
  timeMs: number,
  things: readonly ThingChange[],
  hasAttributes = false,
): Promise<void> {
  const [deviceId] = devices;
  const attributes = [{ key: "level", value: "7" }];
  const entry = hasAttributes
    ? attributeEntry(userId, deviceId!, timeMs, cause, attributes, things)
    : thingEntry(userId, deviceId!, timeMs, things, cause);
  await store.transaction((tx) => tx.log.append(entry));
}
