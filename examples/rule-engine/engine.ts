import type { Breezeway, StreamState } from "@breezeway/sdk";
import { type Rule, rulesFor } from "./rules.ts";

/** The id of the last event that the engine has processed, stored over restarts. */
export interface Position {
  load(): string | undefined;
  save(eventId: string): void;
}

/**
 * Follows a user's homes and executes the rules. The position is saved after the rules of an event were executed, so
 * an engine that crashes in between executes them again (at least once). That is harmless: the writes are idempotent.
 */
export async function run(
  breezeway: Breezeway,
  rules: readonly Rule[],
  position: Position,
  tell: (sentence: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  const attributes = [...new Set(rules.map(({ when }) => when.attribute))];
  // While the stream is stale the state of the home is unknown: no rule is executed, and the engine reports that.
  const onState = (stream: StreamState) => {
    if (stream.state === "live") tell("following");
    else if (stream.asOf !== undefined) tell(`not following since ${timeOf(stream.asOf)}: the rules wait`);
  };
  const lastEventId = position.load();
  // Heartbeats have ids too: there is a position to save from the start, and it stays recent in a quiet week.
  for await (const event of breezeway.events({ attributes, lastEventId, heartbeats: true, onState, signal })) {
    if (event.type === "attribute") {
      for (const rule of rulesFor(rules, event)) await carryOut(breezeway, rule, tell);
    }
    if (event.type === "link") {
      const isSeen = event.state === "live";
      tell(isSeen ? "the home is seen again" : `the home can't be seen since ${timeOf(event.time)}: ${event.reason}`);
    }
    // The outage was longer than the service keeps its log.
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
