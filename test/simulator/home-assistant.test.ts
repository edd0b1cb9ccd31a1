import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import {
  callService,
  createConnection,
  createLongLivedTokenAuth,
  ERR_INVALID_AUTH,
  type HassEntities,
  subscribeEntities,
} from "home-assistant-js-websocket";
import { furnish } from "../../simulator/home-assistant/house.ts";
import { Instance } from "../../simulator/home-assistant/instance.ts";
import { startLife } from "../../simulator/home-assistant/life.ts";
import { startHomeAssistant } from "../../simulator/home-assistant/simulator.ts";

describe("the simulated Home Assistant", () => {
  it("works with home-assistant-js-websocket unmodified: entities, changes, removals and a service call", async (t) => {
    const simulator = await startHomeAssistant();
    t.after(() => simulator.stop());
    const auth = createLongLivedTokenAuth(simulator.url, simulator.tokens.addLongLived());
    const connection = await createConnection({ auth });
    t.after(() => connection.close());
    const entities = new EntityWatch();
    subscribeEntities(connection, entities.take);

    await entities.until((all) => all["climate.hallway"]?.attributes.temperature === 20);
    simulator.instance.change("binary_sensor.kitchen_smoke", "on");
    await entities.until((all) => all["binary_sensor.kitchen_smoke"]?.state === "on");
    simulator.instance.change("climate.hallway", undefined, { preset_mode: undefined });
    await entities.until((all) => !("preset_mode" in all["climate.hallway"]!.attributes));
    simulator.instance.removeState("switch.kettle");
    await entities.until((all) => all["switch.kettle"] === undefined);

    const target = { entity_id: "climate.hallway" };
    const answer = await callService(connection, "climate", "set_temperature", { temperature: 22 }, target);
    const { context } = answer as { context: { id: string } };
    await entities.until((all) => all["climate.hallway"]?.attributes.temperature === 22);
    assert.equal(entities.now["climate.hallway"]?.context.id, context.id);
    const tooHot = callService(connection, "climate", "set_temperature", { temperature: 99 }, target);
    await assert.rejects(tooHot, { code: "service_validation_error" });
    await assert.rejects(callService(connection, "climate", "explode", {}, target), { code: "not_found" });
  });

  it("has a page whose buttons all work, and that other sites can't press", async (t) => {
    const simulator = await startHomeAssistant();
    t.after(() => simulator.stop());
    const page = async () => (await fetch(simulator.url)).text();
    const press = (scene: string, headers = {}) =>
      fetch(`${simulator.url}/simulator/scene`, { method: "POST", body: new URLSearchParams({ scene }), headers });
    const buttons = [...(await page()).matchAll(/name="scene" value="([^"]+)"/g)].map(([, scene]) => scene!);
    assert.ok(buttons.length >= 15);
    for (const scene of buttons) {
      const answer = await press(scene);
      assert.equal(answer.status, 200, scene);
      assert.match(await answer.text(), /Hearth Hollow/);
    }
    assert.match(await page(), /Starting/);
    assert.equal(simulator.tokens.all.length, 0);
    const unknown = await press("explode");
    assert.equal(unknown.status, 400);
    assert.match(await unknown.text(), /There is no scene explode/);
    simulator.instance.change("binary_sensor.kitchen_smoke", "off");
    assert.equal((await press("smoke", { "sec-fetch-site": "cross-site" })).status, 403);
    assert.equal(simulator.instance.states.get("binary_sensor.kitchen_smoke")?.state, "off");
  });

  it("goes on with the same house and the same tokens from its state file", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "breezeway-instance-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const stateFile = join(folder, "instance.json");
    const first = await startHomeAssistant({ stateFile });
    const token = first.tokens.addLongLived();
    first.playScene("unavailable");
    first.playScene("light-off");
    await first.stop();
    const second = await startHomeAssistant({ stateFile });
    t.after(() => second.stop());
    assert.ok(second.tokens.isValid(token));
    assert.equal(second.instance.version, first.instance.version);
    assert.deepEqual([...second.instance.entities], [...first.instance.entities]);
    assert.equal(second.instance.states.get("light.ceiling")?.state, "off");
    assert.equal(second.instance.states.get("climate.hallway")?.state, "heat", "a lost device is back");
  });

  it("changes values all the time, and pauses after somebody has changed something", () => {
    const instance = new Instance("°C");
    furnish(instance);
    const changed: string[] = [];
    instance.listeners.add({
      stateChanged: (entityId) => void changed.push(entityId),
      registryUpdated: () => undefined,
      configUpdated: () => undefined,
    });
    let nowMs = 1_000_000;
    let next: () => void = () => undefined;
    const clock = {
      nowMs: () => nowMs,
      after: (_: number, run: () => void) => {
        next = run;
        return () => undefined;
      },
    };
    startLife(instance, clock, { everyMs: 1, random: () => 0.3, restMs: 100 });
    next();
    next();
    assert.deepEqual(changed, ["light.ceiling", "climate.hallway"]);
    instance.touchedMs = nowMs;
    next();
    assert.equal(changed.length, 2);
    nowMs += 100;
    next();
    assert.equal(changed.length, 3);
  });

  it("refuses a token that it never issued, and the client does not try again", async (t) => {
    const simulator = await startHomeAssistant();
    t.after(() => simulator.stop());
    const auth = createLongLivedTokenAuth(simulator.url, "never issued");
    await assert.rejects(createConnection({ auth }), (error) => error === ERR_INVALID_AUTH);
    assert.equal(simulator.tokens.failures, 1);
  });
});

/** The entities as the client library reports them. */
class EntityWatch {
  now: HassEntities = {};
  #look: () => void = () => undefined;

  readonly take = (entities: HassEntities): void => {
    this.now = entities;
    this.#look();
  };

  until(holds: (entities: HassEntities) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (holds(this.now)) resolve();
      };
      this.#look();
    });
  }
}
