import { linkSessionEntry } from "../devices/log-entries.ts";
import { StoreUnavailable } from "../model/errors.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { LinkSessionPosition, LinkSessionRow } from "../store/tables/link-sessions.ts";
import { isExpired, problemOf, sessionAheadMs, sessionMs } from "./session-status.ts";

export interface ExpiryParts {
  readonly store: Store<Pick<Transaction, "linkSessions" | "log" | "clock">>;
  /** Called when the log has grown. */
  readonly appended: () => void;
}

/** How many sessions are read at once. */
const atOnce = 500;

/**
 * Ends all sessions whose time is over: each is stored as expired and written to the log, in one transaction and under
 * its lock, so that of several nodes one does it, once. No ecosystem is called here: a slow one would delay the events
 * of all tenants (unlinked-credentials.ts). A session that can't be expired is skipped, and its error is thrown at the
 * end. Returns how many have expired.
 */
export async function expireSessions({ store, appended }: ExpiryParts, signal: AbortSignal): Promise<number> {
  let expired = 0;
  let failure: Error | undefined;
  let last: LinkSessionPosition | undefined;
  /** Of the sessions that began before the clock was set back, once all others are read. */
  let isAhead = false;
  do {
    const { found, nowMs } = await store.read(async (tx) => {
      const nowMs = await tx.clock.nowMs();
      const atMs = isAhead ? Number.MAX_SAFE_INTEGER : nowMs;
      return { found: await tx.linkSessions.unended(atMs, atOnce, last), nowMs };
    });
    const before = expired;
    try {
      for (const session of found) {
        if (signal.aborted) break;
        try {
          if (await expire(store, session)) expired += 1;
        } catch (error) {
          if (error instanceof StoreUnavailable) throw error;
          failure ??= new Error(`the link session ${session.id} could not be expired`, { cause: error });
        }
      }
    } finally {
      if (expired > before) appended();
    }
    last = found.length === atOnce ? found.at(-1) : undefined;
    if (!last && !isAhead) {
      isAhead = true;
      last = { expiresMs: nowMs + sessionMs + sessionAheadMs, ownerId: 0 as LinkSessionRow["ownerId"], id: "" };
    }
  } while (last && !signal.aborted);
  if (failure) throw failure;
  return expired;
}

/** Returns false when the session has ended meanwhile, or a node works on it. */
function expire(store: ExpiryParts["store"], session: LinkSessionRow): Promise<boolean> {
  return store.transaction(
    async (tx) => {
      const current = await tx.linkSessions.lock(session);
      const nowMs = await tx.clock.nowMs();
      if (!current || isExpiryLogged(current) || !isExpired(current, nowMs)) return false;
      const phase = mayHold(current) ? "discarding" : "expired";
      await tx.linkSessions.save({ ...current, phase, claimedMs: null });
      const { id, userId, ecosystem, mode } = current;
      // An entry of the log belongs to a user: a session in which nobody has signed in has none.
      if (userId === null) return true;
      const problem = problemOf(current);
      const body = { linkSessionId: id, ecosystem, mode, status: "expired", ...(problem && { problem }) } as const;
      await tx.log.append(linkSessionEntry(userId, null, nowMs, body));
      return true;
    },
    { background: true },
  );
}

function isExpiryLogged({ phase }: LinkSessionRow): boolean {
  return phase === "expired" || phase === "discarding";
}

/** Whether a session in this phase may hold a credential: the user left the page before the account was linked. */
function mayHold({ phase }: LinkSessionRow): boolean {
  return phase === "reading" || phase === "unread" || phase === "asking";
}
