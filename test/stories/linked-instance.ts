import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Instance } from "../../simulator/home-assistant/instance.ts";
import { type HomeAssistantOptions, startHomeAssistant } from "../../simulator/home-assistant/simulator.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { controlScope, ThingClient } from "./thing-client.ts";
import { clientOfUser } from "./v3-client.ts";
import { eventually, person, type WorldPlan, world } from "./world.ts";

export interface InstancePlan extends WorldPlan {
  readonly instance?: HomeAssistantOptions;
  /** Fills the instance before it is linked. */
  readonly fill?: (instance: Instance) => void;
  /** What the client may do. */
  readonly scope?: string;
}

/** A simulated instance, linked and live. */
export async function linkedInstance(
  t: TestContext,
  { instance, fill, scope = controlScope, ...plan }: InstancePlan = {},
) {
  const simulator = await startHomeAssistant(instance);
  t.after(() => simulator.stop());
  fill?.(simulator.instance);
  const settings = { protocol: "home-assistant", allowPrivateNetworks: true };
  const story = await world(t, { ...plan, furtherEcosystems: { home: settings } });
  const token = simulator.tokens.addLongLived();
  const { status, body } = await story.client.federate("POST", token, "home", simulator.url);
  assert.equal(status, 200, JSON.stringify(body));
  const deviceId = Number(body.DeviceId) as DeviceId;
  await eventually(t.signal, async () => assert.equal((await story.client.linkStatus("home")).state, "live"));
  const client = new ThingClient(await clientOfUser(() => story.service, "Story", person, scope));
  const [thermostat] = await client.ofKind("thermostat");
  const attributes = async (): Promise<Record<string, unknown>> => {
    const shown = await client.v3.attributes(deviceId);
    return Object.fromEntries(Object.entries<{ value: unknown }>(shown).map(([name, { value }]) => [name, value]));
  };
  return { story, simulator, token, deviceId, client, thermostatId: thermostat?.thingId as string, attributes };
}
