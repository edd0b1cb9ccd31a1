import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { madeEvents } from "./moved-events.ts";

describe("readers that join while the log can't be read", () => {
  it("are fed when the store is back", { timeout: 30_000 }, async (t) => {
    const { change, join, fail, failures, until } = await madeEvents(t);
    const readers = [await join(), await join()];
    fail.reads = true;
    await until(() => failures() > 0);
    fail.reads = false;
    await change("on");
    for (const reader of readers) await until(() => reader.values().includes("on"));
    await change("off");
    for (const reader of readers) {
      await until(() => reader.values().includes("off"));
      assert.deepEqual(reader.values(), ["on", "off"]);
    }
  });

  it("are fed beside a reader that was fed before them, and each once", { timeout: 30_000 }, async (t) => {
    const { change, join, fail, failures, until } = await madeEvents(t);
    const first = await join();
    await change("1");
    await until(() => first.values().length === 1);
    const late = await join();
    fail.reads = true;
    await until(() => failures() > 0);
    await change("2");
    fail.reads = false;
    await until(() => first.values().length === 2 && late.values().length === 1);
    await change("3");
    await until(() => first.values().length === 3 && late.values().length === 2);
    assert.deepEqual(first.values(), ["1", "2", "3"]);
    assert.deepEqual(late.values(), ["2", "3"]);
  });

  it("are fed when this node has read again which access has ended", { timeout: 30_000 }, async (t) => {
    const { change, join, fail, failures, until } = await madeEvents(t);
    const reader = await join();
    fail.revocations = true;
    await until(() => failures() > 0);
    await change("on");
    assert.deepEqual(reader.values(), []);
    fail.revocations = false;
    await until(() => reader.values().length > 0);
    assert.deepEqual(reader.values(), ["on"]);
  });
});
