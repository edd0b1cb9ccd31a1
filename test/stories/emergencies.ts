import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Latencies } from "../../bench/alarmed-home.ts";
import { type BurningHouse, burningHouse } from "../../bench/burning-house.ts";
import { everydayMs } from "../../bench/ecosystems/noisy-ecosystem.ts";
import { type Deployment, databaseFor } from "../set-up/deployment.ts";
import { killableNodes } from "./killable-nodes.ts";

export interface EmergencyPlan {
  readonly database: Deployment;
  /** The number of accounts that flood the service with changes. */
  readonly others: number;
  readonly emergencies: number;
  /** Within which time each emergency must be reported: the promised two seconds, unless the machine may be busy. */
  readonly deadlineMs?: number;
}

const times = 100;

/**
 * One house has an emergency again and again while all other accounts change a hundred times as often as usual. Each
 * time the event stream, the alert's write, a webhook and a notification to Google report it within the deadline.
 */
export async function soundAlarmsUnderFlood(test: TestContext, plan: EmergencyPlan): Promise<void> {
  const { database, others, deadlineMs = 2_000 } = plan;
  const house = await burningHouse({
    others,
    databaseUrl: await databaseFor(database),
    ...(database === "three nodes" && { run: (settings) => runThreeNodes(test, settings) }),
  });
  test.after(() => house[Symbol.asyncDispose]());
  const { ecosystem } = house;
  await ecosystem.makeNoise(times);
  await ecosystem.untilChanged(others);
  const before = { changes: await ecosystem.changes(), atMs: performance.now() };
  const latencies = await soundAlarms(house, plan.emergencies, deadlineMs, before.changes + 3 * others);
  const flood = (await ecosystem.changes()) - before.changes;
  const seconds = (performance.now() - before.atMs) / 1_000;
  await ecosystem.makeNoise(0);
  const commits = await house.stopAndCount();

  // Checks of the test itself: there was a flood, and the service committed a share of it.
  const usual = (others * seconds) / (everydayMs / 1_000);
  assert.ok(flood > (times / 2) * usual, `only ${(flood / usual).toFixed(0)} times as many changes as usual`);
  assert.ok(commits > flood / 20, `${commits} commits of ${flood} changes`);
  test.diagnostic(
    `${latencies.length} emergencies, ${(flood / usual).toFixed(0)} times the usual changes, ${(commits / seconds).toFixed(0)} commits/s`,
  );
  for (const way of ["alarm", "target", "webhook", "assistant"] as const)
    test.diagnostic(`${way}: ${spreadOf(latencies, way)}`);
}

/** Sounds the alarm at least `emergencies` times, and until the others have had `changes` changes. */
async function soundAlarms(
  house: BurningHouse,
  emergencies: number,
  deadlineMs: number,
  changes: number,
): Promise<readonly Latencies[]> {
  const latencies: Latencies[] = [];
  while (latencies.length < emergencies || (await house.ecosystem.changes()) < changes) {
    latencies.push(await house.soundAlarm(deadlineMs));
  }
  return latencies;
}

function spreadOf(latencies: readonly Latencies[], way: keyof Latencies): string {
  const sorted = latencies.map((one) => one[way]).sort((a, b) => a - b);
  return `p50 ${sorted[sorted.length >> 1]!.toFixed(0)} ms, max ${sorted.at(-1)!.toFixed(0)} ms`;
}

async function runThreeNodes(test: TestContext, settings: Readonly<Record<string, string>>) {
  const nodes = await killableNodes(test, "three nodes", settings);
  await nodes.start();
  return { url: nodes.baseUrl, [Symbol.asyncDispose]: () => nodes.stop() };
}
