/**
 * Aborts at the first SIGTERM or Ctrl-C, or when the launcher that started this process is gone; a second signal ends
 * the process at once.
 */
export function untilTold(): AbortSignal {
  const told = new AbortController();
  const tell = () => {
    if (told.signal.aborted) process.exit(130);
    told.abort();
  };
  process.on("SIGTERM", tell);
  process.on("SIGINT", tell);
  if (process.connected) {
    process.once("disconnect", () => told.abort());
    process.channel?.unref();
  }
  return told.signal;
}
