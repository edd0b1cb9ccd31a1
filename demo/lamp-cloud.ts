import { setTimeout as pause } from "node:timers/promises";
import type { Breezeway, ThingCommandEvent } from "../sdk/src/index.ts";

export const lampType = "Lamp";

/** How the lamp's attribute becomes a thing that clients and assistants can switch. */
const lampMap = {
  kind: "light",
  traits: { onOff: { on: { attribute: "power", words: { true: "on", false: "off" }, writable: true } } },
};

/** Declares the type of the lamp. A map that somebody has set stays. */
export async function declareLamp({ deviceTypes }: Breezeway): Promise<void> {
  const known = (await deviceTypes.list()).find(({ deviceTypeName }) => deviceTypeName === lampType);
  if (!known?.map) await deviceTypes.set(lampType, lampMap);
}

const pauseMs = 5_000;

/**
 * Plays the cloud of the company that made the lamp: carries out commands to it, as examples/device-cloud does. It misses
 * no command once the returned promise has resolved. While it is not running, commands to the lamp expire.
 */
export async function startLampCloud(byClient: Breezeway, lampId: number): Promise<{ stop(): void }> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const firstEvent = Promise.withResolvers<void>();
  let lastEventId: string | undefined;
  const run = async () => {
    const options = { deviceIds: [lampId], things: true, heartbeats: true, lastEventId, signal };
    for await (const event of byClient.events(options)) {
      // A stream begins with a heartbeat.
      firstEvent.resolve();
      lastEventId = event.id;
      if (event.type === "thingCommand") await carryOut(byClient, lampId, event);
    }
  };
  const runOn = async () => {
    while (!signal.aborted) {
      // A failed call leaves the command without an answer, and its receipt says so.
      await run().catch(() => undefined);
      firstEvent.resolve();
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  };
  void runOn();
  await firstEvent.promise;
  return { stop: () => stopping.abort() };
}

/** The lamp shows at once what it was told. The write makes the receipt of the command `confirmed`. */
async function carryOut(byClient: Breezeway, lampId: number, event: ThingCommandEvent): Promise<void> {
  const { deviceId, thingId, commandId, state, writes } = event;
  if (deviceId !== lampId || state !== "sending" || !writes) return;
  // After a broken connection the stream delivers commands late. One that has expired must not switch the lamp now.
  const receipt = await byClient.commandReceipt(thingId, commandId);
  if (receipt.state === "sending") await byClient.setDeviceAttributes(lampId, writes);
}
