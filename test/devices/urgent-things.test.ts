import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isUrgentThing } from "../../src/devices/urgent-things.ts";

describe("the change of a thing", () => {
  const urgent = (what: "state" | "gone", fields?: Record<string, string>) =>
    isUrgentThing({ thingId: "t_1", what, ...(fields && { fields }) });

  it("is urgent when an alarm starts or stops, or when the thing is gone and may have sounded", () => {
    assert.ok(urgent("state", { "smoke.state": "alarm" }));
    assert.ok(urgent("state", { "carbonMonoxide.state": "clear", "carbonMonoxide.word": "ok" }));
    assert.ok(urgent("gone"));
  });

  it("is not urgent otherwise", () => {
    assert.ok(!urgent("state", { "smoke.testing": "true", "battery.state": "low", "thermostat.mode": "heat" }));
    assert.ok(!urgent("state"));
  });
});
