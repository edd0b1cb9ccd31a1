/** Time as the simulator knows it. It is handed in, so that a test can move it instead of waiting. */
export interface Clock {
  readonly nowMs: () => number;
  /** Runs `act` once after the delay; the returned function cancels it. */
  readonly after: (delayMs: number, act: () => void) => Cancel;
}

export type Cancel = () => void;

/** setTimeout fires at once for anything longer, so a caller that waits for years has to look again in between. */
export const longestDelayMs = 2 ** 31 - 1;

/** The clock on the wall. Its timers never keep the process alive. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after: (delayMs, act) => {
    const timer = setTimeout(act, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
