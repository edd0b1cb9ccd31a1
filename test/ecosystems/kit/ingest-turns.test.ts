import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type IngestStream, IngestTurns } from "../../../src/ecosystems/kit/ingest-turns.ts";

describe("the scheduler for the text of streams", () => {
  let turns: IngestTurns;
  let log: string[];

  beforeEach(() => {
    turns = new IngestTurns();
    log = [];
  });

  /** Each piece takes longer than the time budget of a turn. */
  function busy(name: string, { pieces = 1, isUrgent = false, mustPause = false } = {}): IngestStream {
    let left = pieces;
    return {
      step() {
        const endMs = performance.now() + 3;
        while (performance.now() < endMs);
        log.push(name);
        left -= 1;
        return left > 0;
      },
      endTurn: () => log.push(`end of ${name}`),
      spent: () => !mustPause,
      isUrgent: () => isUrgent,
    };
  }

  const pieces = () => log.filter((line) => !line.startsWith("end"));

  it("applies a stream at once when no other waits", () => {
    turns.take(busy("a"));
    assert.deepEqual(log, ["a", "end of a"]);
  });

  it("leaves the rest for later turns, oldest first, so that other work gets its turn", async () => {
    for (const name of ["a", "b", "c"]) turns.take(busy(name));
    assert.deepEqual(pieces(), ["a"]);
    await nextTurn();
    assert.deepEqual(pieces(), ["a", "b"]);
    await nextTurn();
    assert.deepEqual(pieces(), ["a", "b", "c"]);
  });

  it("interrupts a stream with much text: others get their turn, and it reports at the end of each of its own", async () => {
    turns.take(busy("long", { pieces: 3 }));
    turns.take(busy("short"));
    for (let i = 0; i < 4; i++) await nextTurn();
    assert.deepEqual(log, [
      ...["long", "end of long", "long", "end of long"],
      ...["short", "end of short"],
      ...["long", "end of long"],
    ]);
  });

  it("applies text that may report an alarm before all other text", async () => {
    turns.take(busy("a"));
    turns.take(busy("later"));
    turns.take(busy("alarm", { isUrgent: true }));
    assert.deepEqual(pieces(), ["a", "alarm"]);
    await nextTurn();
    assert.deepEqual(pieces(), ["a", "alarm", "later"]);
  });

  it("gives urgent streams a limited time too, and ordinary ones at least one turn after them", async () => {
    turns.take(busy("ordinary", { pieces: 2 }));
    for (let i = 0; i < 20; i++) turns.take(busy("urgent", { isUrgent: true }));
    const before = pieces().length;
    assert.ok(before < 12, `${before} pieces in one turn of the event loop`);
    await nextTurn();
    assert.equal(pieces().filter((name) => name === "ordinary").length, 2);
    for (let i = 0; i < 20; i++) await nextTurn();
    assert.equal(pieces().length, 22);
  });

  it("applies nothing more of a stream that must pause until it takes another turn", async () => {
    const slow = busy("slow", { pieces: 3, mustPause: true });
    turns.take(slow);
    await nextTurn();
    await nextTurn();
    assert.deepEqual(pieces(), ["slow"]);
    turns.take(slow);
    assert.deepEqual(pieces(), ["slow", "slow"]);
  });

  it("applies a waiting stream once, and an ended one never", async () => {
    const [again, gone] = [busy("again"), busy("gone")];
    turns.take(busy("a"));
    for (const one of [again, again, gone]) turns.take(one);
    turns.forget(gone);
    await nextTurn();
    await nextTurn();
    assert.deepEqual(pieces(), ["a", "again"]);
  });
});
