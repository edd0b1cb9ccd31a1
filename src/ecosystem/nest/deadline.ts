/**
 * Does something that ends when the signal aborts or when the time is up. By hand rather than with AbortSignal.any:
 * nothing may stay behind on a link's signal, which outlives many connections.
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
