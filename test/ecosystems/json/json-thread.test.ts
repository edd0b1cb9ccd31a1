import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Worker } from "node:worker_threads";
import { limits } from "../../../src/model/limits.ts";
import { JsonThread, readJsonHere, startJsonWorker } from "../../../src/runtime/json/json-thread.ts";
import type { Projection } from "../../../src/runtime/json/projection.ts";
import type { Logger } from "../../../src/runtime/runtime.ts";

const filler = "x".repeat(300_000);
/** A text above the size that is read in place. */
const large = (name: string) => JSON.stringify({ name, filler });
const projection: Projection = { pick: { name: true } };

const moduleOf = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);

/** Answers with the text, unless the text says how the thread shall end. */
const fragile = `
  import { parentPort } from "node:worker_threads";
  parentPort.on("message", ({ content }) => {
    const text = typeof content === "string" ? content : Buffer.from(content.buffer).toString();
    if (text.includes("exit")) process.exit();
    if (text.includes("fail")) throw new Error("broken");
    if (!text.includes("hang")) parentPort.postMessage(JSON.parse(text).name);
  });`;

function madeThread(t: TestContext, startWorker?: () => Worker) {
  const sentences: string[] = [];
  const line = (_: object, sentence: string) => void sentences.push(sentence);
  const report: Logger = { debug: line, info: line, warn: line, error: line };
  let starts = 0;
  const after = (_: number, act: () => void) => {
    const timer = setImmediate(act);
    return () => clearImmediate(timer);
  };
  const thread = new JsonThread({ report, after }, () => {
    starts += 1;
    return (startWorker ?? startJsonWorker)();
  });
  t.after(() => thread.stop());
  return { thread, sentences, starts: () => starts };
}

describe("the thread that reads large JSON", () => {
  it("returns what a read in place returns, from a text and from bytes", async (t) => {
    const { thread, starts, sentences } = madeThread(t);
    const items = Array.from({ length: 30_000 }, (_, id) => ({ id, name: `é ${id}` }));
    const texts = [
      large("à"),
      JSON.stringify(items),
      `${large("cut").slice(0, -1)}`,
      `[${"[".repeat(32)}${"]".repeat(32)},"${filler}"]`,
      `[${"1,".repeat(500_000)}1]`,
    ];
    const each: Projection = { list: { each: projection, limit: 3 }, single: projection };
    const results: unknown[] = [];
    for (const text of texts) {
      const inPlace = await readJsonHere("a", text, each);
      assert.deepEqual(await thread.read("a", text, each), inPlace);
      assert.deepEqual(await thread.read("a", Buffer.from(text), each), inPlace);
      results.push(inPlace);
    }
    const names = [0, 1, 2].map((id) => ({ name: `é ${id}` }));
    assert.deepEqual(results, [{ name: "à" }, names, undefined, undefined, undefined]);
    assert.deepEqual([starts(), sentences], [1, []]);
  });

  it("is not started for small texts, nor for those above 16 MB", async (t) => {
    const { thread, starts } = madeThread(t);
    assert.deepEqual(await thread.read("a", '{"name":"b","c":1}', projection), { name: "b" });
    assert.equal(await thread.read("a", "{", projection), undefined);
    assert.equal(await thread.read("a", "[".repeat(33) + "]".repeat(33), true), undefined);
    assert.equal(await thread.read("a", " ".repeat(limits.untrustedJsonLargeBytes + 1), true), undefined);
    assert.equal(starts(), 0);
  });

  it("reads a text of few bytes and too many values for the event loop", async (t) => {
    const { thread, starts } = madeThread(t);
    const text = JSON.stringify(Array(50_000).fill(1));
    assert.deepEqual(await thread.read("a", text, { each: true, limit: 2 }), [1, 1]);
    assert.equal(starts(), 1);
  });

  it("takes over a Buffer of its own, and copies a part of another's memory", async (t) => {
    const { thread } = madeThread(t);
    const own = Buffer.from(large("own"));
    const shared = Buffer.from(`..${large("part")}..`);
    const part = shared.subarray(2, -2);
    assert.deepEqual(await thread.read("a", own, projection), { name: "own" });
    assert.deepEqual(await thread.read("a", part, projection), { name: "part" });
    assert.deepEqual([own.length, shared.length], [0, part.length + 4]);
  });

  it("serves sources in turns", async (t) => {
    const { thread } = madeThread(t);
    const order: string[] = [];
    const read = async (source: string, name: string) => {
      await thread.read(source, large(name), projection);
      order.push(name);
    };
    await Promise.all([
      read("a", "a1"),
      read("a", "a2"),
      read("a", "a3"),
      read("b", "b1"),
      read("c", "c1"),
      read("b", "b2"),
    ]);
    assert.deepEqual(order, ["a1", "a2", "b1", "c1", "a3", "b2"]);
  });

  it("loses one text when it ends, and the next one starts it again", async (t) => {
    const { thread, sentences, starts } = madeThread(t, () => startJsonWorker(moduleOf(fragile)));
    for (const ending of ["fail", "exit"]) {
      const names: readonly unknown[] = await Promise.all([
        thread.read("a", large(ending), projection),
        thread.read("b", large("next"), projection),
      ]);
      assert.deepEqual(names, [undefined, "next"], ending);
    }
    assert.deepEqual([starts(), sentences], [3, ["the thread that reads large JSON has failed"]]);
  });

  it("answers undefined when it can't be started", async (t) => {
    const { thread, sentences } = madeThread(t, () => startJsonWorker(new URL("http://localhost/")));
    assert.equal(await thread.read("a", large("a"), projection), undefined);
    assert.equal(sentences.length, 3);
  });

  it("answers undefined for the text in hand and for those that wait when it is stopped", async (t) => {
    const { thread } = madeThread(t, () => startJsonWorker(moduleOf(fragile)));
    const running = [thread.read("a", large("hang"), projection), thread.read("b", large("b"), projection)];
    await thread.stop();
    assert.deepEqual(await Promise.all(running), [undefined, undefined]);
    assert.equal(await thread.read("a", large("a"), projection), undefined);
  });

  it("drops a waiting text when its caller has gone", async (t) => {
    const { thread } = madeThread(t, () => startJsonWorker(moduleOf(fragile)));
    const leaving = new AbortController();
    const hanging = thread.read("a", large("hang"), projection);
    const waiting = thread.read("b", large("b"), projection, leaving.signal);
    leaving.abort();
    assert.equal(await waiting, undefined);
    assert.equal(await thread.read("b", large("b"), projection, AbortSignal.abort()), undefined);
    await thread.stop();
    assert.equal(await hanging, undefined);
  });

  it("bounds the bytes that wait: the largest text makes room, and small ones stay", async (t) => {
    const { thread } = madeThread(t, () => startJsonWorker(moduleOf(fragile)));
    const settled: string[] = [];
    const read = async (name: string, text: string) => {
      await thread.read(name, text, projection);
      settled.push(name);
    };
    const reads = [read("hanging", large("hang")), read("small", large("small"))];
    const largest = `"${"x".repeat(limits.untrustedJsonLargeBytes - 2)}"`;
    const fitting = limits.untrustedJsonWaitingBytes / limits.untrustedJsonLargeBytes - 1;
    for (let n = 0; n < fitting; n++) reads.push(read(`large ${n}`, largest));
    assert.deepEqual(settled, []);
    reads.push(read("one more", largest));
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(settled, ["large 0"]);
    await thread.stop();
    await Promise.all(reads);
  });
});
