import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, it, type TestContext } from "node:test";
import type { Worker } from "node:worker_threads";
import { PatternCache, type PatternJob } from "../../src/alerts/pattern-cache.ts";
import { PatternsUnavailable } from "../../src/model/errors.ts";
import type { Logger } from "../../src/runtime/runtime.ts";
import { PatternThread, startPatternWorker } from "../../src/service/pattern-thread.ts";

const job = (pattern: string, ...values: string[]): PatternJob => ({
  values,
  questions: values.map((_, valueIndex) => ({ pattern, valueIndex, mostSteps: 1_000 })),
});

const moduleOf = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);

/** A thread, and the sentences of its log. `workers`: how it is started, the last way again and again. */
function madeThread(t: TestContext, ...workers: readonly (() => Worker)[]) {
  const sentences: string[] = [];
  const line = (_: object, sentence: string) => void sentences.push(sentence);
  const report: Logger = { debug: line, info: line, warn: line, error: line };
  const pauses: number[] = [];
  const after = (delayMs: number, act: () => void) => {
    pauses.push(delayMs);
    const timer = setImmediate(act);
    return () => clearImmediate(timer);
  };
  let starts = 0;
  const start = (nth: number) => (workers[nth] ?? workers.at(-1) ?? startPatternWorker)();
  const thread = new PatternThread({ report, after }, () => start(starts++));
  t.after(() => thread.stop());
  return { thread, sentences, pauses, starts: () => starts };
}

/** Answers a job with the length of its pattern, unless the pattern says how the thread shall end. */
const fragile = `
  import { parentPort } from "node:worker_threads";
  parentPort.on("message", ({ questions: [{ pattern }] }) => {
    if (pattern === "exit") process.exit();
    if (pattern === "fail") throw new Error("broken");
    const kept = [];
    while (pattern === "fill") kept.push(new Array(100000).fill(kept.length));
    parentPort.postMessage([{ size: pattern.length, isMatch: true }]);
  });`;

describe("the thread that matches patterns", () => {
  it("gives the answers that would be given in place", async (t) => {
    const { thread, sentences } = madeThread(t);
    const asked = job("(auto-)?away", "away", "home", "auto-away", "x".repeat(900));
    const answers = await thread.run(asked);
    assert.deepEqual(
      answers?.map(({ isMatch }) => isMatch),
      [true, false, true, null],
    );
    assert.deepEqual(answers, new PatternCache().answer(asked));
    assert.deepEqual(await thread.run(asked), answers);
    assert.deepEqual(sentences, []);
  });

  it("loses one job when it ends, whatever the reason is, and the next job starts it again", async (t) => {
    const { thread, sentences } = madeThread(t, () => startPatternWorker(moduleOf(fragile)));
    for (const ending of ["fail", "exit", "fill"]) {
      assert.equal(await thread.run(job(ending, "")), undefined, ending);
      assert.deepEqual(await thread.run(job("fine", "")), [{ size: 4, isMatch: true }], ending);
    }
    const failed = "the thread that matches patterns of alerts has failed";
    assert.deepEqual(sentences, [failed, failed]);
  });

  /** As at a limit of threads: Node.js throws at once, or the thread ends before it runs. */
  const failures: Readonly<Record<string, () => Worker>> = {
    "Node.js throws": () => startPatternWorker(new URL("http://localhost/")),
    "the thread ends": () => {
      const nothing = () => undefined;
      const worker = Object.assign(new EventEmitter(), { ref: nothing, unref: nothing, postMessage: nothing });
      setImmediate(() => worker.emit("error", new Error("ERR_WORKER_INIT_FAILED")) && worker.emit("exit"));
      return worker as unknown as Worker;
    },
  };
  const works = () => startPatternWorker(moduleOf(fragile));

  for (const [kind, fails] of Object.entries(failures)) {
    it(`is started again when its first start has failed: ${kind}`, async (t) => {
      const { thread, sentences, starts } = madeThread(t, fails, works);
      assert.deepEqual(await thread.run(job("fine", "")), [{ size: 4, isMatch: true }]);
      assert.deepEqual([sentences.length, starts()], [1, 2]);
    });

    it(`refuses the job when three starts have failed: ${kind}`, async (t) => {
      const { thread, sentences, starts, pauses } = madeThread(t, fails, fails, fails, works);
      await assert.rejects(thread.run(job("fine", "")), PatternsUnavailable);
      assert.deepEqual([starts(), sentences.length, pauses.length], [3, 3, 2]);
      assert.deepEqual(await thread.run(job("fine", "")), [{ size: 4, isMatch: true }]);
    });
  }

  it("refuses the job in hand and later ones when it is stopped: no change is stored without its alerts", async (t) => {
    const { thread, sentences } = madeThread(t);
    const running = assert.rejects(thread.run(job("x", "x")), { message: "The service is stopping." });
    await thread.stop();
    await running;
    await assert.rejects(thread.run(job("x", "x")), { message: "The service is stopping." });
    assert.deepEqual(sentences, []);
  });
});
