import type { StreamEnd } from "../connector.ts";

const firstStepMs = 1_000;
const longestMs = 60_000;
const longestAfterRefusalMs = 300_000;

/**
 * How long to wait before the next connection: exponential back-off with full jitter, so that thousands of streams that
 * ended together don't come back together. A stream that had brought an account (no failures) is renewed within a second.
 */
export function pauseMs(end: StreamEnd, failures: number, random: () => number): number {
  // Nobody should connect again with a revoked token; who asks all the same is kept as far off as we may.
  if (end.reason === "unauthorized") return longestAfterRefusalMs;
  const longest = end.reason === "refused" ? longestAfterRefusalMs : longestMs;
  return random() * Math.min(longest, firstStepMs * 2 ** failures);
}
