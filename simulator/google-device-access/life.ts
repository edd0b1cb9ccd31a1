import type { Cancel, Clock } from "../clock.ts";
import { pick, type Random } from "../home/random.ts";
import type { Account } from "./account.ts";
import { attempt, thermostatsOf, warm } from "./scenes.ts";
import { traitOf } from "./thermostat-commands.ts";

export interface LifeOptions {
  /** The time between two events. */
  readonly everyMs: number;
  readonly random: Random;
  /** Whether a person or a client has just changed something: then life pauses. */
  readonly isPaused: () => boolean;
}

/**
 * Plays the events of an ordinary day: rooms become warmer while they are heated and colder otherwise, somebody turns
 * the dial, a fan starts and stops.
 */
export function startLife(account: Account, clock: Clock, { everyMs, random, isPaused }: LifeOptions): Cancel {
  let cancel: Cancel = () => undefined;
  let isVisibleTurn = true;
  const wait = () => {
    cancel = clock.after(everyMs, () => {
      if (!isPaused()) {
        if (isVisibleTurn) pick(random, [turnDial, toggleFan])!(account, random, clock.nowMs());
        else drift(account, random);
        isVisibleTurn = !isVisibleTurn;
      }
      wait();
    });
  };
  wait();
  return () => cancel();
}

function turnDial(account: Account, random: Random, nowMs: number): void {
  const device = pick(random, thermostatsOf(account));
  if (!device) return;
  const heatCelsius = 18.5 + Math.floor(random() * 6) / 2;
  attempt(account, device, "ThermostatTemperatureSetpoint.SetHeat", { heatCelsius }, nowMs);
}

function toggleFan(account: Account, random: Random, nowMs: number): void {
  const device = pick(random, thermostatsOf(account));
  if (!device) return;
  const timerMode = traitOf(device, "Fan").timerMode === "ON" ? "OFF" : "ON";
  attempt(account, device, "Fan.SetTimer", { timerMode }, nowMs);
}

function drift(account: Account, random: Random): void {
  for (const device of thermostatsOf(account)) {
    const { status } = traitOf(device, "ThermostatHvac");
    const towards = status === "HEATING" ? 0.2 : status === "COOLING" ? -0.2 : 0;
    warm(account, device, towards + (random() - 0.5) / 5);
  }
}
