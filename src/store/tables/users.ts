import type { AccessScope } from "../../model/access-scope.ts";
import type { TenantId, UserId } from "../../model/ids.ts";
import { first, isStorable, type Parameter, type Sql } from "../sql.ts";

export interface UserRow {
  readonly id: UserId;
  readonly tenantId: TenantId;
  readonly name: string;
  readonly passwordHash: string;
  readonly isAdmin: boolean;
  readonly createdMs: number;
  /** Since when the user is suspended; null: not at all. */
  readonly suspendedMs: number | null;
}

export interface ListedUserFilter {
  /** Undefined: of all tenants. */
  readonly tenantIds?: readonly TenantId[] | undefined;
  /** Only users whose name contains this text, or whose id is this text. Upper and lower case of ASCII are the same. */
  readonly text?: string | undefined;
  /** Only users with exactly this name. */
  readonly name?: string | undefined;
  readonly afterId: number;
  /** Bounds how many rows are looked at. Undefined: all users that follow. */
  readonly throughId?: number | undefined;
  readonly limit: number;
}

export interface UserTable {
  /** Undefined when the tenant has a user of that name. */
  add(user: Omit<UserRow, "id" | "createdMs" | "suspendedMs">): Promise<UserId | undefined>;
  byId(id: UserId): Promise<UserRow | undefined>;
  byName(tenantId: TenantId, name: string): Promise<UserRow | undefined>;
  /** The user if they are in the access scope. Foreign and absent users are both undefined. */
  within(accessScope: AccessScope, id: UserId): Promise<UserRow | undefined>;
  /** The next ids of users in the access scope, ascending. Every id is larger than 0. */
  idsWithin(accessScope: AccessScope, afterId: number, limit: number): Promise<UserId[]>;
  /** Of one tenant, or of all. */
  list(tenantId?: TenantId): Promise<UserRow[]>;
  /** Users of these tenants, or of all, in the order of their ids, after the given one. */
  listed(filter: ListedUserFilter): Promise<UserRow[]>;
  /** The highest id of a user; 0 when there is none. */
  lastId(): Promise<number>;
  /** These users with their names and tenants. Users who do not exist are left out. */
  some(ids: readonly UserId[]): Promise<Pick<UserRow, "id" | "tenantId" | "name">[]>;
  setPasswordHash(id: UserId, passwordHash: string): Promise<void>;
  setSuspended(id: UserId, sinceMs: number | null): Promise<void>;
  /** Notes that a removal of the user goes on now. The user is marked from the first call on. */
  noteRemoval(id: UserId, nowMs: number): Promise<void>;
  isBeingRemoved(id: UserId): Promise<boolean>;
  /** Users whose removal is abandoned, the one that waits longest first. */
  abandonedRemovals(lease: RemovalLease, limit: number): Promise<Pick<UserRow, "id" | "tenantId">[]>;
  /** Notes the removal again if it is abandoned. False when another node was first. */
  claimRemoval(id: UserId, lease: RemovalLease): Promise<boolean>;
  /** The caller removes what belongs to the user first. The id is never used again. */
  remove(id: UserId): Promise<void>;
  /**
   * Locks a user until the transaction ends. It is the one lock for all devices and alerts of the user, so it serialises
   * their changes over all nodes and can't deadlock. Returns the store's time; undefined when there is no such user.
   */
  lock(id: UserId): Promise<number | undefined>;
  /** Locks those of the users that belong to the tenant, in ascending order, and returns the store's time. */
  lockOfTenant(tenantId: TenantId, ids: readonly UserId[]): Promise<LockedUsers>;
}

/** A removal that was noted at another time than within `leaseMs` of now is abandoned. */
export interface RemovalLease {
  readonly nowMs: number;
  readonly leaseMs: number;
}

export interface LockedUsers {
  readonly ids: ReadonlySet<UserId>;
  readonly nowMs: number;
}

const columns = `id, tenant_id AS "tenantId", name, password_hash AS "passwordHash", is_admin AS "isAdmin",
  created_ms AS "createdMs", suspended_ms AS "suspendedMs"`;

export function userTable(sql: Sql): UserTable {
  const findOne = async (where: string, parameters: readonly (string | number)[]) => {
    const row = await first(sql.all<UserRow>(`SELECT ${columns} FROM users WHERE ${where}`, parameters));
    return row && { ...row, isAdmin: Boolean(row.isAdmin) };
  };
  return {
    async add(user) {
      const row = await first(
        sql.all<{ id: UserId }>(
          `INSERT INTO users (tenant_id, name, password_hash, is_admin, created_ms)
           VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tenant_id, name) DO NOTHING RETURNING id`,
          [user.tenantId, user.name, user.passwordHash, user.isAdmin ? 1 : 0, await sql.nowMs()],
        ),
      );
      return row?.id;
    },
    byId: (id) => findOne("id = $1", [id]),
    // No user has a name that can't be stored.
    byName: async (tenantId, name) =>
      isStorable(name) ? findOne("tenant_id = $1 AND name = $2", [tenantId, name]) : undefined,
    within(accessScope, id) {
      const [column, owner] = ownerIn(accessScope);
      return findOne(`${column} = $1 AND id = $2`, [owner, id]);
    },
    async idsWithin(accessScope, afterId, limit) {
      const [column, owner] = ownerIn(accessScope);
      const rows = await sql.all<{ id: UserId }>(
        `SELECT id FROM users WHERE ${column} = $1 AND id > $2 ORDER BY id LIMIT $3`,
        [owner, afterId, limit],
      );
      return rows.map(({ id }) => id);
    },
    async list(tenantId) {
      const rows = await (tenantId === undefined
        ? sql.all<UserRow>(`SELECT ${columns} FROM users ORDER BY id`)
        : sql.all<UserRow>(`SELECT ${columns} FROM users WHERE tenant_id = $1 ORDER BY id`, [tenantId]));
      return rows.map((row) => ({ ...row, isAdmin: Boolean(row.isAdmin) }));
    },
    async listed({ tenantIds, text, name, afterId, throughId, limit }) {
      const parameters: Parameter[] = [afterId, limit];
      const parameter = (value: Parameter) => `$${parameters.push(value)}`;
      const conditions = ["id > $1"];
      if (throughId !== undefined) conditions.push(`id <= ${parameter(throughId)}`);
      if (tenantIds !== undefined) conditions.push(`tenant_id IN (${tenantIds.map(parameter).join(", ") || "NULL"})`);
      if (name !== undefined) conditions.push(`name = ${parameter(name)}`);
      if (text !== undefined) {
        const pattern = `%${text.toLowerCase().replace(/[\\%_]/g, "\\$&")}%`;
        const isId = `CAST(id AS TEXT) = ${parameter(text)}`;
        conditions.push(`(LOWER(name) LIKE ${parameter(pattern)} ESCAPE '\\' OR ${isId})`);
      }
      const select = `SELECT ${columns} FROM users WHERE ${conditions.join(" AND ")} ORDER BY id LIMIT $2`;
      return (await sql.all<UserRow>(select, parameters)).map((row) => ({ ...row, isAdmin: Boolean(row.isAdmin) }));
    },
    async lastId() {
      return (await sql.all<{ id: number | null }>("SELECT MAX(id) AS id FROM users"))[0]?.id ?? 0;
    },
    some(ids) {
      const among = sql.dialect === "postgres" ? "= ANY($1::int[])" : "IN (SELECT value FROM json_each($1))";
      return sql.all(`SELECT id, tenant_id AS "tenantId", name FROM users WHERE id ${among}`, [ids]);
    },
    async remove(id) {
      await sql.run("DELETE FROM users WHERE id = $1", [id]);
    },
    async setPasswordHash(id, passwordHash) {
      await sql.run("UPDATE users SET password_hash = $2 WHERE id = $1", [id, passwordHash]);
    },
    async setSuspended(id, sinceMs) {
      // A user who was resumed has no removal: a mark is left only by a node of a version that does not know it.
      await sql.run(
        `UPDATE users SET suspended_ms = $2, removal_ms = CASE WHEN suspended_ms IS NULL THEN NULL ELSE removal_ms END
         WHERE id = $1`,
        [id, sinceMs],
      );
    },
    async noteRemoval(id, nowMs) {
      await sql.run("UPDATE users SET removal_ms = $2 WHERE id = $1", [id, nowMs]);
    },
    isBeingRemoved: async (id) =>
      (await sql.all("SELECT 1 FROM users WHERE id = $1 AND removal_ms IS NOT NULL AND suspended_ms IS NOT NULL", [id]))
        .length > 0,
    abandonedRemovals: ({ nowMs, leaseMs }, limit) =>
      sql.all(
        `SELECT id, tenant_id AS "tenantId" FROM users WHERE ${isAbandoned(1)} ORDER BY removal_ms, id LIMIT $3`,
        [nowMs - leaseMs, nowMs + leaseMs, limit],
      ),
    claimRemoval: async (id, { nowMs, leaseMs }) =>
      (await sql.run(`UPDATE users SET removal_ms = $2 WHERE id = $1 AND ${isAbandoned(3)}`, [
        id,
        nowMs,
        nowMs - leaseMs,
        nowMs + leaseMs,
      ])) > 0,
    async lock(id) {
      const lock = sql.dialect === "postgres" ? "FOR NO KEY UPDATE" : "";
      const [found, nowMs] = await Promise.all([
        sql.all(`SELECT id FROM users WHERE id = $1 ${lock}`, [id]),
        // A statement of its own: in the same one, the time could be that before the lock was granted.
        sql.nowMs(),
      ]);
      return found.length > 0 ? nowMs : undefined;
    },
    async lockOfTenant(tenantId, ids) {
      const [among, lock] =
        sql.dialect === "postgres"
          ? ["= ANY($2::int[])", "FOR NO KEY UPDATE"]
          : ["IN (SELECT value FROM json_each($2))", ""];
      const select = `SELECT id FROM users WHERE tenant_id = $1 AND id ${among} ORDER BY id ${lock}`;
      // The time is a statement of its own, as in `lock`.
      const [found, nowMs] = await Promise.all([sql.all<{ id: UserId }>(select, [tenantId, ids]), sql.nowMs()]);
      return { ids: new Set(found.map(({ id }) => id)), nowMs };
    },
  };
}

/**
 * The SQL condition of an abandoned removal, with its first two parameters: the bounds of the lease. A time beyond the
 * lease was noted before the clock was set back. A node of a version that does not know the mark can resume the user:
 * then the removal must not go on.
 */
function isAbandoned(first: number): string {
  return `suspended_ms IS NOT NULL AND (removal_ms < $${first} OR removal_ms > $${first + 1})`;
}

/** The SQL condition of an access scope: a column and the value that it must equal. */
function ownerIn(accessScope: AccessScope): readonly [column: string, owner: number] {
  return accessScope.kind === "user" ? ["id", accessScope.userId] : ["tenant_id", accessScope.tenantId];
}
