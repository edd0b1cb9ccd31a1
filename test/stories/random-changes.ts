import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { readAttributeBody } from "../../src/devices/log-entries.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { attributeName } from "../../src/virtual-device/attribute-names.ts";
import { numbersFrom } from "../set-up/seeded-random.ts";
import { assertMirrors } from "./expected-attributes.ts";
import { type Deployment, eventually, type World, world } from "./world.ts";

export interface RandomChanges {
  readonly database: Deployment;
  readonly seed: number;
  readonly changes: number;
  /** The number of times that the changes stop and everything is compared. */
  readonly quietPoints: number;
}

/**
 * Seeded random changes from the simulator over its stream into the store, with streams dropped at random. At each quiet
 * point the virtual device equals the account's document, attribute by attribute, and the log replayed from the start
 * gives the same state.
 */
export async function followRandomChanges(test: TestContext, plan: RandomChanges): Promise<void> {
  const structures = [
    { name: "Town house", thermostats: 4, alarms: 3 },
    { name: "Summer house", thermostats: 2, alarms: 2 },
  ];
  const story = await world(test, { database: plan.database, seed: plan.seed, structures });
  const deviceId = await story.link();
  const random = numbersFrom(plan.seed);
  let left = plan.changes;
  for (let point = 1; point <= plan.quietPoints; point++) {
    const steps =
      point === plan.quietPoints ? left : Math.round((left / (plan.quietPoints - point + 1)) * (0.5 + random()));
    left -= steps;
    if (steps > 0) await playWithDrops(story, steps, random);
    await eventually(test.signal, async () => {
      const { body: map } = await story.client.largeStrings(deviceId);
      assertMirrors(await story.client.device(deviceId), story.simulator.document(story.accountId), map);
      // Between two commits of a short alarm the device can equal the document while the log is a moment ahead.
      await assertLogReplaysToState(story, deviceId);
    });
  }
  assert.equal(left, 0);
  const log = await story.service.parts.store.read((tx) => tx.log.ofDevice(story.userId, deviceId));
  test.diagnostic(`${plan.changes} changes, ${log.length} log entries`);
}

async function playWithDrops(story: World, steps: number, random: () => number): Promise<void> {
  for (let left = steps; left > 0; ) {
    const some = Math.min(left, 1 + Math.floor(random() * 60));
    await story.simulator.playScene(story.accountId, { scene: "random", steps: some, separately: true });
    left -= some;
    if (random() < 0.2) story.simulator.drop(story.accountId);
  }
}

async function assertLogReplaysToState({ service, userId, client }: World, deviceId: DeviceId): Promise<void> {
  const entries = await service.parts.store.read((tx) => tx.log.ofDevice(userId, deviceId));
  const replayed = new Map<string, { readonly value: string; readonly updTime: number }>();
  let lastMs = 0;
  for (const entry of entries.filter(({ kind }) => kind === "attribute")) {
    assert.ok(entry.timeMs > lastMs, "a time in the log did not rise");
    lastMs = entry.timeMs;
    for (const [key, value] of readAttributeBody(entry).changes) {
      const name = attributeName(key as number);
      if (value === null) replayed.delete(name);
      else replayed.set(name, { value, updTime: entry.timeMs });
    }
  }
  const shown = (await client.device(deviceId)).attributes;
  assert.deepEqual(new Map([...replayed].sort()), new Map([...shown].sort()));
}
