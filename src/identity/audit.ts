import { StoreUnavailable } from "../model/errors.ts";
import type { TenantId, UserId } from "../model/ids.ts";
import type { Logger } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { AuditFilter, AuditRow } from "../store/tables/audit.ts";

/**
 * The audited acts: sign-ins and failed ones, access that clients got or lost, ends of link sessions, sign-ins of operators and how they
 * joined, as `admin` each act of an administrator that changed something, and as `account` each act of a user on the
 * account page, and the end of an interrupted removal that the service has finished.
 */
export type AuditAct =
  | "sign_in"
  | "sign_in_failed"
  | "accepted"
  | "declined"
  | "grant"
  | "client_credentials"
  | "revocation"
  | "code_replay"
  | "refresh_reuse"
  | "refresh_siblings"
  | "password_changed"
  | "device_type"
  | "link_session"
  | "operator_sign_in"
  | "operator_sign_in_failed"
  | "operator_sign_out"
  | "operator_password"
  | "operator_claimed"
  | "operator_joined"
  | "admin"
  | "account";

export interface AuditEntry {
  readonly act: AuditAct;
  readonly tenantId?: TenantId | undefined;
  /** Only the id, never the name: entries stay after the user is removed. */
  readonly userId?: UserId | null | undefined;
  readonly clientId?: string | undefined;
  /** The address of the caller; `command` for an administrator's command; `service` for what nobody asked for now. */
  readonly source: string;
  /** The name of the operator who acted, or `local` for a command on the machine. */
  readonly operator?: string | undefined;
  /** Never a secret, and never text from a form: people type passwords into the wrong field. */
  readonly detail?: AuditDetail;
}

/** A few plain facts. Undefined members are left out. */
export type AuditDetail = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** An entry as it is read. Members that don't apply are null. */
export interface AuditRecord {
  readonly id: number;
  readonly timeMs: number;
  readonly act: AuditAct;
  readonly tenantId: TenantId | null;
  readonly userId: UserId | null;
  readonly clientId: string | null;
  readonly source: string;
  readonly operator: string | null;
  readonly detail: AuditDetail;
}

export interface AuditRecordPage {
  readonly entries: readonly AuditRecord[];
  /** The `beforeId` of the next page; undefined when no entries are left. */
  readonly nextBeforeId: number | undefined;
}

export interface Audit {
  /**
   * Records an act that has already happened. Best effort: when the store can't be written, the failure is only logged,
   * and the caller's outcome stays the same.
   */
  record(entry: AuditEntry): Promise<void>;
  /** Entries of one tenant or of all, newest first. */
  list(filter: AuditFilter): Promise<readonly AuditRecord[]>;
  /** The same with one short read: a page can have few entries or none although older ones match (store/tables/audit.ts). */
  page(filter: AuditFilter): Promise<AuditRecordPage>;
  /** Removes entries that are older than a year; returns how many. */
  sweep(): Promise<number>;
}

export const auditKeptMs = 365 * 24 * 3_600_000;

export function auditOn(store: Store<Pick<Transaction, "audit" | "clock">>, report: Logger): Audit {
  const page: Audit["page"] = async (filter) => {
    const { rows, nextBeforeId } = await store.read((tx) => tx.audit.page(filter));
    return { entries: rows.map(fromRow), nextBeforeId };
  };
  return {
    async record(entry) {
      try {
        await store.transaction((tx) => tx.audit.add(auditEntry(entry)));
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        report.warn({ error, act: entry.act }, "an entry of the audit log could not be written");
      }
    },
    page,
    async list({ limit, ...filter }) {
      const found: AuditRecord[] = [];
      for (let { beforeId } = filter; ; ) {
        const { entries, nextBeforeId } = await page({ ...filter, beforeId, limit: limit - found.length });
        found.push(...entries);
        if (nextBeforeId === undefined || found.length >= limit) return found;
        beforeId = nextBeforeId;
      }
    },
    async sweep() {
      for (let total = 0; ; ) {
        const remove = async (tx: Pick<Transaction, "audit" | "clock">) =>
          tx.audit.removeBefore((await tx.clock.nowMs()) - auditKeptMs);
        const removed = await store.transaction(remove);
        if (removed === 0) return total;
        total += removed;
      }
    },
  };
}

/** The row of an entry, to add it in the same transaction as the act: `tx.audit.add(auditEntry(…))`. */
export function auditEntry({ act, tenantId, userId, clientId, source, operator, detail = {} }: AuditEntry) {
  return {
    act,
    tenantId: tenantId ?? null,
    userId: userId ?? null,
    clientId: clientId ?? null,
    source,
    operator: operator ?? null,
    detail: JSON.stringify(detail),
  };
}

function fromRow({ act, detail, ...row }: AuditRow): AuditRecord {
  return { ...row, act: act as AuditAct, detail: JSON.parse(detail) as AuditDetail };
}
