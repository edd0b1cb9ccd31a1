import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { numbersFrom } from "../set-up/seeded-random.ts";
import { assertMirrors } from "./expected-attributes.ts";
import { type Deployment, eventually, type World, world } from "./world.ts";

export interface FaultEpisodes {
  readonly database: Deployment;
  readonly seed: number;
  readonly episodes: number;
}

/** The faults of an episode; each is removed at its end. */
const faults: readonly ((story: World, chance: number) => void)[] = [
  ({ proxy }) => proxy.drop(),
  ({ proxy }) => Object.assign(proxy, { mood: "cut" }),
  ({ proxy }) => Object.assign(proxy, { mood: "drip" }),
  ({ proxy }) => [proxy.drop(), Object.assign(proxy, { mood: "closed" })],
  ({ proxy }, chance) => Object.assign(proxy, { delayMs: 50 * chance }),
  ({ simulator }, chance) =>
    simulator.addFault({ fault: "malformed", kind: kinds[Math.floor(chance * kinds.length)]! }),
  ({ simulator }) => simulator.addFault({ fault: "duplicate" }),
  ({ simulator }) => simulator.addFault({ fault: "cut-mid-frame", times: 2 }),
  ({ simulator }) => simulator.addFault({ fault: "out-of-size", megabytes: 3, times: 1 }),
  ({ simulator, proxy }) => [simulator.addFault({ fault: "server-error" }), proxy.drop()],
  ({ simulator, proxy }) => [simulator.addFault({ fault: "too-many-requests" }), proxy.drop()],
  ({ simulator, proxy }) => [simulator.addFault({ fault: "redirect-loop" }), proxy.drop()],
  ({ simulator, proxy }) => [simulator.addFault({ fault: "redirect-foreign", host: "127.0.0.1:9" }), proxy.drop()],
  ({ simulator }) => simulator.addFault({ fault: "stream-error" }),
];
const kinds = [
  "bad-json",
  "cr-lf",
  "bom",
  "nul",
  "multi-line",
  "split-utf8",
  "patch",
  "null-data",
  "prototype",
  "deep",
];

/**
 * Episodes of faults between the service and the ecosystem, while the home keeps changing. After each episode the
 * account is mirrored exactly and the link is live. Over all episodes times rise strictly.
 */
export async function runFaultEpisodes(t: TestContext, { database, seed, episodes }: FaultEpisodes): Promise<void> {
  const structures = [
    { thermostats: 3, alarms: 3 },
    { name: "Lake House", thermostats: 1, alarms: 1 },
  ];
  const story = await world(t, { database, seed, structures, hasProxy: true, clockSpeed: 20 });
  const deviceId = await story.link();
  const isHealthy = async () => {
    const { body: map } = await story.client.largeStrings(deviceId);
    const shown = await story.client.device(deviceId);
    assertMirrors(shown, story.simulator.document(story.accountId), map);
    assert.equal(shown.presenceInfo, "1");
  };
  const random = numbersFrom(seed);
  for (let episode = 0; episode < episodes; episode++) {
    faults[Math.floor(random() * faults.length)]!(story, random());
    const steps = 1 + Math.floor(random() * 20);
    await story.simulator.playScene(story.accountId, { scene: "random", steps, separately: true });
    Object.assign(story.proxy, { mood: "open", delayMs: 0 });
    story.simulator.clearFaults();
    await eventually(t.signal, isHealthy);
  }
  const log = await story.service.parts.store.read((tx) => tx.log.ofDevice(story.userId, deviceId));
  const times = log.filter(({ kind }) => kind === "attribute").map(({ timeMs }) => timeMs);
  assert.ok(
    times.every((timeMs, i) => i === 0 || timeMs > times[i - 1]!),
    "a time did not rise",
  );
  const status = await story.client.linkStatus();
  t.diagnostic(`${episodes} episodes, ${times.length} commits, ${status.blindIntervals.length} blind intervals`);
}
