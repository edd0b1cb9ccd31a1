import type { Account } from "./accounts/account.ts";
import type { Cancel, Clock } from "./clock.ts";
import type { AccountDocument } from "./home/account-document.ts";
import { pick, type Random } from "./home/random.ts";
import { deviceIds } from "./scenes/arguments.ts";
import { playScene } from "./scenes/catalogue.ts";
import type { PlayedScene } from "./scenes/happenings.ts";

export interface LifeOptions {
  /** How often something happens; a minute when left out. */
  readonly everyMs?: number;
  /** Decides what happens; the account's own seeded random numbers when left out. */
  readonly random?: Random;
  /** How long life rests after somebody has done something; two minutes when left out. */
  readonly restMs?: number;
}

/**
 * An ordinary day: the air drifts, people leave and come home, somebody starts a fan and it runs out, a thermostat loses
 * its connection for a moment. Nothing burns and nothing is removed, so a demonstration can go on for hours. It rests
 * while somebody else does things, so that they see what they have done.
 */
export function startLife(
  account: Account,
  clock: Clock,
  { everyMs = 60_000, random = account.random, restMs = 120_000 }: LifeOptions,
): Cancel {
  let cancel: Cancel = () => {};
  const wait = () => {
    cancel = clock.after(everyMs, () => {
      const isResting = clock.nowMs() - account.touchedMs < restMs;
      const event = isResting ? undefined : account.readable && nextEvent(account.readable, random);
      if (event) account.change(playScene(account.home, event, { random, nowMs: clock.nowMs() }).home);
      wait();
    });
  };
  wait();
  return () => cancel();
}

/** What happens next in this home; undefined when there is nothing in it to which anything could happen. */
function nextEvent(document: AccountDocument, random: Random): PlayedScene | undefined {
  const dice = random();
  const structure = pick(random, Object.values(document.structures ?? {}));
  if (structure === undefined) return undefined;
  const isHome = structure.away === "home";
  const thermostat = pick(random, deviceIds(document, "thermostats", structure));
  if (thermostat === undefined || dice < 0.15) {
    const leaving = dice < 0.04 ? "auto-away" : "leave";
    return { scene: isHome ? leaving : "come-home", structure: structure.structure_id };
  }
  const {
    has_fan: hasFan,
    fan_timer_active: isRunning,
    is_online: isOnline,
  } = document.devices!.thermostats![thermostat]!;
  if (!isOnline) return { scene: "thermostat-online", thermostat };
  if (dice > 0.98) return { scene: "thermostat-offline", thermostat };
  return { scene: dice < 0.3 && isHome && hasFan && !isRunning ? "fan-on" : "drift", thermostat };
}
