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

/** Resolves when the first of the signals aborts. */
export function anyAborted(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    }
  });
}
