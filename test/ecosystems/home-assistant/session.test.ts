import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import {
  type HomeAssistant,
  type HomeAssistantOptions as SimulatorOptions,
  startHomeAssistant,
} from "../../../simulator/home-assistant/simulator.ts";
import { type HomeAssistantOptions, homeAssistantConnector } from "../../../src/ecosystems/home-assistant/connector.ts";
import type { Home } from "../../../src/home/home.ts";
import { thermostatKey } from "../../../src/home/reported-things.ts";
import type { Thing } from "../../../src/home/thing.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../../../src/model/errors.ts";
import { JsonThread } from "../../../src/runtime/json/json-thread.ts";
import { manualRuntime } from "../../federation/manual-runtime.ts";
import { type Listening, listen } from "../listening.ts";

describe("a session with a Home Assistant instance", () => {
  it("confirms a quiet home by pings, and ends as silent when the socket is half-open", async (t) => {
    const { simulator, connector, access } = await started(t, { pingMs: 20, watchdogMs: 1_000 });
    const stream = listen(connector, access);
    await stream.until(3);
    assert.deepEqual(stream.heard.slice(1, 3), ["unchanged", "unchanged"]);
    simulator.faults.isMute = true;
    const { reason, unheardMs } = await stream.ended;
    assert.equal(reason, "silent");
    assert.ok(unheardMs! >= 1_000);
  });

  it("takes a flood of 4,096 messages in frames of many, without losing an alarm in between", async (t) => {
    const { simulator, connector, access } = await started(t);
    const stream = listen(connector, access);
    await stream.until(1);
    simulator.flood("light.ceiling", 2_048);
    simulator.instance.change("binary_sensor.kitchen_smoke", "on");
    simulator.instance.change("binary_sensor.kitchen_smoke", "off");
    simulator.flood("light.ceiling", 2_048);
    simulator.instance.change("switch.kettle", "on");
    await heardHome(stream, (home) => thingNamed(home, "Kettle")?.traits.onOff?.state.on === true);
    const states = homesIn(stream).map((home) => thingNamed(home, "Kitchen Protect")?.traits.smoke?.state.state);
    assert.deepEqual([...new Set(states)], ["clear", "alarm"]);
    assert.equal(states.at(-1), "clear");
    stream.stop();
    await stream.ended;
  });

  it("takes registries and all states of a large home, and ends at an event that is larger than any event", async (t) => {
    const reached: string[] = [];
    const thread = new JsonThread(manualRuntime());
    t.after(() => thread.stop());
    const options = { onLimitReached: (limit: string) => reached.push(limit), readJson: thread.read };
    const { simulator, connector, access } = await started(t, options);
    const large = { text: "x".repeat(12 * 1024 * 1024) };
    simulator.instance.change("light.ceiling", undefined, large);
    const stream = listen(connector, access);
    await stream.until(1);
    assert.deepEqual(reached, [], "what a whole home needs is not limited");
    simulator.instance.change("light.ceiling", undefined, { text: `${large.text}!` });
    assert.equal((await stream.ended).reason, "malformed");
  });

  it("never presents a refused token again: not for a stream, a read or a command", async (t) => {
    const { simulator, connector } = await started(t);
    const access = `${simulator.url} wrong`;
    const step = { trait: "onOff", set: { on: true } } as const;
    for (let i = 0; i < 2; i++) {
      assert.equal((await listen(connector, access).ended).reason, "unauthorized");
      await assert.rejects(connector.read(access, unending()), EcosystemRefused);
      assert.equal((await connector.act(access, { key: "other/x", step }, unending())).state, "unauthorized");
    }
    assert.equal(simulator.tokens.attempts, 1);
    assert.equal((await listen(connector, `${simulator.url} another`).ended).reason, "unauthorized");
    assert.equal(simulator.tokens.attempts, 2);
  });

  it("finds an entity that appears later without a registry entry", async (t) => {
    const { simulator, connector, access } = await started(t, { searchMs: 20 });
    const stream = listen(connector, access);
    await stream.until(1);
    simulator.instance.set("light.shed", "on", { friendly_name: "Shed" });
    await heardHome(stream, (home) => thingNamed(home, "Shed")?.traits.onOff?.state.on === true);
    simulator.instance.change("light.shed", "off");
    await heardHome(stream, (home) => thingNamed(home, "Shed")?.traits.onOff?.state.on === false);
    stream.stop();
    await stream.ended;
  });

  it("follows no redirect, and connects to no private address or plain http unless the setting allows it", async (t) => {
    const { simulator, connector, access } = await started(t);
    simulator.faults.refusal = 302;
    await assert.rejects(connector.read(access, unending()), /answered 302/);
    simulator.faults.refusal = undefined;
    const strict = homeAssistantConnector({
      name: "home",
      allowPrivateNetworks: false,
      resolve: async () => [{ address: "127.0.0.1", family: 4 }],
    });
    await assert.rejects(strict.read(access, unending()), EcosystemUnreachable);
    await assert.rejects(strict.read(`https://home.example:${simulator.port} token`, unending()), EcosystemUnreachable);
    assert.equal(simulator.tokens.failures, 0);
    assert.ok("problem" in strict.credentialFrom!("token", "http://home.example"));
    assert.ok("problem" in strict.credentialFrom!("token", undefined));
    assert.ok("credential" in strict.credentialFrom!("token", "https://home.example/"));
  });

  it("renews a credential that has a refresh token, and no other", async (t) => {
    const { simulator, connector } = await started(t, { nowMs: () => 1_000 });
    const clientId = "https://breezeway.example/";
    const refreshToken = simulator.tokens.addRefresh(clientId);
    const before = { accessToken: "expired", refreshToken, clientId, address: simulator.url };
    const renewed = await connector.renew!(before, unending());
    assert.ok(renewed.state === "renewed", JSON.stringify(renewed));
    const { accessToken, ...kept } = renewed.credential;
    assert.deepEqual(kept, { refreshToken, clientId, address: simulator.url, expiresMs: 1_801_000 });
    await connector.read(connector.callTokenOf!(renewed.credential), unending());
    simulator.deleteToken(refreshToken);
    assert.equal((await connector.renew!(before, unending())).state, "refused");
    const longLived = { accessToken, address: simulator.url };
    assert.equal((await connector.renew!(longLived, unending())).state, "refused");
    const unreachable = { ...before, address: "http://127.0.0.1:1" };
    assert.equal((await connector.renew!(unreachable, unending())).state, "unanswered");
  });

  it("takes each refusal of a refresh token as final, and all other answers as none", async () => {
    const answers: readonly (readonly [status: number, body: unknown, state: string])[] = [
      [400, { error: "invalid_grant" }, "refused"],
      [400, { error: "invalid_request" }, "refused"],
      [401, { error: "invalid_client" }, "refused"],
      [403, { error: "access_denied" }, "refused"],
      [400, undefined, "unanswered"],
      [403, { message: "banned" }, "unanswered"],
      [404, { error: "not_found" }, "unanswered"],
      [429, { error: "slow_down" }, "unanswered"],
      [500, { error: "server_error" }, "unanswered"],
      [503, undefined, "unanswered"],
    ];
    const credential = { accessToken: "a", refreshToken: "r", clientId: "c", address: "http://home.example" };
    for (const [status, body, expected] of answers) {
      const post = async () => ({ status, body });
      const connector = homeAssistantConnector({ name: "home", allowPrivateNetworks: true, post });
      const { state } = await connector.renew!(credential, unending());
      assert.equal(state, expected, `${status} ${JSON.stringify(body)}`);
    }
  });

  it("uses the session of a home for commands, also after its access token was renewed", async (t) => {
    const { simulator, connector } = await started(t);
    const clientId = "https://breezeway.example/";
    const { accessToken, refreshToken } = simulator.tokens.redeem(simulator.tokens.addCode(clientId), clientId)!;
    const credential = { accessToken, refreshToken, clientId, address: simulator.url, expiresMs: Date.now() + 60_000 };
    const stream = listen(connector, connector.callTokenOf!(credential));
    await stream.until(1);
    const renewed = await connector.renew!(credential, unending());
    assert.ok(renewed.state === "renewed");
    const [id] = (stream.heard[0] as Home).thermostats.byId.keys();
    const step = { trait: "fan", set: { mode: "on" } } as const;
    const access = connector.callTokenOf!(renewed.credential);
    const outcome = await connector.act(access, { key: thermostatKey(id!), step }, unending());
    assert.ok(outcome.state === "accepted" && outcome.caused);
    assert.equal(simulator.tokens.attempts, 1);
    stream.stop();
    await stream.ended;
  });

  it("does not present a token that has expired", async (t) => {
    const { simulator, connector } = await started(t);
    const expired = { accessToken: "a", refreshToken: "r", clientId: "c", address: simulator.url, expiresMs: 1 };
    assert.equal((await listen(connector, connector.callTokenOf!(expired)).ended).reason, "unauthorized");
    assert.equal(simulator.tokens.attempts, 0);
  });

  it("reads and sends temperatures in the unit of the instance", async (t) => {
    const { simulator, connector, access } = await started(t, {}, { temperatureUnit: "°F" });
    const home = await connector.read(access, unending());
    const [id, sighting] = [...home.thermostats.byId][0]!;
    assert.ok(sighting.isRead);
    const { thermostat, temperature } = sighting.object.traits;
    assert.equal(thermostat?.state.targetCelsius, 20);
    assert.deepEqual(temperature, { available: true, state: { celsius: 19.44 }, capabilities: { unit: "F" } });
    const step = { trait: "thermostat", set: { targetCelsius: 21.11 } } as const;
    const outcome = await connector.act(access, { key: thermostatKey(id), step }, unending());
    assert.equal(outcome.state, "accepted");
    assert.equal(simulator.instance.states.get("climate.hallway")?.attributes.temperature, 70);
  });

  it("keeps a thing that is renamed, unavailable or restored, and removes one whose registry entry is gone", async (t) => {
    const { simulator, connector, access } = await started(t);
    const { instance } = simulator;
    const stream = listen(connector, access);
    await stream.until(1);
    const [id] = (stream.heard[0] as Home).thermostats.byId.keys();
    const thermostat = (home: Home) => {
      const sighting = home.thermostats.byId.get(id!);
      return sighting?.isRead ? sighting.object : undefined;
    };

    instance.change("climate.hallway", "unavailable", { temperature: undefined, hvac_action: undefined });
    const offline = await heardHome(stream, (home) => thermostat(home)?.isOnline === false);
    const { available, state } = thermostat(offline)!.traits.thermostat!;
    assert.deepEqual([available, state.mode, state.targetCelsius], [false, "heat", 20]);
    instance.change("climate.hallway", "cool", { temperature: 24 });
    await heardHome(stream, (home) => thermostat(home)?.traits.thermostat?.state.coolCelsius === 24);

    instance.renameEntity("climate.hallway", "climate.salon");
    instance.change("climate.salon", "heat");
    await heardHome(stream, (home) => thermostat(home)?.traits.thermostat?.state.mode === "heat");
    instance.deleteEntity("climate.salon");
    const last = await heardHome(stream, (home) => home.thermostats.byId.size === 0);
    assert.ok(last.thermostats.isWhole);
    assert.ok(homesIn(stream).every((home) => home === last || home.thermostats.byId.has(id!)));
    stream.stop();
    await stream.ended;
  });

  it("shows a disconnected alarm as not available, with its values, until it is connected again", async (t) => {
    const { simulator, connector, access } = await started(t);
    const stream = listen(connector, access);
    await stream.until(1);
    const smoke = (home: Home) => thingNamed(home, "Kitchen Protect")?.traits.smoke;
    simulator.instance.change("binary_sensor.kitchen_online", "off");
    const offline = await heardHome(stream, (home) => thingNamed(home, "Kitchen Protect")?.isOnline === false);
    assert.deepEqual([smoke(offline)?.available, smoke(offline)?.state.state], [false, "clear"]);
    simulator.instance.change("binary_sensor.kitchen_smoke", "on");
    const alarmed = await heardHome(stream, (home) => smoke(home)?.state.state === "alarm");
    assert.equal(smoke(alarmed)?.available, false);
    simulator.instance.change("binary_sensor.kitchen_online", "on");
    await heardHome(stream, (home) => smoke(home)?.available === true && smoke(home)?.state.state === "alarm");
    stream.stop();
    await stream.ended;
  });

  it("does not take things as gone while the instance starts", async (t) => {
    const { simulator, connector, access } = await started(t);
    simulator.restart();
    simulator.instance.deleteEntity("switch.kettle");
    const home = await connector.read(access, unending());
    assert.equal(home.alarms.isWhole, false);
    assert.equal(home.others?.isWhole, false);
    assert.ok(home.oddities.incomplete > 0);
    const alarm = thingNamed(home, "Kitchen Protect");
    // Nothing of before is known on this connection: no trait is told, so that stored values stay.
    assert.deepEqual([alarm?.isOnline, alarm?.traits], [false, {}]);
  });
});

async function started(t: TestContext, options: Partial<HomeAssistantOptions> = {}, plan: SimulatorOptions = {}) {
  const simulator: HomeAssistant = await startHomeAssistant(plan);
  t.after(() => simulator.stop());
  const connector = homeAssistantConnector({ name: "home", allowPrivateNetworks: true, ...options });
  return { simulator, connector, access: `${simulator.url} ${simulator.tokens.addLongLived()}` };
}

function homesIn({ heard }: Listening): readonly Home[] {
  return heard.filter((one) => typeof one !== "string");
}

/** The first home that fits, of those heard and those still to come. */
async function heardHome(stream: Listening, fits: (home: Home) => boolean): Promise<Home> {
  for (;;) {
    const found = homesIn(stream).find(fits);
    if (found) return found;
    await stream.until(stream.heard.length + 1);
  }
}

function thingNamed({ thermostats, alarms, others }: Home, name: string): Thing | undefined {
  for (const listing of [thermostats, alarms, ...(others ? [others] : [])]) {
    for (const sighting of listing.byId.values()) {
      if (sighting.isRead && sighting.object.name === name) return sighting.object;
    }
  }
  return undefined;
}

function unending(): AbortSignal {
  return new AbortController().signal;
}
