import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { plannedFan, receiptOfFan } from "../../src/federation/commands/fan-as-command.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import type { FanRequestRow } from "../../src/store/tables/fan-requests.ts";

const row: FanRequestRow = {
  id: 8,
  userId: 1 as UserId,
  deviceId: 2 as DeviceId,
  attribute: 5,
  thermostatId: "t1",
  value: "true",
  state: "confirmed",
  text: null,
  requestedMs: 10,
  sentMs: 20,
  settledMs: 30,
  blockedUntilMs: null,
};

describe("a fan request in the form of a command", () => {
  it("starts or stops the fan timer", () => {
    const start = { trait: "fanTimer", command: "start", params: {} };
    const times = { requestedMs: 10, sentMs: 20, settledMs: 30 };
    const receipt = {
      id: "f8",
      thingId: "t_1",
      command: start,
      alertId: null,
      state: "confirmed",
      error: null,
      ...times,
    };
    assert.deepEqual(receiptOfFan(row, "t_1"), receipt);
    assert.equal(receiptOfFan({ ...row, value: "false" }, "t_1").command.command, "stop");
  });

  it("sets the fan, expects to see it so, and counts as sent", () => {
    for (const [value, command, active] of [
      ["true", "start", true],
      ["false", "stop", false],
    ] as const) {
      const planned = plannedFan({ value });
      assert.equal(planned.command.command, command);
      assert.deepEqual(planned.plan.steps, [{ trait: "fanTimer", set: { active } }]);
      assert.deepEqual(planned.plan.expected, [{ trait: "fanTimer", field: "active", value: active, tolerance: 0 }]);
      assert.ok(planned.isSent);
    }
  });

  it("says by a code whether the ecosystem refused it or gave no answer", () => {
    const errorOf = (state: FanRequestRow["state"]) => receiptOfFan({ ...row, state, text: "No." }, "t_1").error;
    assert.deepEqual(errorOf("rejected"), { code: "refused", text: "No." });
    assert.deepEqual(errorOf("expired"), { code: "noAnswer", text: "No." });
  });
});
