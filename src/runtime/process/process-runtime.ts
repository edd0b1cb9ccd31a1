import type { BackgroundTaskName } from "../background-task-names.ts";
import type { Report, Runtime } from "../runtime.ts";

/** The real time, randomness and timers, for everything but the deterministic simulation. */
export function processRuntime(
  report: Report,
  countFailure: (task: BackgroundTaskName) => void = () => undefined,
): Runtime {
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
