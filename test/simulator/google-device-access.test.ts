import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { startLife } from "../../simulator/google-device-access/life.ts";
import { scenes } from "../../simulator/google-device-access/scenes.ts";
import { startGoogle } from "../../simulator/google-device-access/simulator.ts";
import { seededRandom } from "../../simulator/home/random.ts";

const traits = "sdm.devices.traits.";

async function startedHouse(t: TestContext, seed?: string) {
  const google = await startGoogle(seed === undefined ? {} : { seed });
  t.after(() => google.stop());
  const account = google.addAccount("Ada");
  const hall = [...account.devices.values()].find(({ type }) => type.endsWith("THERMOSTAT"))!;
  const play = (scene: string, headers: Record<string, string> = {}) =>
    fetch(`${google.url}/simulator/scene`, {
      method: "POST",
      redirect: "manual",
      headers,
      body: new URLSearchParams({ scene, account: account.userId }),
    });
  return { google, account, hall, play };
}

describe("the page of the simulated Google", () => {
  it("shows the thermostats, plays each scene, and says what was sent", async (t) => {
    const { google, hall, play } = await startedHouse(t);
    const before = await (await fetch(google.url)).text();
    assert.match(before, /Attic heater, thermostat in Attic/);
    assert.match(before, /now 19\.4°, target 20°, HEAT, OFF, fan OFF/);
    assert.equal((await play("cold")).status, 303);
    assert.equal(hall.traits[`${traits}Temperature`]!.ambientTemperatureCelsius, 17.4);
    assert.equal(hall.traits[`${traits}ThermostatHvac`]!.status, "HEATING");
    assert.match(await (await fetch(google.url)).text(), /scene cold/);
    for (const name of scenes.keys()) assert.equal((await play(name)).status, 303, name);
    const unknown = await play("explode");
    assert.equal(unknown.status, 400);
    assert.match(await unknown.text(), /There is no scene explode/);
  });

  it("plays nothing for a page of another site", async (t) => {
    const { hall, play } = await startedHouse(t);
    assert.equal((await play("cold", { origin: "http://attacker.example" })).status, 403);
    assert.equal(hall.traits[`${traits}Temperature`]!.ambientTemperatureCelsius, 19.4);
  });
});

describe("the life of a simulated Google account", () => {
  it("changes the house, except while it pauses", async (t) => {
    const { account, hall } = await startedHouse(t);
    let isPaused = false;
    let next = (): void => undefined;
    const clock = {
      nowMs: Date.now,
      after: (_: number, run: () => void) => {
        next = run;
        return () => undefined;
      },
    };
    startLife(account, clock, { everyMs: 1, random: seededRandom("7"), isPaused: () => isPaused });
    const shown = () => JSON.stringify(hall.traits);
    const before = shown();
    for (let turn = 0; turn < 4; turn++) next();
    const changed = shown();
    assert.notEqual(changed, before);
    isPaused = true;
    for (let turn = 0; turn < 4; turn++) next();
    assert.equal(shown(), changed);
  });

  it("has the same ids again with the same seed", async (t) => {
    const [one, other] = [await startedHouse(t, "7"), await startedHouse(t, "7")];
    assert.deepEqual([...one.account.devices.keys()], [...other.account.devices.keys()]);
    assert.equal(one.account.userId, other.account.userId);
  });
});
