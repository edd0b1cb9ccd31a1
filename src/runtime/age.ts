import type { Runtime } from "./runtime.ts";

export type Clocks = Pick<Runtime, "nowMs" | "elapsedMs">;

/** One moment on both clocks of this machine. */
export interface Moment {
  readonly nowMs: number;
  readonly elapsedMs: number;
}

/** The two clocks drift apart by less. */
const noticedSleepMs = 500;

export function momentOf({ nowMs, elapsedMs }: Clocks): Moment {
  return { nowMs: nowMs(), elapsedMs: elapsedMs() };
}

/**
 * The time since the moment. While the machine sleeps, its monotonic clock stands still and only its wall clock goes on.
 * A wall clock that was set back does not count.
 */
export function ageMs(clocks: Clocks, since: Moment): number {
  const now = momentOf(clocks);
  const awakeMs = now.elapsedMs - since.elapsedMs;
  const wallMs = now.nowMs - since.nowMs;
  return wallMs - awakeMs < noticedSleepMs ? awakeMs : wallMs;
}
