import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { startAmazon } from "../../../simulator/alexa/simulator.ts";
import { Skill } from "../../../simulator/alexa/skill.ts";
import type { AlexaEvent } from "../../../src/assistants/alexa/messages.ts";
import { traitMapTemplates } from "../../../src/home/trait-map-templates.ts";
import type { DeviceId } from "../../../src/model/ids.ts";
import { clientOfTenant } from "../../stories/v3-client.ts";
import { eventually, type WorldPlan, world } from "../../stories/world.ts";
import { accountLinked, addOutlet, lambdaFor } from "./alexa-world.ts";
import { checked } from "./checked.ts";

/** The trait maps of the types of own devices. */
export const ownMaps = {
  Lamp: {
    kind: "light",
    traits: { onOff: { on: { attribute: "power", words: { true: "on", false: "off" }, writable: true } } },
  },
  Alarm: { kind: "alarm", traits: { smoke: { state: { attribute: "smoke" } } } },
  Heater: {
    kind: "thermostat",
    traits: {
      thermostat: traitMapTemplates.thermostat.traits.thermostat,
      fan: traitMapTemplates.fan.traits.fan,
    },
  },
};
const firstValues = {
  Lamp: { power: "off" },
  Alarm: { smoke: "clear" },
  Heater: { mode: "heat", target: "20", speed: "50" },
};

export interface Delivery {
  readonly type: string;
  readonly outcome: string;
  readonly status: number | null;
  readonly text: string | null;
}

/** A user with that many own lamps, who has linked a simulated Alexa and enabled the skill. Nothing else reports about them. */
export async function ownHomeAtAlexa(t: TestContext, lamps: number, plan: WorldPlan = {}) {
  const story = await world(t, plan);
  const company = await clientOfTenant(() => story.service, "Story");
  const call = async (method: string, path: string, body?: object | string) => {
    const type = typeof body === "string" ? "application/x-ndjson" : "application/json";
    const text = typeof body === "object" ? JSON.stringify(body) : body;
    const init = { method, ...(text !== undefined && { headers: { "content-type": type }, body: text }) };
    const answer = await company.text(path, init);
    assert.ok(answer.status < 300, answer.text);
  };
  for (const [type, map] of Object.entries(ownMaps)) await call("PUT", `/device-types/${type}`, map);
  const lineOf = (type: keyof typeof ownMaps, deviceName: string) =>
    JSON.stringify({ userId: story.userId, deviceTypeName: type, deviceName, attributes: firstValues[type] });
  const add = async (type: keyof typeof ownMaps, names: readonly string[]) => {
    await call("POST", "/devices:batch", names.map((name) => lineOf(type, name)).join("\n"));
  };
  await add(
    "Lamp",
    Array.from({ length: lamps }, (_, index) => `Lamp ${index + 1}`),
  );
  const amazon = await startAmazon();
  t.after(() => amazon.stop());
  const { administration, assistants } = story.service.parts;
  const outlet = await addOutlet(administration, amazon);
  const baseUrl = () => story.service.baseUrl;
  const customer = amazon.addCustomer("ada");
  const unchecked: AlexaEvent[] = [];
  customer.onEvent = (event) => void unchecked.push(event as unknown as AlexaEvent);
  const skill = new Skill(customer, await accountLinked(baseUrl, outlet), lambdaFor(baseUrl));
  const granted = await skill.acceptGrant(amazon.login);
  assert.equal(granted.event.header.name, "AcceptGrant.Response");
  await skill.discover();
  const run = (command: string, input: object = {}) =>
    administration.run(command, { outlet: outlet.outlet, ...input }) as Promise<Readonly<Record<string, unknown>>>;
  /** Nothing waits to be reported, and every event was of the right shape. */
  const isTold = async () => {
    await eventually(t.signal, async () => {
      const [end, feed] = await story.service.parts.store.transaction(async (tx) => [
        await tx.log.end(),
        await tx.assistantMarks.lockFeed(),
      ]);
      const [grant] = await assistants.grants.ofOutlet(outlet.outlet, 1);
      assert.ok(feed.id >= end.id && grant?.dueMs === null && grant.problem === null, JSON.stringify({ feed, grant }));
    });
    for (const event of unchecked.splice(0)) checked(event);
  };
  await isTold();
  return {
    ...{ story, company, amazon, outlet, customer, skill, call, add, isTold },
    things: () => assistants.homes.all(story.userId),
    /** Of the thing with this name. */
    async find(name: string): Promise<{ readonly thingId: string; readonly deviceId: DeviceId }> {
      const found = (await assistants.homes.all(story.userId)).find((thing) => thing.name === name);
      assert.ok(found, `${name} is not there`);
      return found;
    },
    /** The newest attempts first. */
    deliveries: async () => (await run("outlet deliveries")).deliveries as readonly Delivery[],
    shown: async () => (await run("outlet show")).users as readonly { readonly omitted: { readonly count: number } }[],
  };
}
