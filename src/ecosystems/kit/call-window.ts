/** At most `calls` calls within `perMs` milliseconds. */
export interface RateLimit {
  readonly calls: number;
  readonly perMs: number;
}

/** How long to wait before so many more calls are within all limits (sliding windows); 0: none. `madeMs`: oldest first. */
export function callWaitMs(
  limits: readonly RateLimit[],
  madeMs: readonly number[],
  calls: number,
  nowMs: number,
): number {
  const waits = limits.map(({ calls: most, perMs }) => {
    // The call that must be out of the window before the new ones are within the limit.
    const blocking = madeMs.at(-(most - Math.min(calls, most) + 1));
    return blocking === undefined ? 0 : blocking + perMs - nowMs;
  });
  return Math.max(0, ...waits);
}
