import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sameAlarms, sameTransitions } from "../../src/home/transitions.ts";
import { alarm, alarmThing, homeWith, incomplete, structure, thermostat } from "./home-parts.ts";

describe("a waiting snapshot", () => {
  const parts = {
    structures: { s: structure(), u: incomplete() },
    thermostats: { t: thermostat("s") },
    alarms: { p: alarm("s"), q: incomplete() },
  };
  const waiting = homeWith(parts);

  it("is replaced by a newer one in which no alarm, away or fan changed", () => {
    const newer = homeWith({
      structures: { u: incomplete(), s: structure({ name: "Cottage" }) },
      thermostats: {
        t: thermostat("s", { name: "Den", isOnline: false, fanTimerTimeout: "2030-01-01T00:00:00.000Z" }),
      },
      alarms: { p: alarm("s", { uiColorState: "gray" }), q: incomplete({ name: "Den" }) },
    });
    assert.ok(sameTransitions(waiting, newer));
  });

  it("stays when a transition would be lost", () => {
    const newer = {
      "another away": { structures: { ...parts.structures, s: structure({ away: "away" }) } },
      "a structure more": { structures: { ...parts.structures, z: structure() } },
      "a structure in place of another": { structures: { s: structure(), z: incomplete() } },
      "device lists not told": { structures: { ...parts.structures, s: structure({ listsDevices: false }) } },
      "the fan runs": { thermostats: { t: thermostat("s", { fanTimerActive: true }) } },
      "another mode of heating": { thermostats: { t: thermostat("s", { mode: "cool" }) } },
      "the thermostat moved": { thermostats: { t: thermostat("u") } },
      "the thermostat is gone": { thermostats: {} },
      "the thermostat is incomplete": { thermostats: { t: incomplete() } },
      smoke: { alarms: { ...parts.alarms, p: alarm("s", { smokeAlarmState: "emergency" }) } },
      CO: { alarms: { ...parts.alarms, p: alarm("s", { coAlarmState: "warning" }) } },
      "an alarm can be read again": { alarms: { ...parts.alarms, q: alarm("s") } },
      "an alarm can't be read any more": {
        alarms: { ...parts.alarms, p: incomplete({ structureId: "s", coAlarmState: "ok", smokeAlarmState: "ok" }) },
      },
      "an alarm moved": { alarms: { ...parts.alarms, p: alarm("u") } },
      "a list isn't whole": { notWhole: ["alarms" as const] },
      "no word of alarms": { speaksOfAlarms: false },
    };
    for (const [what, change] of Object.entries(newer)) {
      assert.ok(!sameTransitions(waiting, homeWith({ ...parts, ...change })), what);
      assert.ok(!sameTransitions(homeWith({ ...parts, ...change }), waiting), what);
    }
  });
});

describe("the alarm states of two snapshots", () => {
  const waiting = homeWith({ alarms: { p: alarm("s", { smokeAlarmState: "beeping" }) } });
  const alike = (fields: Parameters<typeof alarm>[1], structureId = "s") =>
    sameAlarms(waiting, homeWith({ alarms: { p: alarm(structureId, { smokeAlarmState: "beeping", ...fields }) } }));

  it("are equal when only names, colours and availability differ", () => {
    assert.ok(alike({ name: "Den", uiColorState: "gray", isOnline: false }));
    const bare = { isRead: true, object: { ...alarmThing({ structureId: "s" }), traits: {} } } as const;
    assert.ok(sameAlarms(homeWith({ alarms: { p: bare } }), homeWith({ alarms: { p: bare } })));
  });

  it("differ with any state, with an unknown word, and with another structure", () => {
    assert.ok(!alike({ smokeAlarmState: "ok" }));
    assert.ok(!alike({ smokeAlarmState: "chirping" }), "both words are unknown");
    assert.ok(!alike({ coAlarmState: "emergency" }));
    assert.ok(!alike({}, "u"));
  });
});
