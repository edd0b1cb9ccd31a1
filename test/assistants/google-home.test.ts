import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clientOfUser } from "../stories/v3-client.ts";
import { eventually, person } from "../stories/world.ts";
import { GoogleAccount, googleWorld, type Json } from "./google-world.ts";

const typeOf = (type: string) => `action.devices.types.${type}`;

describe("Google Home", () => {
  it("gets all devices, their whole states, and the outcome of commands", async (t) => {
    const { google, synced, story } = await googleWorld(t);
    const { devices, user } = await synced();
    assert.match(user.agentUserId, /^a_[\w-]{22}$/);
    const thermostat = devices.find(({ type }: Json) => type === typeOf("THERMOSTAT"));
    const fan = devices.find(({ id }: Json) => id === `${thermostat.id}:fan`);
    const alarm = devices.find(({ type }: Json) => type === typeOf("SMOKE_DETECTOR"));
    assert.deepEqual(
      [thermostat.traits, fan.traits, alarm.traits.slice(0, 1)],
      [
        ["action.devices.traits.TemperatureSetting"],
        ["action.devices.traits.OnOff"],
        ["action.devices.traits.SensorState"],
      ],
    );
    assert.ok(devices.every(({ willReportState }: Json) => willReportState));
    assert.equal(alarm.notificationSupportedByAgent, true);

    const states = await google.query(thermostat.id, fan.id, alarm.id, "t_unknown");
    assert.deepEqual(states.t_unknown, { status: "ERROR", errorCode: "deviceNotFound", online: false });
    assert.deepEqual(
      Object.values<Json>(states)
        .map(({ status }) => status)
        .slice(0, 3),
      Array(3).fill("SUCCESS"),
    );
    assert.deepEqual(states[alarm.id].currentSensorStateData, [
      { name: "SmokeLevel", currentSensorState: "no smoke detected" },
      { name: "CarbonMonoxideLevel", currentSensorState: "no carbon monoxide detected" },
    ]);

    const heating = await google.execute(
      thermostat.id,
      ["ThermostatSetMode", { thermostatMode: "heat" }],
      ["ThermostatTemperatureSetpoint", { thermostatTemperatureSetpoint: 22.5 }],
    );
    assert.ok(["SUCCESS", "PENDING"].includes(heating.status), JSON.stringify(heating));
    await eventually(t.signal, async () => {
      const { [thermostat.id]: state } = await google.query(thermostat.id);
      assert.deepEqual([state.thermostatMode, state.thermostatTemperatureSetpoint], ["heat", 22.5]);
    });
    const hot = await google.execute(thermostat.id, [
      "ThermostatTemperatureSetpoint",
      { thermostatTemperatureSetpoint: 60 },
    ]);
    assert.deepEqual(hot, { ids: [thermostat.id], status: "ERROR", errorCode: "valueOutOfRange" });
    const lock = await google.execute(thermostat.id, ["LockUnlock", { lock: true }]);
    assert.deepEqual(lock, { ids: [thermostat.id], status: "ERROR", errorCode: "functionNotSupported" });
    const nobody = await google.execute("t_unknown", ["OnOff", { on: true }]);
    assert.deepEqual(nobody, { ids: ["t_unknown"], status: "ERROR", errorCode: "deviceNotFound" });

    await story.simulator.playScene(story.accountId, { scene: "leave" });
    await eventually(t.signal, async () => {
      const away = await google.execute(fan.id, ["OnOff", { on: true }]);
      assert.deepEqual(away, { ids: [fan.id], status: "ERROR", errorCode: "inAwayMode" });
    });
  });

  it("needs a token of its outlet's own client, and the scope of each intent", async (t) => {
    const { story, google, outlet, synced } = await googleWorld(t, { scope: "devices:read" });
    const { devices, user } = await synced();
    const thermostat = devices.find(({ type }: Json) => type === typeOf("THERMOSTAT"));
    const refused = await google.execute(thermostat.id, ["ThermostatSetMode", { thermostatMode: "heat" }]);
    assert.deepEqual(refused, { ids: [thermostat.id], status: "ERROR", errorCode: "relinkRequired" });
    const another = await clientOfUser(() => story.service, "Story", person, "devices:read devices:control");
    const sync = { requestId: "1", inputs: [{ intent: "action.devices.SYNC" }] };
    const foreign = await google.call(sync, another.accessToken);
    assert.deepEqual([foreign.status, foreign.body.error], [401, "invalid_token"]);
    const bob = { name: "bob", password: "battery staple" };
    await story.service.parts.identity.addUser({ tenant: "Story", ...bob, isAdmin: false });
    const bobs = await GoogleAccount.link(() => story.service.baseUrl, outlet, "devices:read devices:control", bob);
    const { agentUserId, devices: ofBob } = await bobs.intent("SYNC");
    assert.deepEqual([ofBob, agentUserId === user.agentUserId], [[], false]);
    const absent = { status: "ERROR", errorCode: "deviceNotFound", online: false };
    assert.deepEqual((await bobs.query(thermostat.id))[thermostat.id], absent);
    const foreignHome = await bobs.execute(thermostat.id, ["ThermostatSetMode", { thermostatMode: "off" }]);
    assert.equal(foreignHome.errorCode, "deviceNotFound");
    const alerts = await GoogleAccount.link(() => story.service.baseUrl, outlet, "alerts");
    assert.equal((await alerts.call(sync)).status, 403);
    for (const body of [
      {},
      { ...sync, inputs: [] },
      { ...sync, inputs: [{ intent: "x" }] },
      { ...sync, requestId: 1 },
    ]) {
      assert.equal((await google.call(body)).status, 400, JSON.stringify(body));
    }
  });
});
