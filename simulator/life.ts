import type { Account } from "./accounts/account.ts";
import type { Cancel, Clock } from "./clock.ts";
import type { AccountDocument, Structure } from "./home/account-document.ts";
import { pick, type Random } from "./home/random.ts";
import { deviceIds } from "./scenes/arguments.ts";
import { playScene } from "./scenes/catalogue.ts";
import type { PlayedScene } from "./scenes/random-events.ts";

export interface LifeOptions {
  /** The time between two events; a minute when left out. */
  readonly everyMs?: number;
  /** The account's own seeded random numbers when left out. */
  readonly random?: Random;
  /** How long life pauses after a user or program has changed the account; two minutes when left out. */
  readonly restMs?: number;
}

/**
 * Plays the events of an ordinary day: people leave and come home, a fan starts and stops, an alarm is offline for a
 * moment. Every other event, beginning with the first, is one that users notice; the others change temperature and
 * humidity. There are no emergencies and no removals, so a demonstration can run for hours. After a change by a user
 * life pauses, so that the user sees the effect of that change only.
 */
export function startLife(
  account: Account,
  clock: Clock,
  { everyMs = 60_000, random = account.random, restMs = 120_000 }: LifeOptions,
): Cancel {
  let cancel: Cancel = () => {};
  let isVisibleTurn = true;
  const wait = () => {
    cancel = clock.after(everyMs, () => {
      const isResting = clock.nowMs() - account.touchedMs < restMs;
      const event = isResting ? undefined : account.readable && nextEvent(account.readable, random, isVisibleTurn);
      if (event) {
        account.change(playScene(account.home, event, { random, nowMs: clock.nowMs() }).home);
        isVisibleTurn = !isVisibleTurn;
      }
      wait();
    });
  };
  wait();
  return () => cancel();
}

/** The next event; undefined if the account has no structure. */
function nextEvent(document: AccountDocument, random: Random, isVisibleTurn: boolean): PlayedScene | undefined {
  const chance = random();
  const structure = pick(random, Object.values(document.structures ?? {}));
  if (structure === undefined) return undefined;
  const thermostat = pick(random, deviceIds(document, "thermostats", structure));
  if (thermostat === undefined) return presence(structure, chance);
  if (!isVisibleTurn) return { scene: "drift", thermostat };
  return (
    alarmOnline(document, structure) ??
    (structure.away === "home" ? undefined : presence(structure, chance)) ??
    (chance < 0.1 ? presence(structure, chance * 10) : undefined) ??
    (chance > 0.93 ? alarmOffline(document, structure, random) : undefined) ??
    fan(document, structure, thermostat) ??
    presence(structure, chance)
  );
}

function presence({ structure_id: structure, away }: Structure, chance: number): PlayedScene {
  const leaving = chance < 0.3 ? "auto-away" : "leave";
  return { scene: away === "home" ? leaving : "come-home", structure };
}

function alarmOffline(document: AccountDocument, structure: Structure, random: Random): PlayedScene | undefined {
  const alarm = pick(random, deviceIds(document, "smoke_co_alarms", structure));
  return alarm === undefined ? undefined : { scene: "alarm-offline", alarm };
}

/** An offline alarm comes back with the next visible event. */
function alarmOnline({ devices }: AccountDocument, structure: Structure): PlayedScene | undefined {
  const alarms = structure.smoke_co_alarms ?? [];
  const alarm = alarms.find((id) => devices?.smoke_co_alarms?.[id]?.is_online === false);
  return alarm === undefined ? undefined : { scene: "alarm-online", alarm };
}

/** At most one fan runs, so that a user can start another one. */
function fan({ devices }: AccountDocument, structure: Structure, chosen: string): PlayedScene | undefined {
  const running = (structure.thermostats ?? []).find((id) => devices?.thermostats?.[id]?.fan_timer_active === true);
  if (running !== undefined) return { scene: "fan-off", thermostat: running };
  return devices?.thermostats?.[chosen]?.has_fan ? { scene: "fan-on", thermostat: chosen } : undefined;
}
