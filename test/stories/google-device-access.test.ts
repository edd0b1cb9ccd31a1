import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { namedFaults } from "../../simulator/google-device-access/faults.ts";
import { clockSpeed, linkedAccount } from "./linked-google-account.ts";
import { deployments, eventually } from "./world.ts";

const traits = "sdm.devices.traits.";
/** A command expires 30 seconds after it was sent, by the service's clock: a busy machine may take seconds to answer. */
const clockSpeedOfCommands = 3;

for (const database of deployments) {
  describe(`a linked Google account (${database})`, () => {
    it("shows its thermostats and follows their events", async (t) => {
      const { account, client, hall, attributes } = await linkedAccount(t, { database, clockSpeed: 1 });
      const [first, second] = await client.ofKind("thermostat");
      assert.deepEqual(new Set([first.name, second.name]), new Set(["Hall", "Attic heater"]));
      const shown = await attributes();
      assert.equal(shown["d.structures[1].a.name"], "Maple Street");
      assert.equal(shown["d.structures[1].a.away"] ?? "", "", "presence is absent, not false");
      account.change(hall.name, { [`${traits}Temperature`]: { ambientTemperatureCelsius: 24.5 } });
      const { thingId } = [first, second].find(({ name }) => name === "Hall");
      await eventually(t.signal, async () => {
        assert.equal((await client.state(thingId, "temperature")).celsius, 24.5);
      });
    });
  });
}

describe("commands to a linked Google account", () => {
  it("are confirmed by events, and refused in Google's words", async (t) => {
    const { google, client, hallId, atticId } = await linkedAccount(t, { clockSpeed: clockSpeedOfCommands });
    const target = await client.send(hallId, "thermostat", "setTarget", { celsius: 22.5 });
    await client.until(t.signal, target, "confirmed");
    const fan = await client.send(hallId, "fanTimer", "start", { minutes: 30 });
    await client.until(t.signal, fan, "confirmed");
    const none = await client.send(atticId, "fanTimer", "start", {});
    assert.deepEqual([none.state, none.error.code], ["rejected", "notSupported"]);
    google.faults.set("devices", namedFaults.rateLimited);
    const limited = await client.until(
      t.signal,
      await client.send(hallId, "thermostat", "setTarget", { celsius: 19 }),
      "rejected",
    );
    const { code, retryAfterMs, words } = limited.error;
    assert.deepEqual([code, retryAfterMs, words], ["rateLimited", 60_000, "Rate limited."]);
    google.faults.set("devices", undefined);
  });

  it("are refused in Google's words when the thermostat's state forbids them, over things and attributes", async (t) => {
    const { google, account, client, hall, hallId, attributes, deviceId } = await linkedAccount(t, {
      clockSpeed: clockSpeedOfCommands,
    });
    // Breezeway does not hear that the fan is gone.
    google.delivery.faults.loses = true;
    account.replace(hall.name, { [`${traits}Fan`]: {} });
    const fan = await client.send(hallId, "fanTimer", "start", { minutes: 15 });
    const refused = await client.until(t.signal, fan, "rejected");
    const { code, words } = refused.error;
    assert.deepEqual([code, words], ["refused", "Thermostat fan unavailable."]);
    const shown = await attributes();
    const [name] = Object.entries(shown).find(([, value]) => value === "Hall") ?? [];
    const request = name!.replace(/\.name$/, ".fan_timer_active.requestWrite");
    await client.v3.write(deviceId, { [request]: "true" });
    await eventually(t.signal, async () => {
      assert.match(String((await attributes())[request]), /^error: Thermostat fan unavailable\., true, /);
    });
  });

  it("leave eco in two steps, and keep the setpoints meanwhile", async (t) => {
    const { client, hallId } = await linkedAccount(t, { clockSpeed: clockSpeedOfCommands });
    const eco = await client.send(hallId, "thermostat", "setMode", { mode: "eco" });
    await client.until(t.signal, eco, "confirmed");
    const inEco = await client.state(hallId, "thermostat");
    assert.deepEqual([inEco.mode, inEco.baseMode, inEco.heatCelsius], ["eco", "heat", 20]);
    const cool = await client.send(hallId, "thermostat", "setMode", { mode: "cool" });
    await client.until(t.signal, cool, "confirmed");
    await eventually(t.signal, async () => {
      const { mode, heatCelsius, targetCelsius } = await client.state(hallId, "thermostat");
      assert.deepEqual([mode, heatCelsius, targetCelsius], ["cool", 20, 24]);
    });
  });
});

describe("the credential of a linked Google account", () => {
  it("is renewed again and again without a gap, until Google refuses", async (t) => {
    const beganMs = Date.now();
    const nowMs = () => beganMs + (Date.now() - beganMs) * clockSpeed;
    const { google, account, client, hall, hallId, story } = await linkedAccount(t, {}, { nowMs, tokenSeconds: 60 });
    await eventually(t.signal, async () => assert.ok(google.tokens.renewals >= 2));
    account.change(hall.name, { [`${traits}Temperature`]: { ambientTemperatureCelsius: 26.5 } });
    await eventually(t.signal, async () => {
      assert.equal((await client.state(hallId, "temperature")).celsius, 26.5);
    });
    const { state, blindIntervals } = await story.client.linkStatus("google");
    assert.equal(state, "live");
    assert.deepEqual(
      blindIntervals.map(({ cause }: { cause: string }) => cause),
      ["just linked"],
    );
    google.tokens.revokeAll(account);
    await eventually(t.signal, async () => {
      const status = await story.client.linkStatus("google");
      assert.equal(status.state, "needs_reauth");
      assert.match(status.reason, /invalid_grant/);
    });
  });
});

describe("a token of Google that a client brings", () => {
  it("is refused with 102, which names the link page", async (t) => {
    const { story } = await linkedAccount(t);
    const { status, body } = await story.client.federate("POST", "ya29.some-Token", "google");
    assert.deepEqual([status, body.errorCode], [400, 102]);
    assert.match(String(body.errorMessage), /link page: POST \/v3\/link-sessions/);
  });
});
