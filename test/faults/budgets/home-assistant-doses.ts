import { setTimeout as pause } from "node:timers/promises";
import type { Target } from "./attack.ts";
import { type HostileSession, honest, hostileHomeAssistant, type Script } from "./hostile-home-assistant.ts";
import { linkState, sendToken, shownState } from "./link-status.ts";
import type { Note } from "./sightings.ts";

/** One hostile message of an instance: in a script, or sent to a session that follows the home. */
export interface Dose {
  readonly message: string;
  readonly size: string;
  readonly script?: Script;
  readonly send?: (session: HostileSession) => Promise<void>;
  /** How long its fate is awaited, if not for the usual time. */
  readonly limitMs?: number;
}

export const ecosystem = "home";
/** How long the service may take to connect again after an ended session, its back-off included. */
const reconnectMs = 12_000;
/** How long the fate of a message is awaited. The slowest that was seen took 28 s. */
const fateMs = 30_000;
/** The service must get its turn: an end of the session that follows a message comes soon. */
const settleMs = 300;

/** Links the attacker's home to the instance of this process, and waits until it is followed. */
export async function linkHome(target: Target): Promise<void> {
  const instance = await hostileHomeAssistant();
  instance.play(honest);
  const followed = instance.nextFollower(10_000);
  const linked = await sendToken(target, "POST", { ecosystem, token: "hostile", address: instance.url });
  if (linked !== "200" || !(await followed)) throw new Error(`the home could not be linked: ${linked}`);
}

/** Plays the doses one after the other, each on a new session, until the time is up. Returns how many were played. */
export async function playDoses(
  target: Target,
  doses: readonly Dose[],
  { note, forMs }: { readonly note: Note; readonly forMs: number },
): Promise<number> {
  const untilMs = performance.now() + forMs;
  let played = 0;
  for (const dose of doses) {
    if (performance.now() > untilMs) break;
    played += 1;
    note({ message: dose.message, size: dose.size, ...(await playDose(target, dose)) });
  }
  (await hostileHomeAssistant()).play(honest);
  return played;
}

async function playDose(
  target: Target,
  { script, send, limitMs = fateMs }: Dose,
): Promise<{ readonly isTaken: boolean; readonly fate: string }> {
  const instance = await hostileHomeAssistant();
  instance.play(honest);
  const following = instance.nextFollower(reconnectMs);
  instance.hangUp();
  const session = await following;
  if (!session) return { isTaken: false, fate: `not linked again (${shownState(await linkState(target, ecosystem))})` };
  if (!script) return fateOf(target, session, limitMs, () => send!(session));
  instance.play(script);
  const opening = instance.nextSession(reconnectMs);
  instance.hangUp();
  const scripted = await opening;
  if (!scripted) return { isTaken: false, fate: `no connection (${shownState(await linkState(target, ecosystem))})` };
  // The scripted answer comes when the service has asked for it.
  return fateOf(target, scripted, limitMs, () => pause(settleMs));
}

async function fateOf(target: Target, session: HostileSession, limitMs: number, send: () => Promise<void>) {
  const startedMs = performance.now();
  await Promise.race([send(), session.ended, pause(limitMs)]);
  const wasRead = await session.hasRead(limitMs);
  await Promise.race([session.ended, pause(settleMs)]);
  const { endedMs } = session;
  const seconds = (((endedMs ?? performance.now()) - startedMs) / 1_000).toFixed(1);
  // The answer comes after everything that the service has read before.
  const state = shownState(await linkState(target, ecosystem));
  if (session.hasEnded) return { isTaken: false, fate: `connection ended after ${seconds} s (${state})` };
  return { isTaken: wasRead, fate: `${wasRead ? "read" : "not read"} within ${seconds} s (${state})` };
}
