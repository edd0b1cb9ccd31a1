import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AnyJson, first, simulatorWorld } from "./world.ts";

const thermostatFields = [
  ...[
    "device_id",
    "structure_id",
    "name",
    "name_long",
    "label",
    "locale",
    "software_version",
    "where_id",
    "where_name",
  ],
  ...["last_connection", "is_online", "can_cool", "can_heat", "is_using_emergency_heat", "has_fan", "fan_timer_active"],
  ...["fan_timer_timeout", "fan_timer_duration", "has_leaf", "temperature_scale", "hvac_mode", "previous_hvac_mode"],
  ...["humidity", "hvac_state", "is_locked", "sunlight_correction_enabled", "sunlight_correction_active"],
  ...["time_to_target", "time_to_target_training"],
  ...["target_temperature", "target_temperature_high", "target_temperature_low", "eco_temperature_high"]
    .concat(["eco_temperature_low", "ambient_temperature", "locked_temp_min", "locked_temp_max"])
    .flatMap((name) => [`${name}_c`, `${name}_f`]),
];
const alarmFields = [
  ...["device_id", "structure_id", "name", "name_long", "locale", "software_version", "where_id", "where_name"],
  ...["last_connection", "is_online", "battery_health", "co_alarm_state", "smoke_alarm_state", "is_manual_test_active"],
  ...["last_manual_test_time", "ui_color_state"],
];
const structureFields = [
  ...["structure_id", "name", "away", "thermostats", "smoke_co_alarms", "country_code", "postal_code", "time_zone"],
  ...["peak_period_start_time", "peak_period_end_time", "eta", "eta_begin", "co_alarm_state", "smoke_alarm_state"],
  ...["rhr_enrollment", "wheres", "wwn_security_state"],
];

describe("a new account", () => {
  it("is a typical home by default", async (t) => {
    const { call } = await simulatorWorld(t);
    const created = await call("POST", "/simulator/accounts");
    assert.equal(created.status, 201);
    assert.match(created.body.token, /^c\.[\w-]{32,}$/);
    const { body: document } = await call("GET", "/", undefined, created.body.token);
    assert.equal(Object.keys(document.devices.thermostats).length, 2);
    assert.equal(Object.keys(document.devices.smoke_co_alarms).length, 2);
    assert.equal(first(document.structures).name, "Maple Street");
  });

  it("holds every published field", async (t) => {
    const world = await simulatorWorld(t);
    const document = await (await world.account()).document();
    assert.deepEqual(Object.keys(first(document.devices.thermostats)).sort(), thermostatFields.sort());
    assert.deepEqual(Object.keys(first(document.devices.smoke_co_alarms)).sort(), alarmFields.sort());
    assert.deepEqual(Object.keys(first(document.structures)).sort(), structureFields.sort());
    assert.deepEqual(Object.keys(document.metadata).sort(), ["access_token", "client_version", "user_id"]);
  });

  it("is the same for the same seed in another simulator, except for the token", async (t) => {
    const plan = { seed: 7, structures: [{ name: "A", thermostats: 3, alarms: 2 }, { thermostats: 1 }] };
    const one = await simulatorWorld(t);
    const other = await simulatorWorld(t);
    await other.account({ seed: 99 });
    const here = await (await one.account(plan)).document();
    const there = await (await other.account(plan)).document();
    assert.notEqual(here.metadata.access_token, there.metadata.access_token);
    assert.deepEqual(withoutToken(here), withoutToken(there));
  });

  it("makes the same random changes for the same seed", async (t) => {
    const nowMs = () => Date.UTC(2026, 0, 2);
    const walk = async () => {
      const account = await (await simulatorWorld(t, { nowMs })).account({ seed: "walk" });
      await account.scene("random", { steps: 300 });
      return withoutToken(await account.document());
    };
    assert.deepEqual(await walk(), await walk());
  });

  it("differs from the one before it, also when the seed is the same", async (t) => {
    const world = await simulatorWorld(t);
    const one = await world.account({ seed: 5 });
    const two = await world.account({ seed: 5 });
    assert.notEqual(one.accountId, two.accountId);
    assert.notEqual(one.token, two.token);
    const ids = (document: AnyJson) => [
      ...Object.keys(document.structures),
      ...Object.keys(document.devices.thermostats),
    ];
    const shared = new Set(ids(await one.document())).intersection(new Set(ids(await two.document())));
    assert.equal(shared.size, 0);
  });

  it("has no key for a kind of device that it lacks", async (t) => {
    const world = await simulatorWorld(t);
    const alarmsOnly = await (await world.account({ structures: [{ thermostats: 0, alarms: 1 }] })).document();
    assert.deepEqual(Object.keys(alarmsOnly.devices), ["smoke_co_alarms"]);
    assert.ok(!("thermostats" in first(alarmsOnly.structures)));
    const empty = await (await world.account({ structures: [{ thermostats: 0, alarms: 0 }] })).document();
    assert.deepEqual(empty.devices, {});
    assert.ok(!("smoke_co_alarms" in first(empty.structures)));
  });

  it("names its devices by room and label, each name once", async (t) => {
    const world = await simulatorWorld(t);
    const { devices } = await (await world.account({ structures: [{ thermostats: 60, alarms: 60 }] })).document();
    const all = [...Object.values<AnyJson>(devices.thermostats), ...Object.values<AnyJson>(devices.smoke_co_alarms)];
    for (const device of all) assert.match(device.name, new RegExp(`^${device.where_name} \\([0-9A-F]{4}\\)$`));
    assert.equal(new Set(all.map((device) => device.name)).size, 120);
    for (const device of all) assert.match(device.device_id, /^[\w-]{32}$/);
  });

  it("is refused with a message for an invalid plan", async (t) => {
    const { call } = await simulatorWorld(t);
    const plans = [[], 3, { seed: {} }, { structures: 2 }, { structures: [1] }, { structures: [{ thermostats: -1 }] }];
    for (const plan of [...plans, { structures: [{ alarms: 1e9 }] }, { structures: [{ name: 4 }] }]) {
      const { status, body } = await call("POST", "/simulator/accounts", plan);
      assert.equal(status, 400, JSON.stringify(plan));
      assert.equal(body.error, "bad_argument");
      assert.match(body.message, /\.$/);
    }
  });

  it("appears in the list of accounts", async (t) => {
    const world = await simulatorWorld(t);
    const { accountId } = await world.account({ structures: [{ name: "Mill", thermostats: 3, alarms: 1 }] });
    const { body } = await world.call("GET", "/simulator/accounts");
    const [summary] = body.accounts;
    assert.equal(summary.accountId, accountId);
    assert.equal(summary.structures[0].name, "Mill");
    assert.deepEqual([summary.thermostats, summary.alarms, summary.revision], [3, 1, 1]);
    assert.ok(!JSON.stringify(body).includes("c."));
  });
});

function withoutToken(document: AnyJson): AnyJson {
  return { ...document, metadata: { ...document.metadata, access_token: "" } };
}
