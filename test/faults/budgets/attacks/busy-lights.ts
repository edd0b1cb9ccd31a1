import { setTimeout as pause } from "node:timers/promises";
import type { Attack } from "../attack.ts";
import { linkHome } from "../home-assistant-doses.ts";
import { type HostileSession, honest, hostileHomeAssistant, lightId, lights } from "../hostile-home-assistant.ts";
import { linkState, shownState } from "../link-status.ts";
import { Tallied } from "../tally.ts";

const lamps = 480;
const changesOfFrame = 2_000;
const megabytesPerSecond = [0.3, 0.8];
const eachMs = 9_000;

/** 480 lights with 2,000 changes in a frame, within the bytes that a stream may send. */
export const busyLights: Attack = {
  name: "480 lights with 2,000 changes a frame",
  async prepare(target) {
    const instance = await hostileHomeAssistant();
    instance.entities = lights(lamps);
    await linkHome(target);
  },
  async run(target, note) {
    const got = new Tallied();
    const instance = await hostileHomeAssistant();
    instance.play(honest);
    for (const rate of megabytesPerSecond) {
      const following = instance.nextFollower(10_000);
      instance.hangUp();
      const session = await following;
      if (!session) break;
      const { frames, bytes } = await change(session, rate * 1_000_000);
      got.add(`frames at ${rate} MB/s`, frames);
      const wasRead = await session.hasRead(10_000);
      const state = shownState(await linkState(target, "home"));
      const fate = `${(bytes / 1_000_000).toFixed(1)} MB ${wasRead ? "read" : "not read"} (${session.hasEnded ? "connection ended, " : ""}${state})`;
      note({ message: `${changesOfFrame} changes a frame`, size: `${rate} MB/s`, isTaken: wasRead, fate });
    }
    instance.entities = lights(2);
    return got.tally;
  },
};

/** Sends frames at a rate, with values that differ each time. */
async function change(session: HostileSession, bytesPerSecond: number) {
  const startedMs = performance.now();
  let [frames, bytes] = [0, 0];
  while (!session.hasEnded && performance.now() - startedMs < eachMs) {
    const dueBytes = ((performance.now() - startedMs) * bytesPerSecond) / 1_000;
    if (bytes > dueBytes) {
      await pause(10);
      continue;
    }
    const messages = Array.from({ length: changesOfFrame }, (_, i) => {
      const state = { a: { brightness: (frames * changesOfFrame + i) % 255 } };
      return { id: session.subscription, type: "event", event: { c: { [lightId(i % lamps)]: { "+": state } } } };
    });
    const frame = JSON.stringify(messages);
    await session.send(frame);
    frames += 1;
    bytes += frame.length;
  }
  return { frames, bytes };
}
