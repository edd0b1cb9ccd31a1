import assert from "node:assert/strict";
import { it } from "node:test";
import { commitOn } from "../../../src/devices/commit.ts";
import { readAttributeBody } from "../../../src/devices/log-entries.ts";
import { attributesSince, attributesWithValues, type ReadAttribute } from "../../../src/devices/read.ts";
import { DeviceStates } from "../../../src/devices/states.ts";
import type { DeviceId, UserId } from "../../../src/model/ids.ts";
import { rounds } from "../../set-up/extent.ts";
import { onDatabase, type StoreHarness } from "./harness.ts";
import { makeHome, silent } from "./home.ts";

const writers = 8;

export function sinceCases(harness: StoreHarness): void {
  const perWriter = harness.kind === "sqlite" ? rounds({ all: 120, few: 40 }) : rounds({ all: 80, few: 30 });

  it("misses no change of 8 writers while the clock jumps back an hour", { timeout: 120_000 }, (t) =>
    onDatabase(harness, async (database) => {
      const store = await database.open();
      const { userId, devices, byClient } = await makeHome(store);
      const deviceId = devices[0]!;
      // On a shared store the reader is on another node, whose cache sees no commit.
      const reading = store.isShared ? await database.open() : store;
      const states = new DeviceStates(reading);
      const committed = store.isShared ? () => {} : states.apply.bind(states);
      const commit = commitOn({ store, reactions: [], committed, report: silent });

      let written = 0;
      const write = async (writer: number) => {
        for (let i = 0; i < perWriter; i++) {
          // One attribute that is written once, and one that all writers overwrite.
          const changes = [
            { key: `${writer} ${i}`, value: `${i}` },
            { key: "latest", value: i % 5 === 4 ? null : `${writer} ${i}` },
          ];
          await commit({ userId, cause: byClient, updates: [{ deviceId, changes }] });
          if (++written === (writers * perWriter) / 2) await database.jumpClock(-3_600_000);
        }
      };
      const poller = new Poller(states, userId, deviceId);
      const all = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer))).finally(() =>
        poller.stop(),
      );
      await Promise.all([all, poller.run()]);

      const stored = await reading.read((tx) => tx.attributes.all(userId, deviceId));
      const present = stored.map(({ key, value, timeMs }) => ({ key, value, updateTimeMs: timeMs }));
      assert.deepEqual(poller.known, new Map(present.map((attribute) => [attribute.key, attribute])));
      const log = await reading.read((tx) => tx.log.ofDevice(userId, deviceId));
      assert.equal(log.length, writers * perWriter);
      assert.equal(new Set(log.map(({ timeMs }) => timeMs)).size, log.length, "two commits had one time");
      for (const entry of log) {
        const [[key]] = readAttributeBody(entry).changes as [[string, string]];
        assert.equal(poller.known.get(key)?.updateTimeMs, entry.timeMs, `${key} was missed`);
      }
      const state = await states.get(userId, deviceId);
      assert.deepEqual(
        attributesWithValues(state!),
        present.filter(({ value }) => value !== null),
      );
      t.diagnostic(`${log.length} writes, ${poller.polls} polls, ${poller.answers} of them with news`);
      assert.ok(poller.answers > 1);
    }),
  );
}

/** A client that polls with the largest time it has seen. */
class Poller {
  readonly known = new Map<unknown, ReadAttribute>();
  polls = 0;
  answers = 0;
  readonly #states: DeviceStates;
  readonly #userId: UserId;
  readonly #deviceId: DeviceId;
  #since = 0;
  #isStopped = false;

  constructor(states: DeviceStates, userId: UserId, deviceId: DeviceId) {
    this.#states = states;
    this.#userId = userId;
    this.#deviceId = deviceId;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** The last poll begins after the last write was acknowledged. */
  async run(): Promise<void> {
    while (!this.#isStopped) {
      await this.#poll();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await this.#poll();
  }

  async #poll(): Promise<void> {
    const state = await this.#states.get(this.#userId, this.#deviceId);
    const news = attributesSince(state!, this.#since);
    for (const attribute of news) {
      this.known.set(attribute.key, attribute);
      this.#since = Math.max(this.#since, attribute.updateTimeMs);
    }
    this.polls += 1;
    if (news.length > 0) this.answers += 1;
  }
}
