/** Waits; rejects with the signal's reason when it is aborted. */
export function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, timerMs(delayMs));
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Waits for a promise that is shared with other callers: an abort ends only this wait. */
export function orAborted<Value>(shared: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (!signal) return shared;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    shared.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** The longest delay of a timer. A longer one, such as `Infinity`, would end at once. */
const longestTimerMs = 2 ** 31 - 1;

/** The delay that a timer can have, for a delay of any length. */
export function timerMs(delayMs: number): number {
  return Math.min(delayMs, longestTimerMs);
}

/** Exponential back-off up to ten seconds, with jitter. */
export function backoffMs(failures: number, firstMs: number): number {
  return Math.min(10_000, firstMs * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2);
}
