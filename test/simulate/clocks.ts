import type { Scheduler } from "./scheduler.ts";

/** The true time at which every run begins. */
export const beginningMs = 1_700_000_000_000;

/** The clock of one machine: it may be wrong, and it may jump. */
export class Clock {
  offsetMs: number;
  readonly #scheduler: Scheduler;

  constructor(scheduler: Scheduler, offsetMs: number) {
    this.#scheduler = scheduler;
    this.offsetMs = offsetMs;
  }

  readonly nowMs = (): number => Math.floor(beginningMs + this.#scheduler.nowMs + this.offsetMs);
}
