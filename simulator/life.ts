import type { Account } from "./accounts/account.ts";
import type { Cancel, Clock } from "./clock.ts";
import type { AccountDocument, Structure } from "./home/account-document.ts";
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
 * An ordinary day: the air drifts, people leave and come home, somebody starts a fan and stops it, an alarm loses its
 * connection for a moment. Every other time it is something that the devices show, beginning with the first, and the
 * air in between. Nothing burns and nothing is removed, so a demonstration can go on for hours. It rests while somebody
 * else does things, so that they see what they have done.
 */
export function startLife(
  account: Account,
  clock: Clock,
  { everyMs = 60_000, random = account.random, restMs = 120_000 }: LifeOptions,
): Cancel {
  let cancel: Cancel = () => {};
  let isShown = true;
  const wait = () => {
    cancel = clock.after(everyMs, () => {
      const isResting = clock.nowMs() - account.touchedMs < restMs;
      const event = isResting ? undefined : account.readable && nextEvent(account.readable, random, isShown);
      if (event) {
        account.change(playScene(account.home, event, { random, nowMs: clock.nowMs() }).home);
        isShown = !isShown;
      }
      wait();
    });
  };
  wait();
  return () => cancel();
}

/** What happens next in this home; undefined when there is nothing in it to which anything could happen. */
function nextEvent(document: AccountDocument, random: Random, isShown: boolean): PlayedScene | undefined {
  const dice = random();
  const structure = pick(random, Object.values(document.structures ?? {}));
  if (structure === undefined) return undefined;
  const thermostat = pick(random, deviceIds(document, "thermostats", structure));
  if (thermostat === undefined) return presence(structure, dice);
  if (!isShown) return { scene: "drift", thermostat };
  return (
    alarmBack(document, structure) ??
    (structure.away === "home" ? undefined : presence(structure, dice)) ??
    (dice < 0.1 ? presence(structure, dice * 10) : undefined) ??
    (dice > 0.93 ? alarmLost(document, structure, random) : undefined) ??
    fan(document, structure, thermostat) ??
    presence(structure, dice)
  );
}

function presence({ structure_id: structure, away }: Structure, dice: number): PlayedScene {
  const leaving = dice < 0.3 ? "auto-away" : "leave";
  return { scene: away === "home" ? leaving : "come-home", structure };
}

function alarmLost(document: AccountDocument, structure: Structure, random: Random): PlayedScene | undefined {
  const alarm = pick(random, deviceIds(document, "smoke_co_alarms", structure));
  return alarm === undefined ? undefined : { scene: "alarm-offline", alarm };
}

/** Nothing stays away for long. */
function alarmBack({ devices }: AccountDocument, structure: Structure): PlayedScene | undefined {
  const alarms = structure.smoke_co_alarms ?? [];
  const alarm = alarms.find((id) => devices?.smoke_co_alarms?.[id]?.is_online === false);
  return alarm === undefined ? undefined : { scene: "alarm-online", alarm };
}

/** One fan at a time: whoever wants to start one by hand finds another that is off. */
function fan({ devices }: AccountDocument, structure: Structure, chosen: string): PlayedScene | undefined {
  const running = (structure.thermostats ?? []).find((id) => devices?.thermostats?.[id]?.fan_timer_active === true);
  if (running !== undefined) return { scene: "fan-off", thermostat: running };
  return devices?.thermostats?.[chosen]?.has_fan ? { scene: "fan-on", thermostat: chosen } : undefined;
}
