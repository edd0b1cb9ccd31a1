import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ListOutcome, ListPlanner } from "../../../src/ecosystems/google-device-access/list-planner.ts";
import { processRuntime } from "../../../src/runtime/process/process-runtime.ts";
import { silent } from "./harness.ts";

describe("the lists of a Google account", () => {
  it("leave it unsettled from a request until a list that began later has succeeded", async () => {
    const { planner, begin, end } = planned();
    assert.equal(planner.isUnsettled, false);
    planner.request("devices");
    assert.equal(planner.isUnsettled, true);
    begin();
    assert.equal(planner.isUnsettled, true, "while it is fetched");
    planner.request("none");
    await end("failed");
    assert.equal(planner.isUnsettled, true, "after a failure");
    begin();
    planner.request("all");
    await end("listed");
    assert.equal(planner.isUnsettled, true, "requested again meanwhile");
    begin();
    await end("listed");
    assert.equal(planner.isUnsettled, false);
  });

  it("leave it settled while a list that no event called for is fetched, and when it fails", async () => {
    const { planner, begin, end } = planned();
    planner.start();
    begin();
    assert.equal(planner.isUnsettled, false);
    await end("failed");
    assert.equal(planner.isUnsettled, false);
    begin();
    assert.equal(planner.isUnsettled, false, "while it is tried again");
  });
});

/** A planner whose timer fires, and whose lists end, when the test says so. */
function planned() {
  let fire: () => void = () => undefined;
  let answer: (outcome: ListOutcome) => void = () => undefined;
  const runtime = {
    ...processRuntime(silent),
    after: (_: number, act: () => void) => {
      fire = act;
      return () => undefined;
    },
  };
  const list = () =>
    new Promise<ListOutcome>((resolve) => {
      answer = resolve;
    });
  return {
    planner: new ListPlanner({ runtime, relistMs: 3_600_000, list }),
    begin: () => fire(),
    async end(outcome: ListOutcome): Promise<void> {
      answer(outcome);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
