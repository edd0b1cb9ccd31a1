import type { Scheduler } from "./scheduler.ts";

/** When every run begins, by a clock that goes right. */
export const beginningMs = 1_700_000_000_000;

/** A clock of one machine: it may be wrong, and it may jump. */
export class Clock {
  offsetMs: number;
  readonly #scheduler: Scheduler;

  constructor(scheduler: Scheduler, offsetMs: number) {
    this.#scheduler = scheduler;
    this.offsetMs = offsetMs;
  }

  readonly nowMs = (): number => Math.floor(beginningMs + this.#scheduler.nowMs + this.offsetMs);
}
