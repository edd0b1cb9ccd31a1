import type { TenantId } from "../../model/ids.ts";
import { first, type Sql } from "../sql.ts";
import type { StoredAccess } from "./operators.ts";

/** A link that makes one operator: printed for the first one (`claim`), or sent to a colleague (`invitation`). */
export interface OperatorLinkRow extends StoredAccess {
  /** The SHA-256 of the secret in the link's address. */
  readonly hash: string;
  readonly kind: "claim" | "invitation";
  /** The name of the invited person; null when they choose it. */
  readonly name: string | null;
  readonly createdMs: number;
  readonly expiresMs: number;
}

export interface OperatorLinkTable {
  add(link: OperatorLinkRow): Promise<void>;
  find(hash: string): Promise<OperatorLinkRow | undefined>;
  /** Removes a link, so that nobody can use it again; returns whether it existed. */
  remove(hash: string): Promise<boolean>;
  removeOfKind(kind: OperatorLinkRow["kind"]): Promise<number>;
  /** Links of one kind, the oldest first, expired ones too. */
  list(kind: OperatorLinkRow["kind"]): Promise<OperatorLinkRow[]>;
  count(kind: OperatorLinkRow["kind"]): Promise<number>;
  removeExpired(nowMs: number): Promise<number>;
  /** Removes a tenant from the access of all links, and the links that would give access to nothing without it. */
  removeTenant(tenantId: TenantId): Promise<void>;
}

const columns = `hash, kind, role, reaches_all AS "reachesAll", tenants, name, created_ms AS "createdMs",
  expires_ms AS "expiresMs"`;

type StoredLink = Omit<OperatorLinkRow, "reachesAll" | "tenantIds"> & {
  readonly reachesAll: number;
  readonly tenants: string;
};

export function operatorLinkTable(sql: Sql): OperatorLinkTable {
  const rows = async (tail: string, parameters: readonly string[]): Promise<OperatorLinkRow[]> => {
    const stored = await sql.all<StoredLink>(`SELECT ${columns} FROM operator_links ${tail}`, parameters);
    return stored.map(({ tenants, reachesAll, ...link }) => ({
      ...link,
      reachesAll: reachesAll !== 0,
      tenantIds: JSON.parse(tenants) as TenantId[],
    }));
  };
  const remove = async (hash: string) => (await sql.run("DELETE FROM operator_links WHERE hash = $1", [hash])) > 0;
  return {
    async add({ hash, kind, role, reachesAll, tenantIds, name, createdMs, expiresMs }) {
      await sql.run(
        `INSERT INTO operator_links (hash, kind, role, reaches_all, tenants, name, created_ms, expires_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [hash, kind, role, reachesAll ? 1 : 0, JSON.stringify(tenantIds), name, createdMs, expiresMs],
      );
    },
    find: (hash) => first(rows("WHERE hash = $1", [hash])),
    remove,
    removeOfKind: (kind) => sql.run("DELETE FROM operator_links WHERE kind = $1", [kind]),
    list: (kind) => rows("WHERE kind = $1 ORDER BY created_ms, hash", [kind]),
    async count(kind) {
      const counted = "SELECT COUNT(*) AS count FROM operator_links WHERE kind = $1";
      const [row] = await sql.all<{ count: number }>(counted, [kind]);
      return Number(row?.count ?? 0);
    },
    removeExpired: (nowMs) => sql.run("DELETE FROM operator_links WHERE expires_ms <= $1", [nowMs]),
    async removeTenant(tenantId) {
      const naming = (await rows("WHERE reaches_all = 0", [])).filter(({ tenantIds }) => tenantIds.includes(tenantId));
      for (const { hash, tenantIds } of naming) {
        const left = tenantIds.filter((id) => id !== tenantId);
        if (left.length === 0) await remove(hash);
        else await sql.run("UPDATE operator_links SET tenants = $2 WHERE hash = $1", [hash, JSON.stringify(left)]);
      }
    },
  };
}
