import { InvalidArgument } from "./errors.ts";
import type { EventOptions } from "./events.ts";

/**
 * Refuses an argument that is not an object or has an unknown member. If the SDK ignored a misspelled filter, the
 * unfiltered answer would look right.
 * @internal
 */
export function checkMembers(call: string, argument: unknown, known: readonly string[]): void {
  if (typeof argument !== "object" || argument === null || Array.isArray(argument)) {
    throw new InvalidArgument(`${call} takes an object here: { ${known.join(", ")} }.`);
  }
  const unknown = Object.entries(argument).find(([name, value]) => value !== undefined && !known.includes(name));
  if (unknown) throw new InvalidArgument(`${call} doesn't know ${unknown[0]}. It takes ${known.join(", ")}.`);
}

/**
 * All members of `EventOptions`. `events()` refuses a member that is missing here.
 * @internal
 */
export const eventOptionNames: readonly (keyof EventOptions)[] = [
  ...([
    "deviceIds",
    "attributes",
    "things",
    "thingIds",
    "linkSessions",
    "lastEventId",
    "heartbeats",
    "heartbeatSeconds",
    "silenceMs",
  ] as const),
  ...(["onConnected", "onDisconnected", "onState", "signal"] as const),
];
