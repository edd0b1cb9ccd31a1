import type { StreamEnd } from "../connector.ts";

const firstStepMs = 1_000;
const longestMs = 60_000;
const longestAfterRefusalMs = 300_000;

/**
 * The pause before the next connection: exponential back-off with full jitter, so that thousands of streams that ended
 * together don't reconnect together. A stream that had brought an account (no failures) is renewed within a second.
 */
export function pauseMs(end: StreamEnd, failures: number, random: () => number): number {
  // A revoked token should not be used again; if it is, the longest pause applies.
  if (end.reason === "unauthorized") return longestAfterRefusalMs;
  const longest = end.reason === "refused" ? longestAfterRefusalMs : longestMs;
  return random() * Math.min(longest, firstStepMs * 2 ** failures);
}
