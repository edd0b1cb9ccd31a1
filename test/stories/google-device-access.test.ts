import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Account } from "../../simulator/google-device-access/account.ts";
import { namedFaults } from "../../simulator/google-device-access/faults.ts";
import type { Google } from "../../simulator/google-device-access/simulator.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { startedGoogle, writeKey } from "../ecosystems/google-device-access/harness.ts";
import { controlScope, ThingClient } from "./thing-client.ts";
import { clientOfUser } from "./v3-client.ts";
import { deployments, eventually, person, type World, type WorldPlan, world } from "./world.ts";

const traits = "sdm.devices.traits.";

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

interface LinkedAccount {
  readonly story: World;
  readonly google: Google;
  readonly account: Account;
  readonly client: ThingClient;
  readonly hall: { readonly name: string };
  readonly hallId: string;
  readonly atticId: string;
  readonly deviceId: DeviceId;
  attributes(): Promise<Record<string, unknown>>;
}

/** The connector keeps Google's limits of calls a minute: the service's minute takes two seconds. */
const clockSpeed = 30;
/** A command expires 30 seconds after it was sent, by the service's clock: a busy machine may take seconds to answer. */
const clockSpeedOfCommands = 3;

async function linkedAccount(
  t: TestContext,
  plan: WorldPlan = {},
  { nowMs = Date.now, tokenSeconds = 3_599 } = {},
): Promise<LinkedAccount> {
  const google = await startedGoogle(t, { nowMs });
  google.tokens.lifetimeSeconds = tokenSeconds;
  const account = google.addAccount("Ada");
  const furtherEcosystems = { google: google.settings(await writeKey(t, google)) };
  const story = await world(t, { clockSpeed, furtherEcosystems, ...plan });
  const { accessToken, refreshToken } = google.tokens.consent(account);
  const credential = { accessToken, refreshToken, expiresMs: story.nowMs() + tokenSeconds * 1_000 };
  const deviceId = await story.service.parts.federation.link(story.userId, "google", credential);
  const client = new ThingClient(await clientOfUser(() => story.service, "Story", person, controlScope));
  await eventually(t.signal, async () => {
    assert.equal((await story.client.linkStatus("google")).state, "live");
  });
  const things = await client.ofKind("thermostat");
  const named = (name: string) => things.find((thing: { name: string }) => thing.name === name).thingId;
  return {
    story,
    google,
    account,
    client,
    hall: [...account.devices.values()].find(({ parentRelations: [parent] }) => parent?.displayName === "Hall")!,
    hallId: named("Hall"),
    atticId: named("Attic heater"),
    deviceId,
    attributes: async () => {
      const shown = await client.v3.attributes(deviceId);
      return Object.fromEntries(Object.entries<{ value: unknown }>(shown).map(([name, { value }]) => [name, value]));
    },
  };
}
