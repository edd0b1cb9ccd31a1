import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { alertEntry, commandEntry, deviceEntry, linkEntry, thingCommandEntry } from "../../src/devices/log-entries.ts";
import type { DeviceId, TriggerId, UserId } from "../../src/model/ids.ts";

const [userId, deviceId] = [1 as UserId, 2 as DeviceId];

describe("the log entry of a firing", () => {
  it("holds the body as JSON", () => {
    const texts = { action: "note", attributeName: "power", value: "on", address: "", message: "Hello" };
    const body = { alert: 7, ...texts, writes: [] };
    const entry = alertEntry(userId, deviceId, 20, body);
    assert.equal(entry.kind, "alert");
    assert.deepEqual(JSON.parse(entry.body), body);
  });

  it("on a thing is of another kind, which older clients do not get", () => {
    const texts = { action: "note", thingId: "t_1", field: "smoke.state", value: "alarm", address: "", message: "" };
    const body = { alert: 7, ...texts, writes: [] };
    const { kind, body: stored } = alertEntry(userId, deviceId, 20, body);
    assert.deepEqual([kind, JSON.parse(stored)], ["thingAlert", body]);
  });
});

describe("the log entry of a device", () => {
  it("says what became of it", () => {
    const entry = { userId, deviceId, kind: "device", timeMs: 20, body: '{"what":"removed"}' };
    assert.deepEqual(deviceEntry(userId, deviceId, 20, "removed"), entry);
  });
});

describe("the log entry of a link", () => {
  it("names the link's new state and the reason, and nothing else of it", () => {
    const link = { ecosystem: "nest", state: "waiting" as const, reason: "just linked", sealedToken: "secret" };
    const { body, ...entry } = linkEntry(userId, deviceId, 20, link);
    assert.deepEqual(entry, { userId, deviceId, kind: "link", timeMs: 20 });
    assert.deepEqual(JSON.parse(body), { ecosystem: "nest", state: "waiting", reason: "just linked" });
  });
});

describe("the log entry of a fan request", () => {
  it("names the request and its new state, and not the ecosystem's id of the thermostat", () => {
    const command = {
      id: 5,
      userId,
      deviceId,
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

describe("the log entry of a command to a thing", () => {
  it("has the command and its error as objects, and neither the plan nor the key of the thing", () => {
    const asked = { trait: "onOff", command: "set", params: { on: true } };
    const row = {
      id: 5,
      userId,
      deviceId,
      thingId: "t_1",
      key: "light/secret",
      command: JSON.stringify(asked),
      plan: "[]",
      state: "rejected" as const,
      step: 0,
      error: '{"code":"stale"}',
      clientId: "app",
      requestedMs: 10,
      sentMs: null,
      settledMs: 12,
      blockedUntilMs: null,
      alertId: null,
      dueMs: null,
    };
    const { body, ...entry } = thingCommandEntry(row, 20);
    assert.deepEqual(entry, { userId, deviceId, kind: "thingCommand", timeMs: 20 });
    const shown = { id: 5, thingId: "t_1", command: asked, state: "rejected", requestedMs: 10, clientId: "app" };
    assert.deepEqual(JSON.parse(body), { ...shown, error: { code: "stale" } });
    const accepted = thingCommandEntry({ ...row, state: "accepted", error: null }, 20);
    assert.deepEqual(JSON.parse(accepted.body), { ...shown, state: "accepted", error: null });
    const ofAlert = thingCommandEntry({ ...row, clientId: null, alertId: 7 as TriggerId }, 20);
    assert.deepEqual(JSON.parse(ofAlert.body), { ...shown, error: { code: "stale" }, clientId: null, alert: 7 });
    const own = { ...row, plan: '{"steps":[],"writes":{"power":"on"}}', dueMs: 40, error: null };
    const writes = { power: "on" };
    const sent = thingCommandEntry({ ...own, state: "sending" }, 20);
    assert.deepEqual(JSON.parse(sent.body), { ...shown, state: "sending", error: null, writes });
    const toLinked = thingCommandEntry({ ...own, dueMs: null, state: "sending" }, 20);
    assert.deepEqual(JSON.parse(toLinked.body), { ...shown, state: "sending", error: null });
    const settled = thingCommandEntry({ ...own, state: "confirmed" }, 20);
    assert.deepEqual(JSON.parse(settled.body), { ...shown, state: "confirmed", error: null });
  });
});
