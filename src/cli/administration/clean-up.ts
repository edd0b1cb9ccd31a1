import { constants } from "node:os";
import { setTimeout as pause } from "node:timers/promises";

/** The time limit of the clean-up after an interrupt. */
const longestMs = 3_000;

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs the clean-up after the work, also when the work fails or the user presses Ctrl-C. A second Ctrl-C ends the process
 * at once.
 */
export async function withCleanUp<Result>(work: () => Promise<Result>, cleanUp: () => Promise<void>): Promise<Result> {
  const interrupted = (signal: (typeof signals)[number]) => {
    stopListening();
    void Promise.race([cleanUp(), pause(longestMs)]).finally(() => process.exit(128 + constants.signals[signal]));
  };
  const stopListening = () => {
    for (const signal of signals) process.off(signal, interrupted);
  };
  for (const signal of signals) process.on(signal, interrupted);
  try {
    return await work();
  } finally {
    stopListening();
    await cleanUp();
  }
}
