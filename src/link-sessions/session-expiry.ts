import { linkSessionEntry } from "../devices/log-entries.ts";
import type { Connector } from "../ecosystems/connector.ts";
import { StoreUnavailable } from "../model/errors.ts";
import type { Report } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { LinkSessionRow } from "../store/tables/link-sessions.ts";
import { discardCredential } from "./discarded-credential.ts";
import { withoutCredential } from "./session-end.ts";
import type { Sealer } from "./session-secrets.ts";
import { isExpired, problemOf } from "./session-status.ts";

export type ExpiryTables = Pick<Transaction, "linkSessions" | "log" | "clock">;

export interface ExpiryParts {
  readonly store: Store<ExpiryTables>;
  readonly sealer: Sealer;
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly runtime: { readonly report: Pick<Report, "error"> };
  /** Called when the log has grown. */
  readonly appended: () => void;
}

/** How many sessions one run expires. The next run goes on with the others. */
const atOnce = 500;

/**
 * Ends sessions whose time is over: each is stored as expired and written to the log, in one transaction and under its
 * lock, so that of several nodes one does it, once. Then it revokes the credentials of those whose user left the page
 * before the account was linked. Returns how many have expired.
 */
export async function expireSessions(parts: ExpiryParts, signal: AbortSignal): Promise<number> {
  const { store, appended } = parts;
  const found = await store.read(async (tx) => tx.linkSessions.unended(await tx.clock.nowMs(), atOnce));
  const expired: LinkSessionRow[] = [];
  try {
    for (const session of found) {
      if (signal.aborted) break;
      const taken = await expire(parts, session);
      if (taken) expired.push(taken);
    }
  } finally {
    if (expired.length > 0) appended();
  }
  for (const session of expired) if (!signal.aborted && mayHold(session)) await discard(parts, session, signal);
  return expired.length;
}

/** Returns the session as it was before; undefined when it has ended meanwhile, or a node works on it. */
function expire(parts: ExpiryParts, session: LinkSessionRow): Promise<LinkSessionRow | undefined> {
  return parts.store.transaction(
    async (tx) => {
      const current = await tx.linkSessions.lock(session);
      const nowMs = await tx.clock.nowMs();
      if (!current || current.phase === "expired" || !isExpired(current, nowMs)) return undefined;
      const sealed = mayHold(current) ? emptied(parts, current) : current.sealed;
      await tx.linkSessions.save({ ...current, phase: "expired", claimedMs: null, sealed });
      const { id, userId, ecosystem, mode } = current;
      // An entry of the log belongs to a user: a session in which nobody has signed in has none.
      if (userId === null) return current;
      const problem = problemOf(current);
      const body = { linkSessionId: id, ecosystem, mode, status: "expired", ...(problem && { problem }) } as const;
      await tx.log.append(linkSessionEntry(userId, null, nowMs, body));
      return current;
    },
    { patient: true },
  );
}

/** Whether a session in this phase may hold a credential. */
function mayHold({ phase }: LinkSessionRow): boolean {
  return phase === "reading" || phase === "unread" || phase === "asking";
}

/** Secrets that can't be opened stay as they are, and are removed with the session. */
function emptied(parts: ExpiryParts, session: LinkSessionRow): string {
  try {
    return withoutCredential(parts.sealer, session);
  } catch {
    return session.sealed;
  }
}

async function discard(parts: ExpiryParts, session: LinkSessionRow, signal: AbortSignal): Promise<void> {
  try {
    await discardCredential(parts, session, signal);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    const fields = { linkSession: session.id, ecosystem: session.ecosystem, error };
    parts.runtime.report.error(fields, "the credential of an expired link session could not be discarded");
  }
}
