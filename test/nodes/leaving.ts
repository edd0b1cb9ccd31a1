import type { TestContext } from "node:test";
import { fleetAtWork, leave, portOf, type WorkPlan } from "./fleet-at-work.ts";

export interface LeavingPlan extends WorkPlan {
  /** How many nodes stop, one after the other; each is replaced by a new one. */
  readonly times: number;
}

/** Nodes are stopped and replaced while people call through nginx: no call fails. */
export async function leaveUnderLoad(test: TestContext, plan: LeavingPlan): Promise<void> {
  const atWork = await fleetAtWork(test, plan);
  const { fleet, work, answers } = atWork;
  for (let time = 1; time <= plan.times && work.failures.length === 0; time++) {
    await answers(5);
    const left = await leave(test, atWork);
    await answers(5);
    if (time < plan.times) await fleet.startNode(`another ${time}`, { port: portOf(left) });
  }
  await work.stop();
  await work.assertNothingLost();
  test.diagnostic(`${work.answered} calls answered, none failed`);
}
