import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { IngestTurns } from "../../../src/ecosystems/kit/ingest-turns.ts";

describe("the scheduler for parsing streams", () => {
  let turns: IngestTurns;
  let read: string[];

  beforeEach(() => {
    turns = new IngestTurns();
    read = [];
  });

  /** Takes longer than the time budget of a turn. */
  const busy = (name: string) => () => {
    const endMs = performance.now() + 3;
    while (performance.now() < endMs);
    read.push(name);
  };

  it("parses a stream at once when no other waits", () => {
    turns.take(
      () => read.push("a"),
      () => false,
    );
    assert.deepEqual(read, ["a"]);
  });

  it("leaves the rest for later turns, oldest first, so that other work gets its turn", async () => {
    for (const name of ["a", "b", "c"]) turns.take(busy(name), () => false);
    assert.deepEqual(read, ["a"]);
    await nextTurn();
    assert.deepEqual(read, ["a", "b"]);
    await nextTurn();
    assert.deepEqual(read, ["a", "b", "c"]);
  });

  it("parses urgent text at once, which counts as the stream's turn", async () => {
    const later = busy("later");
    turns.take(busy("a"), () => false);
    turns.take(later, () => false);
    turns.take(later, () => true);
    assert.deepEqual(read, ["a", "later"]);
    await nextTurn();
    await nextTurn();
    assert.deepEqual(read, ["a", "later"]);
  });

  it("parses a waiting stream once, and an ended one never", async () => {
    const [again, gone] = [busy("again"), busy("gone")];
    turns.take(busy("a"), () => false);
    for (const one of [again, again, gone]) turns.take(one, () => false);
    turns.forget(gone);
    await nextTurn();
    await nextTurn();
    assert.deepEqual(read, ["a", "again"]);
  });
});
