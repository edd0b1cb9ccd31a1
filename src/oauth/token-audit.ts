import { type AuditAct, type AuditDetail, auditEntry } from "../identity/audit.ts";
import { auditedOneByOne, isAudited } from "../identity/sign-in.ts";
import { OutcomeUnknown } from "../model/errors.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { GrantRow } from "../store/tables/grants.ts";

export interface TokenAudit {
  /** Runs a transaction that may add entries. What it counts is taken back when it is not stored, or runs again. */
  transaction<Tables, Result>(
    store: Pick<Store<Tables>, "transaction">,
    body: (tx: Tables, add: AddTokenEntry) => Promise<Result>,
  ): Promise<Result>;
}

/** Adds the entry for what happened to a grant, in the same transaction. */
export type AddTokenEntry = (
  tx: Pick<Transaction, "audit">,
  act: AuditAct,
  grant: GrantRow,
  more: TokenAuditDetail,
) => Promise<void>;

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
  const windows = new Map<string, Window>();

  function windowOf(act: AuditAct, clientId: string): Window {
    const key = `${act} ${clientId}`;
    const nowMs = elapsedMs();
    const known = windows.get(key);
    if (known && nowMs - known.sinceMs < windowMs) return known;
    const window = { sinceMs: nowMs, count: 0, isEntryOwed: false };
    windows.delete(key);
    windows.set(key, window);
    if (windows.size > mostCounts) windows.delete(windows.keys().next().value!);
    return window;
  }

  /** Counts one more; returns how many there were before in this window, and whether this one gets an entry. */
  function countIn(window: Window): Counted {
    const before = window.count++;
    const hasEntry = isAudited(before) || window.isEntryOwed;
    if (hasEntry) window.isEntryOwed = false;
    return { window, before, hasEntry };
  }

  const add = async (
    [tx, act, grant, { source, grantsEnded }]: Parameters<AddTokenEntry>,
    counted: Counted[],
  ): Promise<void> => {
    const { tenantId, userId, clientId } = grant;
    let before = 0;
    if (isSampled(act, grant)) {
      const one = countIn(windowOf(act, clientId));
      counted.push(one);
      if (!one.hasEntry) return;
      before = one.before;
    }
    const inTenMinutes = before < auditedOneByOne ? undefined : before + 1;
    const detail = { ...detailOf(act, grant), grantsEnded: grantsEnded || undefined, inTenMinutes };
    await tx.audit.add(auditEntry({ act, tenantId, userId, clientId, source, detail }));
  };

  return {
    async transaction(store, body) {
      const counted: Counted[] = [];
      const takeBack = () => {
        for (const { window, hasEntry } of counted.splice(0)) {
          window.count--;
          // Others may have been counted meanwhile, so that none of the next would get an entry by its number.
          if (hasEntry) window.isEntryOwed = true;
        }
      };
      try {
        return await store.transaction((tx) => {
          takeBack();
          return body(tx, (...entry) => add(entry, counted));
        });
      } catch (error) {
        if (!(error instanceof OutcomeUnknown)) takeBack();
        throw error;
      }
    },
  };
}

/** What one client did in 10 minutes. */
interface Window {
  readonly sinceMs: number;
  count: number;
  /** An entry was rolled back: the next one takes its place. */
  isEntryOwed: boolean;
}

interface Counted {
  readonly window: Window;
  readonly before: number;
  readonly hasEntry: boolean;
}

/** A user's grant needs a password and is always audited, and so is its end. */
function isSampled(act: AuditAct, { userId }: GrantRow): boolean {
  return act === "client_credentials" || act === "refresh_siblings" || (act === "revocation" && userId === null);
}

function detailOf(act: AuditAct, { id, scope }: GrantRow): AuditDetail {
  if (act === "refresh_siblings") return { grant: id };
  return act === "grant" || act === "client_credentials" ? { scope: scope ?? undefined } : {};
}
