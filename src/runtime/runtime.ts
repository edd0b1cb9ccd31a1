import type { BackgroundTaskName } from "./background-task-names.ts";

/**
 * What the core is handed instead of reaching for it: time, randomness, timers and a place to report to. The service
 * gives it the real ones, the deterministic simulation its own, and so both run the same code.
 */
export interface Runtime {
  readonly nowMs: () => number;
  /** For measuring how long something takes: unlike the clock, it never jumps. */
  readonly elapsedMs: () => number;
  /** A number from 0 (included) to 1 (excluded). */
  readonly random: () => number;
  /** Runs `act` once after the delay; the returned function cancels it. */
  readonly after: (delayMs: number, act: () => void) => Cancel;
  readonly report: Report;
  /** Counts a failure of work that this node repeats by itself (runtime/background-task.ts). */
  readonly countFailure?: (task: BackgroundTaskName) => void;
}

export type Cancel = () => void;

/** Fields never carry a secret; the sentence reads without them. */
export interface Report {
  debug(fields: object, sentence: string): void;
  info(fields: object, sentence: string): void;
  warn(fields: object, sentence: string): void;
  error(fields: object, sentence: string): void;
}

/** Resolves after the delay, or at once when the signal aborts. */
export function pause(runtime: Runtime, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const finish = () => {
      cancel();
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const cancel = runtime.after(delayMs, finish);
    signal.addEventListener("abort", finish, { once: true });
  });
}

/**
 * Does something that is told to end when the time is up or the signal aborts. Nothing stays behind on that signal,
 * which may outlive a million of them (AbortSignal.any would leave its listeners there).
 */
export async function within<Result>(
  runtime: Runtime,
  limitMs: number,
  signal: AbortSignal,
  act: (inTime: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const giveUp = new AbortController();
  const stop = () => giveUp.abort();
  const cancel = runtime.after(limitMs, stop);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await act(giveUp.signal);
  } finally {
    cancel();
    signal.removeEventListener("abort", stop);
  }
}
