import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { clientOfUser, type V3Answer, type V3Client } from "./v3-client.ts";
import { eventually, person, type World, type WorldPlan, world } from "./world.ts";

/** A receipt of a command, as /v3 shows it. */
export type ShownReceipt = V3Answer["body"];

/** A client that sends commands to things, written from the interface alone. */
export class ThingClient {
  readonly v3: V3Client;

  constructor(v3: V3Client) {
    this.v3 = v3;
  }

  async ofKind(kind: string): Promise<readonly V3Answer["body"][]> {
    return (await this.v3.call(`/things?kind=${kind}`)).body.things;
  }

  /** The values of a thing's trait. */
  async state(thingId: string, trait: string): Promise<Readonly<Record<string, unknown>>> {
    const { body } = await this.v3.call(`/things/${thingId}`);
    const fields = Object.entries<{ readonly value: unknown }>(body.traits[trait].state);
    return Object.fromEntries(fields.map(([name, { value }]) => [name, value]));
  }

  post(thingId: string, command: object, headers: Readonly<Record<string, string>> = {}): Promise<V3Answer> {
    return this.v3.call(`/things/${thingId}/commands`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(command),
    });
  }

  /** Sends a command that the service accepts, and returns its receipt. */
  async send(thingId: string, trait: string, command: string, params: object = {}): Promise<ShownReceipt> {
    const { status, body } = await this.post(thingId, { trait, command, params });
    assert.equal(status, 202, JSON.stringify(body));
    return body;
  }

  async receipt({ thingId, commandId }: ShownReceipt): Promise<ShownReceipt> {
    const { status, body } = await this.v3.call(`/things/${thingId}/commands/${commandId}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  }

  /** The receipt when it is in this state. */
  async until(signal: AbortSignal, receipt: ShownReceipt, state: string): Promise<ShownReceipt> {
    return eventually(signal, async () => {
      const now = await this.receipt(receipt);
      assert.equal(now.state, state, JSON.stringify(now));
      return now;
    });
  }
}

export const controlScope = "devices:read devices:control";

/** A linked, live house and a client that commands its things. */
export async function commandedHouse(t: TestContext, plan: WorldPlan = {}) {
  const story = await world(t, { structures: [{ thermostats: 8, alarms: 1 }], ...plan });
  const deviceId = await story.link();
  await eventually(t.signal, async () => assert.equal((await story.client.linkStatus()).state, "live"));
  const client = new ThingClient(await clientOfUser(() => story.service, "Story", person, controlScope));
  const thermostats = await client.ofKind("thermostat");
  // Not every thermostat of the simulator can cool.
  const coolable = thermostats.find(({ traits }) => traits.thermostat.capabilities.modes.includes("heatCool"));
  const { thingId } = coolable ?? thermostats[0];
  return { story, deviceId, client, thingId: thingId as string, received: () => receivedBy(story) };
}

/** The bodies of the commands in the simulator's own record. */
export function receivedBy({ simulator, accountId }: Pick<World, "simulator" | "accountId">): readonly object[] {
  const commands = simulator.log().filter((entry) => entry.kind === "command" && entry.accountId === accountId);
  return commands.map(({ body, message }) => (body === undefined ? { refused: message } : JSON.parse(String(body))));
}
