import type { Connector } from "../ecosystems/connector.ts";
import { StoreUnavailable } from "../model/errors.ts";
import type { Report } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { LinkSessionRow } from "../store/tables/link-sessions.ts";
import { discardCredential } from "./discarded-credential.ts";
import { withoutCredential } from "./session-end.ts";
import type { Sealer } from "./session-secrets.ts";
import { claimMs } from "./session-status.ts";

export type SweepTables = Pick<Transaction, "linkSessions" | "clock">;

export interface SweepParts {
  readonly store: Store<SweepTables>;
  readonly sealer: Sealer;
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly runtime: { readonly report: Pick<Report, "error"> };
}

/** How long a session is kept after it has expired, so that its client can read how it ended. */
export const sessionKeptMs = 24 * 3_600_000;
const atOnce = 500;

/** Removes old sessions, and revokes credentials that expired sessions still hold. Returns how many were removed. */
export async function sweepSessions(parts: SweepParts, signal: AbortSignal): Promise<number> {
  await discardHeld(parts, signal);
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

/** Revokes the credentials of expired sessions whose user left the page before the account was linked. */
async function discardHeld(parts: SweepParts, signal: AbortSignal): Promise<void> {
  const { store } = parts;
  const held = await store.read(async (tx) => tx.linkSessions.held((await tx.clock.nowMs()) - claimMs, atOnce));
  for (const session of held) {
    if (signal.aborted) return;
    try {
      await discard(parts, session, signal);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      // A session whose secrets can't be opened must not keep all others from being removed.
      const fields = { linkSession: session.id, ecosystem: session.ecosystem, error };
      parts.runtime.report.error(fields, "the credential of an expired link session could not be discarded");
    }
  }
}

async function discard(parts: SweepParts, session: LinkSessionRow, signal: AbortSignal): Promise<void> {
  const { store, sealer } = parts;
  const taken = await store.transaction(async (tx) => {
    const current = await tx.linkSessions.lock(session);
    if (current?.phase !== session.phase || current.claimedMs !== session.claimedMs) return undefined;
    const sealed = withoutCredential(sealer, current);
    await tx.linkSessions.save({ ...current, phase: "open", claimedMs: null, sealed });
    return current;
  });
  if (taken) await discardCredential(parts, taken, signal);
}
