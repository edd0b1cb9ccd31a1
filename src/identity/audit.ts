import { StoreUnavailable } from "../model/errors.ts";
import type { TenantId, UserId } from "../model/ids.ts";
import type { Report } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { AuditFilter, AuditRow } from "../store/tables/audit.ts";

/**
 * What is written down: people who came in or didn't, what clients were given or lost, and, as `admin`, each command of
 * an administrator that changed something.
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
  | "admin";

export interface AuditEntry {
  readonly act: AuditAct;
  readonly tenantId?: TenantId | undefined;
  /** By id alone: the log outlives a user, and their name must not. */
  readonly userId?: UserId | null | undefined;
  readonly clientId?: string | undefined;
  /** The address it came from; `command` for what an administrator typed. */
  readonly source: string;
  /** Never a secret, and never what somebody typed into a form: people type passwords into the field above. */
  readonly detail?: AuditDetail;
}

/** A few plain facts; what is undefined is left out. */
export type AuditDetail = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** An entry as it is read: what it doesn't concern is null. */
export interface AuditRecord {
  readonly timeMs: number;
  readonly act: AuditAct;
  readonly tenantId: TenantId | null;
  readonly userId: UserId | null;
  readonly clientId: string | null;
  readonly source: string;
  readonly detail: AuditDetail;
}

export interface Audit {
  /**
   * Writes down what has already happened. A store that can't write now is reported, no more: a call that was denied
   * stays denied for the same reason, and an act that was done stays done.
   */
  record(entry: AuditEntry): Promise<void>;
  /** The newest first, of one tenant or of all. */
  list(filter: AuditFilter): Promise<readonly AuditRecord[]>;
  /** Clears away what is older than a year; answers how many there were. */
  sweep(): Promise<number>;
}

export const auditKeptMs = 365 * 24 * 3_600_000;

export function auditOn(store: Store<Pick<Transaction, "audit" | "clock">>, report: Report): Audit {
  return {
    async record(entry) {
      try {
        await store.transaction((tx) => tx.audit.add(auditEntry(entry)));
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        report.warn({ error, act: entry.act }, "an entry of the audit log could not be written");
      }
    },
    list: async (filter) => (await store.read((tx) => tx.audit.list(filter))).map(fromRow),
    sweep: () => store.transaction(async (tx) => tx.audit.removeBefore((await tx.clock.nowMs()) - auditKeptMs)),
  };
}

/** An entry as the table takes it, for what becomes durable together with its cause: `tx.audit.add(auditEntry(…))`. */
export function auditEntry({ act, tenantId, userId, clientId, source, detail = {} }: AuditEntry) {
  return {
    act,
    tenantId: tenantId ?? null,
    userId: userId ?? null,
    clientId: clientId ?? null,
    source,
    detail: JSON.stringify(detail),
  };
}

function fromRow({ id: _, act, detail, ...row }: AuditRow): AuditRecord {
  return { ...row, act: act as AuditAct, detail: JSON.parse(detail) as AuditDetail };
}
