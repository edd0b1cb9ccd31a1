import type { BackgroundTaskName } from "../background-task-names.ts";
import type { Logger, Runtime } from "../runtime.ts";

/** The real clock, randomness and timers. The deterministic simulation has its own. */
export function processRuntime(
  report: Logger,
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
