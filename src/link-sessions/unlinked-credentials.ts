import type { Connector } from "../ecosystems/connector.ts";
import { aborted } from "../federation/aborted.ts";
import { type Logger, type Runtime, within } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { LinkSessionKey, LinkSessionRow } from "../store/tables/link-sessions.ts";
import { discardCredential } from "./discarded-credential.ts";
import { withoutCredential } from "./session-end.ts";
import type { Sealer } from "./session-secrets.ts";
import { claimMs } from "./session-status.ts";

export interface DiscardParts {
  readonly store: Store<Pick<Transaction, "linkSessions" | "clock">>;
  readonly sealer: Sealer;
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly runtime: Pick<Runtime, "after"> & { readonly report: Pick<Logger, "error"> };
}

/** How many credentials are revoked at the same time, each of another owner. */
const atOnce = 16;

/** Time limit for a revocation: best effort, and others wait for it. */
const revokeLimitMs = 5_000;

/**
 * Revokes the credentials of expired sessions, whose users left the page before the account was linked, and erases them.
 * A credential stays sealed in its row until its revocation was tried: when a node dies, another one tries again after
 * the claim's time. Each owner has one revocation at a time, so that one owner with a slow ecosystem does not delay the
 * others. Returns how many were erased.
 */
export async function discardCredentials(parts: DiscardParts, signal: AbortSignal): Promise<number> {
  let all = 0;
  while (!signal.aborted) {
    const found = await parts.store.read(async (tx) =>
      tx.linkSessions.undiscarded((await tx.clock.nowMs()) - claimMs, atOnce),
    );
    if (found.length === 0) break;
    const discarded = await Promise.allSettled(found.map((key) => discard(parts, key, signal)));
    for (const one of discarded) {
      if (one.status === "rejected") throw one.reason;
      if (one.value) all += 1;
    }
  }
  return all;
}

/** Returns false when another node discards the credential, or this node stops. */
async function discard(parts: DiscardParts, key: LinkSessionKey, signal: AbortSignal): Promise<boolean> {
  const claimed = await claim(parts, key);
  if (!claimed) return false;
  await within(parts.runtime, revokeLimitMs, signal, (inTime) => revoke(parts, claimed, inTime));
  // This node stops, and may have ended the call: the revocation is tried again.
  if (signal.aborted) return false;
  return parts.store.transaction(
    async (tx) => {
      const current = await tx.linkSessions.lock(key);
      if (current?.phase !== "discarding" || current.claimedMs !== claimed.claimedMs) return false;
      await tx.linkSessions.save({ ...current, phase: "expired", claimedMs: null, sealed: emptied(parts, current) });
      return true;
    },
    { background: true },
  );
}

/** Claims the session under its lock, so that of several nodes one revokes its credential. */
function claim({ store }: DiscardParts, key: LinkSessionKey): Promise<LinkSessionRow | undefined> {
  return store.transaction(
    async (tx) => {
      const current = await tx.linkSessions.lock(key);
      const nowMs = await tx.clock.nowMs();
      if (current?.phase !== "discarding") return undefined;
      if (current.claimedMs !== null && nowMs < current.claimedMs + claimMs) return undefined;
      // The claim is a fencing token, so that no two claims may be the same.
      const claimed = { ...current, claimedMs: Math.max(nowMs, (current.claimedMs ?? 0) + 1) };
      await tx.linkSessions.save(claimed);
      return claimed;
    },
    { background: true },
  );
}

/** The time limit also holds for a connector that ignores its signal. */
async function revoke(parts: DiscardParts, session: LinkSessionRow, inTime: AbortSignal): Promise<void> {
  try {
    await Promise.race([discardCredential(parts, session, inTime), aborted(inTime)]);
  } catch (error) {
    const fields = { linkSession: session.id, ecosystem: session.ecosystem, error };
    parts.runtime.report.error(fields, "the credential of an expired link session could not be revoked");
  }
}

/** Secrets that can't be opened stay as they are, and are removed with the session. */
function emptied({ sealer }: DiscardParts, session: LinkSessionRow): string {
  try {
    return withoutCredential(sealer, session);
  } catch {
    return session.sealed;
  }
}
