import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type FanReading, fanOutcome } from "../../src/cli/devices/fan.ts";

const at = (value: string | null, updateTime: number) => ({ value, updateTime });
const before: FanReading = { active: at("false", 10), request: at(null, 5) };

describe("the outcome of a fan request", () => {
  const cases: readonly (readonly [string, FanReading, FanReading, string])[] = [
    ["it runs: its own value is newer", before, { active: at("true", 12), request: at(null, 11) }, "running"],
    [
      "an old error says nothing",
      { ...before, request: at("error: a, true, t", 5) },
      { active: at("true", 12), request: at("error: a, true, t", 5) },
      "running",
    ],
    ["it was written and nobody answered", before, { active: at("false", 10), request: at("true", 11) }, "open"],
    ["nothing has happened at all", before, before, "open"],
    [
      "a value from before the command counts for nothing",
      { ...before, active: at("true", 10) },
      { active: at("true", 10), request: at("true", 11) },
      "open",
    ],
    [
      "it was taken, and the stream is yet to tell",
      before,
      { active: at("false", 10), request: at(null, 11) },
      "taken",
    ],
    [
      "it ran already, and the request was taken",
      { ...before, active: at("true", 10) },
      { active: at("true", 10), request: at(null, 11) },
      "running",
    ],
    ["it was refused", before, { active: at("false", 10), request: at("error: no, true, t", 11) }, "refused"],
    [
      "an error goes before a fan that runs by itself",
      before,
      { active: at("true", 12), request: at("error: no, true, t", 11) },
      "refused",
    ],
  ];
  for (const [name, earlier, now, state] of cases) {
    it(name, () => assert.equal(fanOutcome("true", earlier, now).state, state));
  }

  it("keeps the ecosystem's message, also with commas", () => {
    const request = at("error: Cannot, at this time, true, 2026-01-31T12:00:00.000Z", 11);
    assert.deepEqual(fanOutcome("true", before, { ...before, request }), {
      state: "refused",
      reason: "Cannot, at this time",
    });
    assert.equal(fanOutcome("false", before, { active: at("false", 12), request: at(null, 11) }).state, "stopped");
  });
});
