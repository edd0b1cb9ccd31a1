import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Records } from "../../src/alerts/records.ts";
import type { TriggerId } from "../../src/model/ids.ts";
import type { Evaluation } from "../../src/model/trigger.ts";

const id = (number: number) => number as TriggerId;
const seen = (timeMs: number): Evaluation => ({ timeMs, value: "x", outcome: "unmet" });

describe("what alerts saw since their records were stored", () => {
  it("is kept in order for each alert", () => {
    const records = new Records();
    records.add(id(1), [seen(1)]);
    records.add(id(2), [seen(2)]);
    records.add(id(1), [seen(3)]);
    assert.deepEqual(records.of(id(1)), [seen(1), seen(3)]);
    assert.deepEqual(records.of(id(2)), [seen(2)]);
    assert.deepEqual(records.of(id(3)), []);
  });

  it("is kept for 5,000 alerts: the one that saw nothing for the longest time is forgotten", () => {
    const records = new Records();
    for (let number = 1; number <= 5_000; number++) records.add(id(number), [seen(number)]);
    records.add(id(1), [seen(5_001)]);
    assert.equal(records.of(id(2)).length, 1);
    records.add(id(5_001), [seen(5_002)]);
    assert.equal(records.of(id(2)).length, 0);
    assert.equal(records.of(id(1)).length, 2);
    assert.equal(records.of(id(3)).length, 1);
  });
});
