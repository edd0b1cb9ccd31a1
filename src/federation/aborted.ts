/** Resolves when the signal aborts. Raced with a call, it limits the time of a connector that ignores its signal. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
