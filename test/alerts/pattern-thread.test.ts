import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { PatternCache, type PatternJob } from "../../src/alerts/pattern-cache.ts";
import type { Logger } from "../../src/runtime/runtime.ts";
import { PatternThread } from "../../src/service/pattern-thread.ts";

const job = (pattern: string, ...values: string[]): PatternJob => ({
  values,
  questions: values.map((_, valueIndex) => ({ pattern, valueIndex, mostSteps: 1_000 })),
});

/** A thread, and the sentences of its log. */
function madeThread(t: TestContext, code?: string | URL) {
  const sentences: string[] = [];
  const line = (_: object, sentence: string) => void sentences.push(sentence);
  const report: Logger = { debug: line, info: line, warn: line, error: line };
  const url = typeof code === "string" ? new URL(`data:text/javascript,${encodeURIComponent(code)}`) : code;
  const thread = url ? new PatternThread(report, url) : new PatternThread(report);
  t.after(() => thread.stop());
  return { thread, sentences };
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
    const { thread, sentences } = madeThread(t, fragile);
    for (const ending of ["fail", "exit", "fill"]) {
      assert.equal(await thread.run(job(ending, "")), undefined, ending);
      assert.deepEqual(await thread.run(job("fine", "")), [{ size: 4, isMatch: true }], ending);
    }
    const failed = "the thread that matches patterns of alerts has failed";
    assert.deepEqual(sentences, [failed, failed]);
  });

  it("that can't be started answers nothing, and says so", async (t) => {
    // Node.js throws at once, as it does at a limit of threads.
    const { thread, sentences } = madeThread(t, new URL("http://localhost/"));
    for (let i = 0; i < 2; i++) assert.deepEqual(await thread.run(job("x", "x")), []);
    assert.equal(sentences.length, 2);
  });

  it("refuses the job in hand and later ones when it is stopped: no change is stored without its alerts", async (t) => {
    const { thread, sentences } = madeThread(t);
    const running = assert.rejects(thread.run(job("x", "x")), { code: "store_unavailable" });
    await thread.stop();
    await running;
    await assert.rejects(thread.run(job("x", "x")), { code: "store_unavailable" });
    assert.deepEqual(sentences, []);
  });
});
