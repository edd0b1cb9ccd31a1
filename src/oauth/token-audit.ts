import { type AuditAct, type AuditDetail, auditEntry } from "../identity/audit.ts";
import { auditedOneByOne, isAudited } from "../identity/sign-in.ts";
import type { Transaction } from "../store/seam.ts";
import type { GrantRow } from "../store/tables/grants.ts";

export interface TokenAudit {
  /** Adds the entry for what happened to a grant, in the same transaction. */
  add(tx: Pick<Transaction, "audit">, act: AuditAct, grant: GrantRow, more: TokenAuditDetail): Promise<void>;
}

export interface TokenAuditDetail {
  readonly source: string;
  /** How many grants ended to make room for this one. */
  readonly grantsEnded?: number | undefined;
}

const windowMs = 10 * 60_000;
/** Pairs of client and act in memory. Beyond it, the pair that began its window first is forgotten. */
const mostCounts = 10_000;

/**
 * Audits tokens. What a client can repeat in a loop without a user is sampled like failed sign-ins: of one client and 10
 * minutes the first 100, then every 100th with the number so far. Each node counts alone.
 */
export function tokenAuditWith(elapsedMs: () => number): TokenAudit {
  const counts = new Map<string, { readonly sinceMs: number; count: number }>();

  /** Counts one more; returns how many there were before in this window. */
  function countBefore(act: AuditAct, clientId: string): number {
    const key = `${act} ${clientId}`;
    const nowMs = elapsedMs();
    const known = counts.get(key);
    if (known && nowMs - known.sinceMs < windowMs) return known.count++;
    counts.delete(key);
    counts.set(key, { sinceMs: nowMs, count: 1 });
    if (counts.size > mostCounts) counts.delete(counts.keys().next().value!);
    return 0;
  }

  return {
    async add(tx, act, grant, { source, grantsEnded }) {
      const { tenantId, userId, clientId } = grant;
      const before = isSampled(act, grant) ? countBefore(act, clientId) : 0;
      if (!isAudited(before)) return;
      const inTenMinutes = before < auditedOneByOne ? undefined : before + 1;
      const detail = { ...detailOf(act, grant), grantsEnded: grantsEnded || undefined, inTenMinutes };
      await tx.audit.add(auditEntry({ act, tenantId, userId, clientId, source, detail }));
    },
  };
}

/** A user's grant needs a password and is always audited, and so is its end. */
function isSampled(act: AuditAct, { userId }: GrantRow): boolean {
  return act === "client_credentials" || act === "refresh_siblings" || (act === "revocation" && userId === null);
}

function detailOf(act: AuditAct, { id, scope }: GrantRow): AuditDetail {
  if (act === "refresh_siblings") return { grant: id };
  return act === "grant" || act === "client_credentials" ? { scope: scope ?? undefined } : {};
}
