import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ThingChange } from "../../src/devices/thing-writes.ts";
import { isUrgentThing, showsOwnAlarm } from "../../src/devices/urgent-things.ts";

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

describe("a commit to a company's own device", () => {
  const shows = (trait: string, value: string, commit: object = {}) => {
    const fields = [
      { trait: "light", field: "on", value: true },
      { trait, field: "state", value },
    ];
    const things = [{ thingId: "t_1", what: "state" as const, fields: fields as unknown as ThingChange["fields"] }];
    return showsOwnAlarm({ isMapped: true, things, previousTimeMs: 1, ...commit });
  };

  it("is urgent when it starts or ends an alarm", () => {
    assert.ok(shows("smoke", "alarm") && shows("carbonMonoxide", "warning") && shows("smoke", "clear"));
    assert.ok(shows("smoke", "alarm", { previousTimeMs: 0 }));
  });

  it("is not urgent when it shows no alarm, when its first value is clear, or when the device is no thing", () => {
    assert.ok(!shows("battery", "low"));
    assert.ok(!shows("smoke", "clear", { previousTimeMs: 0 }));
    assert.ok(!shows("smoke", "alarm", { isMapped: false }) && !shows("smoke", "alarm", { isMapped: undefined }));
    assert.ok(!showsOwnAlarm({ isMapped: true, things: [], previousTimeMs: 1 }));
  });
});
