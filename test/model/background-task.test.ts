import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { StoreUnavailable } from "../../src/model/errors.ts";
import { BackgroundTask } from "../../src/runtime/background-task.ts";
import { type ManualRuntime, manualRuntime } from "../federation/manual-runtime.ts";

describe("a repeated task that fails", () => {
  let runtime: ManualRuntime;
  let counted: string[];
  let task: BackgroundTask;

  beforeEach(() => {
    runtime = manualRuntime();
    counted = [];
    const countFailure = (name: string) => void counted.push(name);
    task = new BackgroundTask("sweep", "it could not be swept", { ...runtime, countFailure });
  });

  it("is counted each time, and reported at once and then less and less often, but never for the last time", async () => {
    const reportedAfterS: number[] = [];
    for (let second = 0; second < 4 * 3_600; second++) {
      const before = runtime.logLines.length;
      task.failed(new TypeError("a mistake"));
      if (runtime.logLines.length > before) reportedAfterS.push(second);
      await runtime.advance(1_000);
    }
    assert.equal(counted.length, 4 * 3_600);
    assert.deepEqual(reportedAfterS.slice(0, 5), [0, 10, 30, 70, 150]);
    assert.ok(reportedAfterS.at(-1)! >= 3 * 3_600, "it is still reported after hours");
    assert.ok(reportedAfterS.length < 20);
  });

  it("is reported at once again after it has succeeded", async () => {
    task.failed(new TypeError("a mistake"));
    task.succeeded();
    task.failed(new TypeError("a mistake"));
    assert.equal(runtime.logLines.length, 2);
  });

  it("is logged as an error, but as a warning while the store is down", () => {
    task.failed(new TypeError("a mistake"));
    task.succeeded();
    task.failed(new StoreUnavailable("down"));
    assert.deepEqual(
      runtime.logLines.map(({ level }) => level),
      ["error", "warn"],
    );
  });
});
