import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type RecentQuestion, recentEventsOn } from "../../src/events/recent-chains.ts";
import type { LogEntry } from "../../src/store/tables/log.ts";
import type { LogPosition } from "../../src/store/tables/log-position.ts";
import { onStore } from "../contracts/store/harness.ts";
import { makeHome } from "../contracts/store/home.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";

describe("pages of what happened last", () => {
  for (const limit of [1, 2, 3, 50]) {
    it(`show each entry once, also what became of a command of an older page; ${limit} on a page`, () =>
      onStore(sqliteHarness, async (store) => {
        const [home, other] = [await makeHome(store), await makeHome(store, { name: "Bob" })];
        const entry = ({ userId, devices }: typeof home, kind: LogEntry["kind"], body: object): LogEntry => {
          return { userId, deviceId: devices[0]!, kind, timeMs: 1_000, body: JSON.stringify(body) };
        };
        const change = { cause: { by: "ecosystem" }, changes: [] };
        const entries = [
          entry(home, "attribute", change),
          entry(home, "alert", { alert: 7 }),
          entry(home, "thingCommand", { id: 4, alert: 7, state: "queued" }),
          entry(other, "attribute", change),
          entry(home, "attribute", change),
          entry(home, "thingCommand", { id: 4, alert: 7, state: "confirmed" }),
          entry(other, "attribute", change),
        ];
        await store.transaction((tx) => tx.log.appendAll(entries));
        const { recent } = recentEventsOn(store);
        const shownWith = async (question: Omit<RecentQuestion, "limit">) => {
          const shown: number[] = [];
          let before: LogPosition | undefined;
          do {
            const { chains, next } = await recent({ ...question, before, limit });
            assert.ok(chains.length <= limit);
            shown.push(...chains.flatMap(({ steps }) => steps.map(({ position }) => position.id)));
            before = next;
          } while (before !== undefined);
          return shown.toSorted((a, b) => a - b);
        };
        const ids = await store.read(async (tx) => {
          return (await tx.recentLog.before(undefined, {}, 100)).entries
            .map(({ position }) => position.id)
            .toReversed();
        });
        assert.deepEqual(await shownWith({}), ids);
        const ofCommand = [0, 1, 2, 5].map((index) => ids[index]);
        assert.deepEqual(await shownWith({ kind: "thingCommand" }), ofCommand);
      }));
  }
});
