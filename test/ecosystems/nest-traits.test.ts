import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readSnapshot } from "../../src/ecosystems/nest/snapshot.ts";
import type { Thing } from "../../src/home/thing.ts";
import { noConditions } from "../../src/home/traits/alarm-states.ts";
import { makeAlarm, makeDocument, makeStructure, makeThermostat } from "./made-documents.ts";

describe("the traits of a Nest thermostat", () => {
  const full = {
    where_name: "Hallway",
    can_heat: true,
    can_cool: true,
    temperature_scale: "F",
    hvac_mode: "heat",
    hvac_state: "heating",
    target_temperature_c: 20.5,
    target_temperature_low_c: 19,
    target_temperature_high_c: 24,
    eco_temperature_low_c: 12.5,
    eco_temperature_high_c: 28,
    ambient_temperature_c: 19.444,
    humidity: 45,
  };

  it("tell mode, targets, temperature, humidity and fan", () => {
    const { traits, ...described } = thermostatOf(full);
    assert.deepEqual(described, {
      kind: "thermostat",
      structureId: "s1",
      name: "Hall",
      room: "Hallway",
      maker: "Nest",
      model: null,
      isOnline: true,
    });
    assert.deepEqual(traits.thermostat?.state, {
      mode: "heat",
      baseMode: null,
      heatCelsius: 20.5,
      coolCelsius: 24,
      targetCelsius: 20.5,
      ecoHeatCelsius: 12.5,
      ecoCoolCelsius: 28,
      preset: null,
      action: "heating",
    });
    assert.deepEqual(traits.thermostat?.capabilities.modes, ["off", "heat", "cool", "heatCool", "eco"]);
    assert.deepEqual(traits.temperature?.state, { celsius: 19.44 });
    assert.deepEqual(traits.temperature?.capabilities, { unit: "F" });
    assert.deepEqual(traits.humidity?.state, { percent: 45 });
    assert.deepEqual(traits.fanTimer?.state, { active: false, untilMs: null, untilText: "1970-01-01T00:00:00.000Z" });
    assert.deepEqual(
      Object.values(traits).map(({ available }) => available),
      [true, true, true, true],
    );
  });

  it("take the single target for the mode in force, and the pair for the others", () => {
    const cases = [
      ["heat", "", 20.5, 24, "heat", null],
      ["cool", "", 19, 20.5, "cool", null],
      ["heat-cool", "", 19, 24, "heatCool", null],
      ["off", "", 19, 24, "off", null],
      ["eco", "cool", 19, 20.5, "eco", "cool"],
      ["eco", "heat-cool", 19, 24, "eco", "heatCool"],
      ["eco", "", 19, 24, "eco", null],
      ["emergency", "", 19, 24, null, null],
    ] as const;
    for (const [hvac_mode, previous_hvac_mode, heat, cool, mode, base] of cases) {
      const { thermostat } = thermostatOf({ ...full, hvac_mode, previous_hvac_mode }).traits;
      const { heatCelsius, coolCelsius, baseMode } = thermostat!.state;
      assert.deepEqual(
        [heatCelsius, coolCelsius, thermostat!.state.mode, baseMode],
        [heat, cool, mode, base],
        hvac_mode,
      );
    }
  });

  it("tell what the equipment does, and idle apart from off", () => {
    const action = (hvac_state: unknown, hvac_mode: string) =>
      thermostatOf({ ...full, hvac_state, hvac_mode }).traits.thermostat?.state.action;
    assert.deepEqual(
      [
        action("heating", "heat"),
        action("cooling", "cool"),
        action("off", "heat"),
        action("off", "off"),
        action(1, "off"),
      ],
      ["heating", "cooling", "idle", "off", null],
    );
  });

  it("offer the modes that the equipment has, and none while that is not reported", () => {
    const modes = (can_heat: unknown, can_cool: unknown) =>
      thermostatOf({ ...full, can_heat, can_cool }).traits.thermostat?.capabilities.modes;
    assert.deepEqual(modes(true, false), ["off", "heat", "eco"]);
    assert.deepEqual(modes(false, true), ["off", "cool", "eco"]);
    assert.deepEqual(modes(false, false), ["off", "eco"]);
    assert.equal(modes(true, undefined), null);
  });

  it("are null where the document has no sensible value", () => {
    const wild = { target_temperature_c: 1e300, ambient_temperature_c: "20", humidity: 101, temperature_scale: "K" };
    const { thermostat, temperature, humidity } = thermostatOf({ ...full, ...wild }).traits;
    assert.equal(thermostat?.state.targetCelsius, null);
    assert.deepEqual([temperature?.state.celsius, temperature?.capabilities.unit], [null, null]);
    assert.equal(humidity?.state.percent, null);
    assert.equal(thermostatOf({ humidity: -1 }).traits.humidity?.state.percent, null);
    assert.equal(thermostatOf({ ambient_temperature_c: -101 }).traits.temperature?.state.celsius, null);
  });

  it("are not available while the thermostat is offline, and tell when the fan's timer ends", () => {
    const { fanTimer } = thermostatOf({ is_online: false, fan_timer_timeout: "2026-01-02T03:04:05.006Z" }).traits;
    assert.equal(fanTimer?.available, false);
    assert.equal(fanTimer?.state.untilMs, Date.UTC(2026, 0, 2, 3, 4, 5, 6));
    assert.equal(thermostatOf({ fan_timer_timeout: "soon" }).traits.fanTimer?.state.untilMs, null);
  });
});

describe("the traits of a Nest alarm", () => {
  it("tell smoke, carbon monoxide, battery and light, each with the ecosystem's own word", () => {
    const { traits, kind } = alarmOf({
      smoke_alarm_state: "emergency",
      co_alarm_state: "warning",
      battery_health: "replace",
      is_manual_test_active: true,
      ui_color_state: "red",
    });
    assert.equal(kind, "alarm");
    assert.deepEqual(traits.smoke?.state, { ...noConditions, state: "alarm", word: "emergency", testing: true });
    assert.deepEqual(traits.carbonMonoxide?.state, {
      ...noConditions,
      state: "warning",
      word: "warning",
      testing: true,
    });
    assert.deepEqual(traits.battery?.state, { state: "low", percent: null });
    assert.deepEqual(traits.indicator?.state, { color: "red" });
  });

  it("never call an unknown word clear", () => {
    assert.deepEqual(alarmOf({ smoke_alarm_state: "" }).traits.smoke?.state.state, "unknown");
    assert.deepEqual(alarmOf({ smoke_alarm_state: "OK" }).traits.smoke?.state.state, "unknown");
    assert.deepEqual(alarmOf({ smoke_alarm_state: null }).traits.smoke?.state.state, null);
    assert.deepEqual(alarmOf({ battery_health: "empty" }).traits.battery?.state.state, null);
    assert.deepEqual(alarmOf({ battery_health: "ok" }).traits.battery?.state.state, "ok");
  });
});

describe("the presence of a Nest structure", () => {
  it("has the ecosystem's own word beside it", () => {
    const cases = [
      ["auto-away", "autoAway"],
      ["on holiday", "unknown"],
    ];
    for (const [away, state] of cases) {
      const { structures } = readSnapshot(makeDocument({ structures: { s1: makeStructure({ away }) } }));
      const sighting = structures.byId.get("s1");
      assert.ok(sighting?.isRead);
      assert.deepEqual(sighting.object.presence?.state, { state, word: away });
    }
  });
});

function thermostatOf(fields: Record<string, unknown>): Thing {
  const devices = { thermostats: { t1: makeThermostat(fields) } };
  return readOf(readSnapshot(makeDocument({ devices })).thermostats.byId.get("t1"));
}

function alarmOf(fields: Record<string, unknown>): Thing {
  const devices = { smoke_co_alarms: { a1: makeAlarm(fields) } };
  return readOf(readSnapshot(makeDocument({ devices })).alarms.byId.get("a1"));
}

function readOf(sighting: { readonly isRead: boolean; readonly object?: Thing } | undefined): Thing {
  assert.ok(sighting?.isRead && sighting.object);
  return sighting.object;
}
