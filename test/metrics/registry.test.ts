import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Registry } from "../../src/metrics/registry.ts";
import { readExposition } from "./read-exposition.ts";

describe("what is measured", () => {
  it("is written in the format that a collector reads", async () => {
    const registry = new Registry();
    const calls = registry.counter("calls_total", "Calls.", ...(["route", "status"] as const));
    calls.add(1, "/a", "200");
    calls.add(2, "/a", "200");
    calls.add(1, 'a "quoted" \\ name\nof two lines', "404");
    registry.counter("nothing_total", "Nothing yet.");
    registry.gauge("size_bytes", "Size.", async () => 1.5e21);
    registry.gauge("unknown", "What can't be told now.", () => undefined);
    registry.gauge("by_state", "Each.", () => [
      [{ state: "live" }, 2],
      [{ state: "waiting" }, 0],
    ]);
    const { types, samples } = readExposition(await registry.text());
    assert.deepEqual(Object.fromEntries(types), {
      calls_total: "counter",
      nothing_total: "counter",
      size_bytes: "gauge",
      unknown: "gauge",
      by_state: "gauge",
    });
    assert.deepEqual(samples, [
      { name: "calls_total", labels: { route: "/a", status: "200" }, value: 3 },
      { name: "calls_total", labels: { route: 'a "quoted" \\ name\nof two lines', status: "404" }, value: 1 },
      { name: "nothing_total", labels: {}, value: 0 },
      { name: "size_bytes", labels: {}, value: 1.5e21 },
      { name: "by_state", labels: { state: "live" }, value: 2 },
      { name: "by_state", labels: { state: "waiting" }, value: 0 },
    ]);
  });

  it("is sorted into buckets that hold all below their bound, the bound included", async () => {
    const registry = new Registry();
    const took = registry.histogram("took_seconds", "Time.", [0.1, 1], ...(["route"] as const));
    for (const value of [0.05, 0.1, 0.5, 1, 7]) took.observe(value, "/a");
    const { samples } = readExposition(await registry.text());
    assert.deepEqual(
      samples.map(({ name, labels, value }) => [name, labels.le, Math.round(value * 100) / 100]),
      [
        ["took_seconds_bucket", "0.1", 2],
        ["took_seconds_bucket", "1", 4],
        ["took_seconds_bucket", "+Inf", 5],
        ["took_seconds_sum", undefined, 8.65],
        ["took_seconds_count", undefined, 5],
      ],
    );
  });
});

describe("the reader of this test", () => {
  for (const [what, text] of [
    ["a sample without a type", "a 1\n"],
    ["an unfinished line", "# TYPE a gauge\na 1"],
    ["a bad name", "# TYPE a gauge\n1a 1\n"],
    ["an open label", '# TYPE a gauge\na{b="c} 1\n'],
    ["a wrong escape", '# TYPE a gauge\na{b="\\c"} 1\n'],
    ["a sample twice", '# TYPE a gauge\na{b="c"} 1\na{b="c"} 2\n'],
    ["a family in two places", '# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\na{x="y"} 1\n'],
    ["no number", "# TYPE a gauge\na one\n"],
    ["a histogram without an end", '# TYPE a histogram\na_bucket{le="1"} 1\na_sum 1\na_count 1\n'],
    ["a histogram that falls", '# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n'],
  ] as const) {
    it(`refuses ${what}`, () => assert.throws(() => readExposition(text)));
  }
});
