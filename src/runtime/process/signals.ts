/**
 * Aborts at the first SIGTERM or Ctrl-C, with the signal's name as the reason, or when the launcher that started this
 * process has ended. A second signal ends the process at once.
 */
export function untilSignalled(): AbortSignal {
  const stopping = new AbortController();
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping.signal.aborted) process.exit(exitedBySignal);
    stopping.abort(signal);
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  if (process.connected) {
    process.once("disconnect", () => stopping.abort());
    process.channel?.unref();
  }
  return stopping.signal;
}

/** The exit code of a process that Ctrl-C ended. */
const exitedBySignal = 130;

/**
 * Waits for work that may take long and can't be ended in order, but may end anywhere: once the signal has aborted, the
 * process ends with success if the work takes longer than `limitMs` from then on.
 */
export async function endingWith<Result>(
  stop: AbortSignal,
  work: Promise<Result>,
  { limitMs = startLimitMs } = {},
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const endSoon = () => {
    timer = setTimeout(() => process.exit(0), limitMs);
  };
  if (stop.aborted) endSoon();
  else stop.addEventListener("abort", endSoon, { once: true });
  try {
    return await work;
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", endSoon);
  }
}

/** A service that is starting ends within this time, and one that has started within five seconds. */
const startLimitMs = 3_000;

/** Resolves when the first of the signals aborts. */
export function anyAborted(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    }
  });
}
