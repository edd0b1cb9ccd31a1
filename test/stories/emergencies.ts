import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type BurningHouse, burningHouse, type Heard } from "../../bench/burning-house.ts";
import { everydayMs } from "../../bench/noisy-ecosystem.ts";
import { type Deployment, databaseFor } from "../set-up/deployment.ts";
import { killableNodes } from "./killable-nodes.ts";

export interface EmergencyPlan {
  readonly database: Deployment;
  /** How many accounts flood the service. */
  readonly others: number;
  readonly emergencies: number;
}

const promisedMs = 2_000;
const times = 100;

/**
 * One house burns again and again while all others change a hundred times as often as they usually do. Each time its
 * event stream, its alert's target and a webhook hear of it before the promised time is over.
 */
export async function burnUnderFlood(test: TestContext, plan: EmergencyPlan): Promise<void> {
  const { database, others, emergencies } = plan;
  const house = await burningHouse({
    others,
    databaseUrl: await databaseFor(database),
    ...(database === "three nodes" && { run: (settings) => runThree(test, settings) }),
  });
  test.after(() => house[Symbol.asyncDispose]());
  const { ecosystem } = house;
  await ecosystem.makeNoise(times);
  await ecosystem.untilChanged(others);
  const before = { changes: await ecosystem.changes(), atMs: performance.now() };
  const heard = await burnAgainAndAgain(house, emergencies, before.changes + 3 * others);
  const flood = (await ecosystem.changes()) - before.changes;
  const seconds = (performance.now() - before.atMs) / 1_000;
  await ecosystem.makeNoise(0);
  const commits = await house.stopAndCount();

  // The flood was one, and the service took part in it.
  const usual = (others * seconds) / (everydayMs / 1_000);
  assert.ok(flood > (times / 2) * usual, `only ${(flood / usual).toFixed(0)} times as many changes as usual`);
  assert.ok(commits > flood / 20, `${commits} commits of ${flood} changes`);
  test.diagnostic(
    `${heard.length} emergencies, ${(flood / usual).toFixed(0)} times the usual changes, ${(commits / seconds).toFixed(0)} commits/s`,
  );
  for (const way of ["alarm", "target", "webhook"] as const) test.diagnostic(`${way}: ${spreadOf(heard, way)}`);
}

/** So often, and until the others have changed so often. */
async function burnAgainAndAgain(house: BurningHouse, emergencies: number, changes: number): Promise<readonly Heard[]> {
  const heard: Heard[] = [];
  while (heard.length < emergencies || (await house.ecosystem.changes()) < changes) {
    heard.push(await house.burn(promisedMs));
  }
  return heard;
}

function spreadOf(heard: readonly Heard[], way: keyof Heard): string {
  const sorted = heard.map((one) => one[way]).sort((a, b) => a - b);
  return `p50 ${sorted[sorted.length >> 1]!.toFixed(0)} ms, max ${sorted.at(-1)!.toFixed(0)} ms`;
}

async function runThree(test: TestContext, settings: Readonly<Record<string, string>>) {
  const nodes = await killableNodes(test, "three nodes", settings);
  await nodes.start();
  return { url: nodes.baseUrl, [Symbol.asyncDispose]: () => nodes.stop() };
}
