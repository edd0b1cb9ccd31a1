import type { BackgroundTaskName } from "./background-task-names.ts";

/**
 * The injected environment of the core: clock, randomness, timers and log. The service passes the real ones, the
 * deterministic simulation its own, so both run the same code.
 */
export interface Runtime {
  readonly nowMs: () => number;
  /** A monotonic clock, for durations: unlike `nowMs`, it never jumps. */
  readonly elapsedMs: () => number;
  /** A number from 0 (included) to 1 (excluded). */
  readonly random: () => number;
  /** Runs `act` once after the delay; the returned function cancels it. */
  readonly after: (delayMs: number, act: () => void) => Cancel;
  readonly report: Logger;
  /** Runs work that belongs to no request, although a request may have woken it. */
  readonly outsideRequests?: <Result>(act: () => Result) => Result;
  /** Counts a failure of a periodic task (runtime/background-task.ts). */
  readonly countFailure?: (task: BackgroundTaskName) => void;
}

/**
 * Starts work for all tenants. Whatever woke it may be a request of one of them, whose log lines must not have those of
 * the others.
 */
export function outsideRequests<Result>(runtime: Pick<Runtime, "outsideRequests">, act: () => Result): Result {
  return runtime.outsideRequests ? runtime.outsideRequests(act) : act();
}

export type Cancel = () => void;

/** The part of a runtime that waits. */
export type Timers = Pick<Runtime, "after" | "elapsedMs">;

/** The log. Fields never hold a secret; the sentence is complete without them. */
export interface Logger {
  debug(fields: object, sentence: string): void;
  info(fields: object, sentence: string): void;
  warn(fields: object, sentence: string): void;
  error(fields: object, sentence: string): void;
  /** Whether lines of this level are written; left out: all are. */
  isLevelEnabled?(level: string): boolean;
}

/** Resolves after the delay, or at once when the signal aborts. */
export function pause(runtime: Pick<Timers, "after">, delayMs: number, signal: AbortSignal): Promise<void> {
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
 * Runs `act` with a signal that aborts after the time limit, or when `signal` aborts. It removes its listener from
 * `signal`, which may outlive millions of calls (AbortSignal.any would leave a listener each time).
 */
export async function within<Result>(
  runtime: Pick<Timers, "after">,
  limitMs: number,
  signal: AbortSignal,
  act: (inTime: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController();
  const stop = () => ending.abort();
  const cancel = runtime.after(limitMs, stop);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await act(ending.signal);
  } finally {
    cancel();
    signal.removeEventListener("abort", stop);
  }
}
