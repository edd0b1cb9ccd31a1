import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pastCommits } from "../../src/devices/past-commits.ts";
import { historyLimits, historyOf } from "../../src/events/history.ts";
import type { Store, Transaction } from "../../src/store/seam.ts";
import type { LogEntry } from "../../src/store/tables/log.ts";
import { onStore } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { limitedHome } from "./limited-home.ts";

const allTime = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
const large = Object.fromEntries(["a", "b", "c", "d", "e", "f"].map((name) => [name, "x".repeat(8_000)]));

/** The store, and the pages of the log that were read from it. */
function listening(store: Store<Transaction>) {
  const pages: LogEntry[][] = [];
  const reading: Store<Transaction> = {
    isShared: store.isShared,
    transaction: (body) => store.transaction(body),
    read: (body) =>
      store.read((tx) => {
        const log: Transaction["log"] = {
          ...tx.log,
          changes: async (...asked) => {
            const page = await tx.log.changes(...asked);
            pages.push(page);
            return page;
          },
        };
        return body(new Proxy(tx, { get: (target, name: keyof Transaction) => (name === "log" ? log : target[name]) }));
      }),
  };
  return { pages, reading };
}

describe("a long history", () => {
  it("is read in pages of a bounded size, yields between them, and leaves nothing out", () =>
    onStore(sqliteHarness, async (store) => {
      const { devices, userId, write } = await limitedHome(store);
      const lamp = devices[0]!;
      const isSmall = (i: number) => i < 40;
      for (let i = 0; i < 150; i++) await write(lamp, isSmall(i) ? { power: `${i}` } : { ...large, power: `${i}` });
      const { pages, reading } = listening(store);
      let turns = 0;
      const turn = async () => {
        turns += 1;
      };
      const seen: string[] = [];
      for await (const { body } of pastCommits({ store: reading, turn }, userId, lamp, allTime)) {
        seen.push(JSON.parse(body).changes.find(([key]: [string]) => key === "power")[1]);
      }
      assert.deepEqual(
        seen,
        Array.from({ length: 150 }, (_, i) => `${i}`),
      );
      assert.equal(turns, pages.length - 1);
      // Pages double while commits are small, then hold as many large ones as fit.
      const lengths = pages.map(({ length }) => length);
      assert.deepEqual(lengths.slice(0, 2), [32, 64]);
      assert.ok(lengths.slice(2).every((length) => length < 10));
      const characters = pages.map((page) => page.reduce((sum, { body }) => sum + body.length, 0));
      assert.ok(characters.slice(3).every((count) => count <= 256_000));
    }));

  it("fills a page with a bounded amount of text, and continues after it", () =>
    onStore(sqliteHarness, async (store) => {
      const { devices, userId, write } = await limitedHome(store);
      const lamp = devices[0]!;
      for (let i = 0; i < 60; i++) await write(lamp, large);
      const counts = [];
      for (let fromMs: number | undefined = 0; fromMs !== undefined; ) {
        const page = await historyOf({ store, turn: async () => undefined }, userId, lamp, {
          attributes: [],
          ...allTime,
          fromMs,
        });
        const characters = page.changes.reduce((sum, { value }) => sum + String(value).length, 0);
        assert.ok(characters < historyLimits.characters + 100_000);
        counts.push(page.changes.length);
        fromMs = page.nextFromMs;
      }
      assert.deepEqual(counts, [126, 126, 108]);
    }));

  it("without a match for the filter ends a page after a bounded amount was read", () =>
    onStore(sqliteHarness, async (store) => {
      const { devices, userId, write } = await limitedHome(store);
      const lamp = devices[0]!;
      for (let i = 0; i < 100; i++) await write(lamp, large);
      const question = { attributes: ["absent"], ...allTime };
      const first = await historyOf({ store, turn: async () => undefined }, userId, lamp, question);
      assert.equal(first.changes.length, 0);
      assert.ok(first.nextFromMs !== undefined);
      const rest = await historyOf({ store, turn: async () => undefined }, userId, lamp, {
        ...question,
        fromMs: first.nextFromMs,
      });
      assert.equal(rest.nextFromMs, undefined);
    }));
});
