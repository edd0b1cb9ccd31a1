import type { OperatorId, TenantId } from "../../model/ids.ts";
import { first, isStorable, type Parameter, type Sql } from "../sql.ts";

/** A person who runs the service. Operators are not users: they belong to no tenant, and link no home. */
export interface OperatorRow {
  readonly id: OperatorId;
  readonly name: string;
  readonly role: string;
  /** Whether the operator reaches all tenants; otherwise only those of `tenantIds`. */
  readonly reachesAll: boolean;
  readonly tenantIds: readonly TenantId[];
  /** Null for an operator who signs in with OpenID Connect alone. */
  readonly passwordHash: string | null;
  readonly oidcSubject: string | null;
  readonly isSuspended: boolean;
  /** The claims of an OpenID sign-in suspended the operator, and later claims may lift that. No operator did it. */
  readonly isSuspendedByClaims: boolean;
  readonly createdMs: number;
  readonly signedInMs: number | null;
}

/** The role of an operator with its tenants. */
export type StoredAccess = Pick<OperatorRow, "role" | "reachesAll" | "tenantIds">;

export interface OperatorTable {
  /** Undefined when the name is taken. */
  add(
    operator: Pick<OperatorRow, "name" | "passwordHash"> & Partial<Pick<OperatorRow, "oidcSubject">> & StoredAccess,
  ): Promise<OperatorId | undefined>;
  byId(id: OperatorId): Promise<OperatorRow | undefined>;
  /** Locks the operator until the transaction ends, and reads the row as it is then. */
  lock(id: OperatorId): Promise<OperatorRow | undefined>;
  byName(name: string): Promise<OperatorRow | undefined>;
  /** The operator whom an OpenID provider knows by this issuer and subject. */
  bySubject(oidcSubject: string): Promise<OperatorRow | undefined>;
  list(): Promise<OperatorRow[]>;
  /** Locks all operators until the transaction ends, so that two changes can't both remove the last owner. */
  lockAll(): Promise<void>;
  setAccess(id: OperatorId, access: StoredAccess): Promise<void>;
  setPasswordHash(id: OperatorId, passwordHash: string): Promise<void>;
  setSuspended(id: OperatorId, isSuspended: boolean): Promise<void>;
  suspendByClaims(id: OperatorId): Promise<void>;
  signedIn(id: OperatorId, timeMs: number): Promise<void>;
  /** Removes the operator with their sessions and tokens. */
  remove(id: OperatorId): Promise<void>;
}

const columns = `id, name, role, reaches_all AS "reachesAll", password_hash AS "passwordHash",
  oidc_subject AS "oidcSubject", is_suspended AS "isSuspended", created_ms AS "createdMs",
  signed_in_ms AS "signedInMs"`;

/** Values of `is_suspended`. A node of a version that does not know `byClaims` reads it as a suspension too. */
const suspension = { none: 0, byOperator: 1, byClaims: 2 };

type StoredOperator = Omit<OperatorRow, "reachesAll" | "isSuspended" | "isSuspendedByClaims" | "tenantIds"> & {
  readonly reachesAll: number;
  readonly isSuspended: number;
};

export function operatorTable(sql: Sql): OperatorTable {
  const rows = async (tail: string, parameters: readonly Parameter[] = []): Promise<OperatorRow[]> => {
    const stored = await sql.all<StoredOperator>(`SELECT ${columns} FROM operators ${tail}`, parameters);
    if (stored.length === 0) return [];
    const [only] = stored;
    const reached = await (stored.length === 1
      ? sql.all<Reached>(`SELECT ${reachedColumns} FROM operator_tenants WHERE operator_id = $1 ORDER BY tenant_id`, [
          only!.id,
        ])
      : sql.all<Reached>(`SELECT ${reachedColumns} FROM operator_tenants ORDER BY tenant_id`));
    return stored.map((row) => ({
      ...row,
      reachesAll: row.reachesAll !== 0,
      isSuspended: row.isSuspended !== suspension.none,
      isSuspendedByClaims: row.isSuspended === suspension.byClaims,
      tenantIds: reached.filter(({ operatorId }) => operatorId === row.id).map(({ tenantId }) => tenantId),
    }));
  };
  const addTenants = (id: OperatorId, tenantIds: readonly TenantId[]) =>
    sql.runEach(
      "INSERT INTO operator_tenants (operator_id, tenant_id) VALUES ($1, $2)",
      [...new Set(tenantIds)].map((tenantId) => [id, tenantId]),
    );
  const suspend = async (id: OperatorId, value: number) => {
    await sql.run("UPDATE operators SET is_suspended = $2 WHERE id = $1", [id, value]);
  };
  return {
    async add({ name, role, reachesAll, tenantIds, passwordHash, oidcSubject = null }) {
      const [row] = await sql.all<{ id: OperatorId }>(
        `INSERT INTO operators (name, role, reaches_all, password_hash, oidc_subject, created_ms)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING id`,
        [name, role, reachesAll ? 1 : 0, passwordHash, oidcSubject, await sql.nowMs()],
      );
      if (row) await addTenants(row.id, tenantIds);
      return row?.id;
    },
    byId: (id) => first(rows("WHERE id = $1", [id])),
    async lock(id) {
      if (sql.dialect === "sqlite") return first(rows("WHERE id = $1", [id]));
      // First as the changes that follow lock the table: after the row, they could wait for a transaction with `lockAll`
      // that waits for the row.
      await sql.run("LOCK TABLE operators IN ROW EXCLUSIVE MODE");
      return first(rows("WHERE id = $1 FOR UPDATE", [id]));
    },
    byName: async (name) => (isStorable(name) ? first(rows("WHERE name = $1", [name])) : undefined),
    bySubject: async (oidcSubject) =>
      isStorable(oidcSubject) ? first(rows("WHERE oidc_subject = $1", [oidcSubject])) : undefined,
    list: () => rows("ORDER BY id"),
    async lockAll() {
      if (sql.dialect === "postgres") await sql.run("LOCK TABLE operators IN SHARE ROW EXCLUSIVE MODE");
    },
    async setAccess(id, { role, reachesAll, tenantIds }) {
      await sql.run("UPDATE operators SET role = $2, reaches_all = $3 WHERE id = $1", [id, role, reachesAll ? 1 : 0]);
      await sql.run("DELETE FROM operator_tenants WHERE operator_id = $1", [id]);
      await addTenants(id, tenantIds);
    },
    async setPasswordHash(id, passwordHash) {
      await sql.run("UPDATE operators SET password_hash = $2 WHERE id = $1", [id, passwordHash]);
    },
    setSuspended: (id, isSuspended) => suspend(id, isSuspended ? suspension.byOperator : suspension.none),
    suspendByClaims: (id) => suspend(id, suspension.byClaims),
    async signedIn(id, timeMs) {
      await sql.run("UPDATE operators SET signed_in_ms = $2 WHERE id = $1", [id, timeMs]);
    },
    async remove(id) {
      for (const table of ["operator_sessions", "operator_tokens", "operator_tenants"]) {
        await sql.run(`DELETE FROM ${table} WHERE operator_id = $1`, [id]);
      }
      await sql.run("DELETE FROM operators WHERE id = $1", [id]);
    },
  };
}

interface Reached {
  readonly operatorId: OperatorId;
  readonly tenantId: TenantId;
}

const reachedColumns = `operator_id AS "operatorId", tenant_id AS "tenantId"`;
