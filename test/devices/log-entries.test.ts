import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandEntry } from "../../src/devices/log-entries.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";

describe("the log entry of a fan request", () => {
  it("names the request and its new state, and not the ecosystem's id of the thermostat", () => {
    const command = {
      id: 5,
      userId: 1 as UserId,
      deviceId: 2 as DeviceId,
      attribute: 17,
      thermostatId: "secret",
      value: "true",
      state: "rejected" as const,
      text: "blocked",
      requestedMs: 10,
      sentMs: 11,
      settledMs: 12,
      blockedUntilMs: null,
    };
    const { body, ...entry } = commandEntry(command, 20);
    assert.deepEqual(entry, { userId: 1, deviceId: 2, kind: "command", timeMs: 20 });
    assert.deepEqual(JSON.parse(body), {
      id: 5,
      attribute: 17,
      value: "true",
      state: "rejected",
      text: "blocked",
      requestedMs: 10,
    });
  });
});
