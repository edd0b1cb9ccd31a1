import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { startHomeAssistant } from "../../simulator/home-assistant/simulator.ts";
import { eventually } from "../stories/world.ts";
import type { FullWorld } from "./full-world.ts";

/** Settings of the second ecosystem, and an account of the first one with a device for each text. */
export function planFor(texts: readonly string[]) {
  return {
    furtherEcosystems: { home: { protocol: "home-assistant", allowPrivateNetworks: true } },
    structures: [{ name: "Maple Street", thermostats: 2, alarms: Math.max(2, texts.length) }],
  };
}

interface Told {
  name: string;
  name_long: string;
  where_name: string;
}

/**
 * Both ecosystems tell the texts: as names of homes, rooms, things, makers and models. Resolves when things with these
 * names are stored.
 */
export async function tellTexts(t: TestContext, made: FullWorld, texts: readonly string[]): Promise<void> {
  const { simulator, accountId, client } = made.house;
  const instance = await startHomeAssistant({ isFurnished: false, locationName: texts[0]! });
  t.after(() => instance.stop());
  for (const [nth, text] of texts.entries()) {
    const area_id = instance.instance.addArea(text);
    const device_id = instance.instance.addDevice({ name: text, manufacturer: text, model: text, area_id });
    instance.instance.addEntity(`light.l${nth}`, "on", { friendly_name: text }, { device_id, original_name: text });
  }
  const { status, body } = await client.federate("POST", instance.tokens.addLongLived(), "home", instance.url);
  assert.equal(status, 200, JSON.stringify(body));

  const document = structuredClone(simulator.document(accountId)) as never as {
    structures: Record<string, { name: string; wheres: Record<string, { name: string }> }>;
    devices: Record<string, Record<string, Told>>;
  };
  for (const structure of Object.values(document.structures)) {
    structure.name = texts.at(-1)!;
    for (const [nth, where] of Object.values(structure.wheres).entries()) where.name = texts[nth % texts.length]!;
  }
  for (const devices of Object.values(document.devices)) {
    for (const [nth, device] of Object.values(devices).entries()) {
      const text = texts[nth % texts.length]!;
      Object.assign(device, { name: text, name_long: text, where_name: text });
    }
  }
  simulator.replaceDocument(accountId, document as never);
  const named = async (kind: string) =>
    (await made.run("home things", { user: made.user, kind })).things.filter(({ name }: { name: string | null }) =>
      texts.some((text) => name?.includes(text.toWellFormed().replaceAll("\0", "\uFFFD"))),
    ).length;
  await eventually(t.signal, async () => {
    assert.ok((await named("alarm")) >= texts.length);
    assert.ok((await named("light")) >= texts.length);
  });
}

/** The first ecosystem refuses a command with the text. Resolves when the command's receipt shows the refusal. */
export async function tellRefusal(t: TestContext, { house, run, user }: FullWorld, text: string): Promise<void> {
  house.simulator.addFault({ fault: "reject-fan", message: text });
  const [thermostat] = (await run("home things", { user, kind: "thermostat" })).things;
  const command = { trait: "fanTimer", command: "start", param: ["minutes=15"] };
  const { commandId } = await run("home command", { user, thing: thermostat.thingId, ...command });
  await eventually(t.signal, async () => {
    const { commands } = await run("home show", { user, ecosystem: "nest" });
    const sent = commands.find((one: { commandId: string }) => one.commandId === commandId);
    assert.equal(sent?.state, "rejected");
    assert.ok(sent.error.text.includes(text), sent.error.text);
  });
}
