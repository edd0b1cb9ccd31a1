import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { fleetAtWork, leave, portOf, type WorkPlan } from "./fleet-at-work.ts";

export interface ReplacingPlan extends WorkPlan {
  /** How often a node is replaced. */
  readonly times: number;
}

/**
 * Replaces nodes by others at the same addresses, as a supervisor does in an upgrade: each stops as soon as the node before
 * it is ready again. People call through nginx meanwhile: no call fails.
 */
export async function replaceUnderLoad(test: TestContext, plan: ReplacingPlan): Promise<void> {
  const atWork = await fleetAtWork(test, plan);
  const { fleet, work, answers } = atWork;
  await answers(5);
  for (let time = 1; time <= plan.times && work.failures.length === 0; time++) {
    const port = portOf(await leave(test, atWork));
    const { service } = await fleet.startNode(`replacement ${time}`, { port });
    assert.equal((await fetch(`${service.baseUrl}/readyz`)).status, 200);
  }
  await answers(5);
  await work.stop();
  await work.assertNothingLost();
  test.diagnostic(`${work.answered} calls answered, none failed`);
}
