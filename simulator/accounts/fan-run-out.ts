import { type Cancel, type Clock, longestDelayMs } from "../clock.ts";
import type { AccountDocument } from "../home/account-document.ts";
import { stopFan } from "../home/fan-timer.ts";
import type { Account } from "./account.ts";

interface Watch {
  readonly thermostats: unknown;
  /** When each running fan stops, by thermostat. */
  readonly dueMs: ReadonlyMap<string, number>;
  readonly cancel: Cancel;
}

/**
 * Stops each fan at its timeout. A fan whose timeout was already over when it was first seen is left alone: such a
 * document was put in from outside, to be sent as it is.
 */
export class FanRunOut {
  readonly #clock: Clock;
  readonly #watches = new Map<Account, Watch>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Looks at an account after a change of it. */
  watch(account: Account): void {
    const known = this.#watches.get(account);
    const thermostats = account.readable?.devices?.thermostats;
    // Most changes don't touch a thermostat, and documents share what is unchanged.
    if (known !== undefined && known.thermostats === thermostats) return;
    known?.cancel();
    const dueMs = this.#runningFans(account.readable, known?.dueMs);
    if (dueMs.size === 0) this.#watches.delete(account);
    else this.#watches.set(account, { thermostats, dueMs, cancel: this.#wakeAt(account, dueMs) });
  }

  forget(account: Account): void {
    this.#watches.get(account)?.cancel();
    this.#watches.delete(account);
  }

  stop(): void {
    for (const { cancel } of this.#watches.values()) cancel();
    this.#watches.clear();
  }

  #runningFans(document: AccountDocument | undefined, known: Watch["dueMs"] | undefined): Map<string, number> {
    const running = new Map<string, number>();
    const nowMs = this.#clock.nowMs();
    for (const [id, thermostat] of Object.entries(document?.devices?.thermostats ?? {})) {
      if (thermostat.fan_timer_active !== true) continue;
      const due = Date.parse(thermostat.fan_timer_timeout);
      if (due > nowMs || known?.get(id) === due) running.set(id, due);
    }
    return running;
  }

  #wakeAt(account: Account, dueMs: Watch["dueMs"]): Cancel {
    const delayMs = Math.min(...dueMs.values()) - this.#clock.nowMs();
    return this.#clock.after(Math.min(Math.max(delayMs, 0), longestDelayMs), () => this.#runOut(account));
  }

  #runOut(account: Account): void {
    const watch = this.#watches.get(account);
    if (watch === undefined) return;
    const nowMs = this.#clock.nowMs();
    const over = [...watch.dueMs].filter(([, due]) => due <= nowMs).map(([id]) => id);
    if (over.length > 0) account.change({ ...account.home, document: over.reduce(stopFan, account.home.document) });
    else this.#watches.set(account, { ...watch, cancel: this.#wakeAt(account, watch.dueMs) });
  }
}
