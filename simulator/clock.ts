/** Time and timers. They are passed in, so that a test can move the clock instead of waiting. */
export interface Clock {
  readonly nowMs: () => number;
  /** Runs `run` after the delay; the returned function cancels it. */
  readonly after: (delayMs: number, run: () => void) => Cancel;
}

export type Cancel = () => void;

/** setTimeout fires at once for longer delays, so longer waits need several timers. */
export const longestDelayMs = 2 ** 31 - 1;

/** The system's clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs).unref();
    return () => clearTimeout(timer);
  },
};
