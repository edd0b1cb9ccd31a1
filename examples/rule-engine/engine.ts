import type { Breezeway, StreamState } from "@breezeway/sdk";
import { type Rule, rulesFor } from "./rules.ts";

/** Where the engine stood when it last stopped. */
export interface Position {
  load(): string | undefined;
  save(eventId: string): void;
}

/**
 * Follows a user's homes and carries the rules out. The place in the stream is kept after the rules of an event were
 * carried out: an engine that dies in between does them again, which writes the same value once more and harms nobody.
 */
export async function run(
  breezeway: Breezeway,
  rules: readonly Rule[],
  position: Position,
  tell: (sentence: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  const attributes = [...new Set(rules.map(({ when }) => when.attribute))];
  // While the stream is stale nobody knows how the home is: the rules wait, and the engine says so.
  const onState = (stream: StreamState) => {
    if (stream.state === "live") tell("following");
    else if (stream.asOf !== undefined) tell(`not following since ${timeOf(stream.asOf)}: the rules wait`);
  };
  const lastEventId = position.load();
  // With the heartbeats, so that there is a place from the first moment on, and a late one after a quiet week.
  for await (const event of breezeway.events({ attributes, lastEventId, heartbeats: true, onState, signal })) {
    if (event.type === "attribute") {
      for (const rule of rulesFor(rules, event)) await carryOut(breezeway, rule, tell);
    }
    if (event.type === "link") {
      const isSeen = event.state === "live";
      tell(isSeen ? "the home is seen again" : `the home can't be seen since ${timeOf(event.time)}: ${event.reason}`);
    }
    // After an outage longer than the service remembers.
    if (event.type === "resync") tell("some events are lost; the rules go on from here");
    position.save(event.id);
  }
}

async function carryOut(breezeway: Breezeway, { name, then }: Rule, tell: (sentence: string) => void): Promise<void> {
  const device = (await breezeway.getDevices()).find(({ deviceName }) => deviceName === then.device);
  if (!device) return tell(`${name}: there is no device called ${then.device}`);
  await breezeway.setDeviceAttribute(device.deviceId, then.attribute, then.value);
  tell(`${name}: ${then.device}, ${then.attribute} is ${then.value}`);
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
