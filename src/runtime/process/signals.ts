/**
 * Aborts at the first SIGTERM or Ctrl-C, with its name as the reason, or when the launcher that started this process is
 * gone; a second signal ends the process at once.
 */
export function untilTold(): AbortSignal {
  const told = new AbortController();
  const tell = (signal: NodeJS.Signals) => {
    if (told.signal.aborted) process.exit(130);
    told.abort(signal);
  };
  process.on("SIGTERM", tell);
  process.on("SIGINT", tell);
  if (process.connected) {
    process.once("disconnect", () => told.abort());
    process.channel?.unref();
  }
  return told.signal;
}

/** Resolves when the first of the signals aborts. */
export function anyOf(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    }
  });
}
