/**
 * Runs `act` with a signal that aborts when the given one does or when the time is up. Not with AbortSignal.any,
 * because no listener may stay on a link's signal, which outlives many connections.
 */
export async function withDeadline<T>(
  signal: AbortSignal,
  limitMs: number,
  act: (inTime: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, limitMs);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await act(controller.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}
