import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  callService,
  createConnection,
  createLongLivedTokenAuth,
  ERR_INVALID_AUTH,
  type HassEntities,
  subscribeEntities,
} from "home-assistant-js-websocket";
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
