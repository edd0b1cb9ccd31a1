import { InvalidArgument } from "./errors.ts";
import type { EventOptions } from "./events.ts";

/**
 * Refuses an argument that isn't an object, or has a member that the call doesn't know. Ignored, a misspelled filter
 * would bring an answer that looks right.
 * @internal
 */
export function checkMembers(call: string, given: unknown, known: readonly string[]): void {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new InvalidArgument(`${call} takes an object here: { ${known.join(", ")} }.`);
  }
  const unknown = Object.entries(given).find(([name, value]) => value !== undefined && !known.includes(name));
  if (unknown) throw new InvalidArgument(`${call} doesn't know ${unknown[0]}. It takes ${known.join(", ")}.`);
}

/** @internal */
export const eventOptionNames: readonly (keyof EventOptions)[] = [
  ...(["deviceIds", "attributes", "lastEventId", "heartbeats", "heartbeatSeconds", "silenceMs"] as const),
  ...(["onConnected", "onDisconnected", "onState", "signal"] as const),
];
