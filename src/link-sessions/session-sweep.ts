import { type ExpiryParts, expireSessions } from "./session-expiry.ts";

/** How long a session is kept after it has expired, so that its client can read how it ended. */
export const sessionKeptMs = 24 * 3_600_000;
const atOnce = 500;

/** Removes old sessions; those whose time is over expire first. Returns how many were removed. */
export async function sweepSessions(parts: ExpiryParts, signal: AbortSignal): Promise<number> {
  await expireSessions(parts, signal);
  const { store } = parts;
  let all = 0;
  while (!signal.aborted) {
    const removed = await store.transaction(
      async (tx) => tx.linkSessions.removeExpired((await tx.clock.nowMs()) - sessionKeptMs, atOnce),
      { patient: true },
    );
    all += removed;
    if (removed < atOnce) break;
  }
  return all;
}
