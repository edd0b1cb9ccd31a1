import type { BackgroundTaskName } from "./model/background-task.ts";
import type { Report, Surroundings } from "./model/surroundings.ts";

/** The real time, randomness and timers, for everything but the deterministic simulation. */
export function realSurroundings(
  report: Report,
  countFailure: (task: BackgroundTaskName) => void = () => undefined,
): Surroundings {
  return {
    nowMs: Date.now,
    elapsedMs: () => performance.now(),
    random: Math.random,
    after(delayMs, act) {
      const timer = setTimeout(act, delayMs);
      return () => clearTimeout(timer);
    },
    report,
    countFailure,
  };
}
