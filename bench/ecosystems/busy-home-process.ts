import { setTimeout as sleep } from "node:timers/promises";
import { HostileHomeAssistant, lightId, lights } from "../../test/faults/budgets/hostile-home-assistant.ts";

/**
 * Runs as a child process: a Home Assistant with 480 lights, which reports changes at a steady rate, each in a message of
 * its own. It ends with its parent.
 */
export interface Playing {
  readonly change: "brightness" | "on/off";
  readonly perSecond: number;
  readonly seconds: number;
}

export interface Played {
  /** How long after the last change the service had read it. */
  readonly behindMs: number;
}

export const lamps = 480;
const longestBehindMs = 60_000;

const instance = await HostileHomeAssistant.start();
instance.entities = lights(lamps);
process.on("disconnect", () => process.exit());
process.on("message", async (playing: Playing) => process.send?.(await play(playing)));
process.send?.({ url: instance.url });

/** The changes of all scenarios so far, one lamp after the other, and the lamps that are off. */
let changes = 0;
const off = new Set<number>();

/** The next change. Each changes the state of its lamp. */
function nextChange(change: Playing["change"]): object {
  const place = changes % lamps;
  const brightness = 1 + ((7 * Math.floor(changes / lamps)) % 254);
  changes += 1;
  if (change === "on/off" && !off.delete(place)) off.add(place);
  const state = change === "brightness" ? { a: { brightness } } : { s: off.has(place) ? "off" : "on" };
  return { [lightId(place)]: { "+": { ...state, lc: Date.now() / 1_000 } } };
}

async function play({ change, perSecond, seconds }: Playing): Promise<Played> {
  const session = [...instance.sessions].find(
    ({ isFollowing, subscription }) => isFollowing && subscription !== undefined,
  );
  if (!session) throw new Error("nobody follows the home");
  const startedMs = performance.now();
  for (let sent = 0; sent < perSecond * seconds; ) {
    const due = Math.min(perSecond * seconds, ((performance.now() - startedMs) * perSecond) / 1_000);
    for (; sent < due; sent++) await session.event({ c: nextChange(change) });
    await sleep(2);
  }
  const sentMs = performance.now();
  const wasRead = await session.hasRead(longestBehindMs);
  return { behindMs: wasRead ? performance.now() - sentMs : longestBehindMs };
}
