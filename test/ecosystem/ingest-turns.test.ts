import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { IngestTurns } from "../../src/ecosystem/nest/ingest-turns.ts";

describe("whose turn it is to be read", () => {
  let turns: IngestTurns;
  let read: string[];

  beforeEach(() => {
    turns = new IngestTurns();
    read = [];
  });

  /** Takes longer than one turn may. */
  const busy = (name: string) => () => {
    const endMs = performance.now() + 3;
    while (performance.now() < endMs);
    read.push(name);
  };

  it("is at once for one that comes while nobody talks", () => {
    turns.take(
      () => read.push("a"),
      () => false,
    );
    assert.deepEqual(read, ["a"]);
  });

  it("leaves the rest for later turns, the longest waiting first, so that everybody else gets theirs", async () => {
    for (const name of ["a", "b", "c"]) turns.take(busy(name), () => false);
    assert.deepEqual(read, ["a"]);
    await nextTurn();
    assert.deepEqual(read, ["a", "b"]);
    await nextTurn();
    assert.deepEqual(read, ["a", "b", "c"]);
  });

  it("is at once for what is urgent, and counts as its turn", async () => {
    const later = busy("later");
    turns.take(busy("a"), () => false);
    turns.take(later, () => false);
    turns.take(later, () => true);
    assert.deepEqual(read, ["a", "later"]);
    await nextTurn();
    await nextTurn();
    assert.deepEqual(read, ["a", "later"]);
  });

  it("is once for one that asks again while it waits, and never for one that has gone", async () => {
    const [again, gone] = [busy("again"), busy("gone")];
    turns.take(busy("a"), () => false);
    for (const one of [again, again, gone]) turns.take(one, () => false);
    turns.forget(gone);
    await nextTurn();
    await nextTurn();
    assert.deepEqual(read, ["a", "again"]);
  });
});
