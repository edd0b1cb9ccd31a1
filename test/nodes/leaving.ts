import type { TestContext } from "node:test";
import { fleetAtWork, leave, portOf, type WorkPlan } from "./fleet-at-work.ts";

export interface LeavingPlan extends WorkPlan {
  /** How many nodes leave, one after the other; another takes the place of each. */
  readonly times: number;
}

/** Nodes are told to stop while people work through nginx, and others take their place: nobody notices. */
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
