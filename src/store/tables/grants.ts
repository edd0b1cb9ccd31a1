import { type OwnerId, ownerIdOf, type TenantId, type UserId } from "../../model/ids.ts";
import { first, type Sql } from "../sql.ts";
import { removeFromNextPage, type SweepCursor } from "./keyset-sweep.ts";
import { isOfKey, type OwnedSecretKey } from "./owned-secret-key.ts";
import { tokensByGrant } from "./tokens-of-grant.ts";

/** The access of a client: given by a user for that user, by an administrator for the whole tenant, or to itself. */
export interface GrantRow {
  readonly id: string;
  readonly tenantId: TenantId;
  /** Null when an enterprise client got it with its own secret (client_credentials). */
  readonly userId: UserId | null;
  readonly clientId: string;
  readonly covers: GrantCoverage;
  /** As text (model/scopes.ts). Null means everything. */
  readonly scope: string | null;
  /** The terms that the user accepted with it. Null: the tenant had none, or the grant is older than this record. */
  readonly termsVersion: string | null;
  /** The date of these terms. */
  readonly termsMs: number | null;
}

type Optional = "scope" | "termsVersion" | "termsMs";

export type GrantCoverage = "user" | "tenant";

export interface ScopeCount {
  /** Null means everything. */
  readonly scope: string | null;
  readonly grants: number;
}

export interface ListedGrantRow extends GrantRow {
  readonly createdMs: number;
  /** When it was last used, to the hour; null when no use is known. */
  readonly usedMs: number | null;
}

/** What one client was granted with one scope, over all its grants of that user. */
export interface AppGrantRow {
  readonly clientId: string;
  readonly clientName: string;
  readonly covers: GrantCoverage;
  /** Null means everything. */
  readonly scope: string | null;
  /** When the oldest of these grants was given. */
  readonly createdMs: number;
  /** When one of them was last used, to the hour; null when no use is known. */
  readonly usedMs: number | null;
}

export interface ListedGrantFilter {
  readonly of: { readonly clientId: string } | { readonly userId: UserId };
  /** Only this grant. */
  readonly id?: string | undefined;
  readonly afterId: string;
  readonly limit: number;
}

export interface GrantTable {
  /** Without a scope the grant covers everything. */
  add(grant: Omit<GrantRow, Optional> & Partial<Pick<GrantRow, Optional>>): Promise<void>;
  /** Locks the grant until the transaction ends, so that changes of its tokens are serialised. */
  lock(ownerId: OwnerId, id: string): Promise<GrantRow | undefined>;
  /** Locks the grant of a refresh token. */
  lockOfRefreshToken(key: OwnedSecretKey): Promise<GrantRow | undefined>;
  /** The ids of those grants that are in the store, and whose user and client are not suspended. */
  usable(grants: readonly GrantRow[]): Promise<ReadonlySet<string>>;
  ofUser(userId: UserId, limit?: number): Promise<GrantRow[]>;
  ofClient(clientId: string, limit?: number): Promise<GrantRow[]>;
  /** Grants of a user to one client, those that were not used for the longest time first. */
  ofUserToClient(userId: UserId, clientId: string, limit?: number): Promise<GrantRow[]>;
  countOfUserToClient(userId: UserId, clientId: string): Promise<number>;
  /** Grants of a client or of a user, in the order of their ids, after the given one. */
  listed(filter: ListedGrantFilter): Promise<ListedGrantRow[]>;
  /** The clients that have grants of a user, by name, with one row for each scope. */
  appsOf(userId: UserId, limit: number): Promise<AppGrantRow[]>;
  /** The tenant's enterprise clients that have access to all its users, by name, with one row for each scope. */
  appsOfTenant(tenantId: TenantId, limit: number): Promise<AppGrantRow[]>;
  /** Stores that the grant is used, unless a use since `beforeMs` is stored. */
  used(grant: GrantRow, timeMs: number, beforeMs: number): Promise<void>;
  /** How many grants a client has of each scope; those without a scope come first. */
  countByScope(clientId: string): Promise<ScopeCount[]>;
  /** How many grants of its own (client_credentials) a client has. */
  countOwn(tenantId: TenantId, clientId: string): Promise<number>;
  /** The oldest of a client's own grants. */
  oldestOwn(tenantId: TenantId, clientId: string, count: number): Promise<GrantRow[]>;
  /** Removes the grant with all its tokens; returns whether it existed. */
  remove(grant: GrantRow): Promise<boolean>;
  /** Removes grants with all their tokens; returns those that existed. */
  removeAll(grants: readonly GrantRow[]): Promise<GrantRow[]>;
  /** Removes grants without tokens from the page after the cursor; returns the next cursor, undefined at the end. */
  removeEmpty(createdBeforeMs: number, after?: SweepCursor): Promise<SweepCursor | undefined>;
}

export const grantColumns = `g.id, g.tenant_id AS "tenantId", CASE WHEN g.owner_id > 0 THEN g.owner_id END AS "userId",
  g.client_id AS "clientId", g.reach AS covers, g.scope, g.terms_version AS "termsVersion", g.terms_ms AS "termsMs"`;

/** SQL that is `user` or `client` when that party of the row's grant is suspended, else null. */
export function suspendedParty(row: string): string {
  return `CASE
    WHEN EXISTS (SELECT 1 FROM users su WHERE su.id = ${row}.owner_id AND su.suspended_ms IS NOT NULL) THEN 'user'
    WHEN EXISTS (SELECT 1 FROM clients sc WHERE sc.id = ${row}.client_id AND sc.suspended_ms IS NOT NULL) THEN 'client' END`;
}

/**
 * The SQL condition that a grant `g` gives a client access to an owner's devices. The conversion keeps the planner from
 * reading all grants of the client, which can be many more.
 */
export function isGrantBetween(ownerId: string, clientId: string): string {
  return `g.owner_id = ${ownerId} AND COALESCE(g.client_id, '') = ${clientId}`;
}

const isOfUserToClient = isGrantBetween("$1", "$2");
const noLimit = 2 ** 31 - 1;

export function grantTable(sql: Sql): GrantTable {
  const forUpdate = sql.dialect === "postgres" ? " FOR UPDATE OF g" : "";
  const rows = (tail: string, parameters: readonly (string | number)[]) =>
    sql.all<GrantRow>(`SELECT ${grantColumns} FROM grants g WHERE ${tail}`, parameters);
  const locked = (where: string, parameters: readonly (string | number)[]) =>
    first(rows(`${where}${forUpdate}`, parameters));
  const requested =
    sql.dialect === "postgres"
      ? "SELECT asked.owner_id, asked.id FROM unnest($1::int[], $2::text[]) AS asked (owner_id, id)"
      : "SELECT o.value, i.value FROM json_each($1) o JOIN json_each($2) i ON i.key = o.key";
  async function removeAll(grants: readonly GrantRow[]): Promise<GrantRow[]> {
    // All transactions lock grants in the order of their ids, so that two nodes can't wait for each other.
    const found = await sql.all<GrantRow>(
      `SELECT ${grantColumns} FROM grants g WHERE (g.owner_id, g.id) IN (${requested}) ORDER BY g.id${forUpdate}`,
      keysOf(grants),
    );
    if (found.length === 0) return found;
    const keys = found.map((grant) => [ownerIdOf(grant), grant.id]);
    for (const table of ["access_tokens", "refresh_tokens"] as const) {
      await sql.runEach(`DELETE FROM ${tokensByGrant(sql, table)} WHERE t.owner_id = $1 AND t.grant_id = $2`, keys);
    }
    await sql.runEach("DELETE FROM grants WHERE owner_id = $1 AND id = $2", keys);
    return found;
  }
  const apps = async (condition: string, parameters: readonly [owner: number, limit: number]) => {
    const rows = await sql.all<AppGrantRow>(
      `SELECT g.client_id AS "clientId", c.name AS "clientName", g.reach AS covers, g.scope,
         MIN(g.created_ms) AS "createdMs", MAX(g.used_ms) AS "usedMs"
       FROM grants g JOIN clients c ON c.id = g.client_id WHERE ${condition}
       GROUP BY g.client_id, c.name, g.reach, g.scope ORDER BY c.name, g.client_id, g.scope LIMIT $2`,
      parameters,
    );
    return rows.map((row) => ({
      ...row,
      createdMs: Number(row.createdMs),
      usedMs: row.usedMs === null ? null : Number(row.usedMs),
    }));
  };
  return {
    async add({ id, tenantId, userId, clientId, covers, scope = null, termsVersion = null, termsMs = null }) {
      const ownerId = ownerIdOf({ userId, tenantId });
      await sql.run(
        `INSERT INTO grants (id, tenant_id, owner_id, client_id, reach, scope, terms_version, terms_ms, created_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [id, tenantId, ownerId, clientId, covers, scope, termsVersion, termsMs, await sql.nowMs()],
      );
    },
    listed({ of, id, afterId, limit }) {
      const [column, value] = "clientId" in of ? ["client_id", of.clientId] : ["owner_id", of.userId];
      return sql.all<ListedGrantRow>(
        `SELECT ${grantColumns}, g.created_ms AS "createdMs", g.used_ms AS "usedMs" FROM grants g
         WHERE g.${column} = $1 AND g.id ${id === undefined ? ">" : "="} $2 ORDER BY g.id LIMIT $3`,
        [value as string | number, id ?? afterId, limit],
      );
    },
    lock: (ownerId, id) => locked("g.owner_id = $1 AND g.id = $2", [ownerId, id]),
    lockOfRefreshToken: ({ ownerId, hash }) =>
      locked(`(g.owner_id, g.id) = (SELECT owner_id, grant_id FROM refresh_tokens WHERE ${isOfKey("owner_id")})`, [
        ownerId,
        hash,
      ]),
    async usable(grants) {
      const found = await sql.all<{ id: string }>(
        `SELECT g.id FROM grants g WHERE (g.owner_id, g.id) IN (${requested}) AND ${suspendedParty("g")} IS NULL`,
        keysOf(grants),
      );
      return new Set(found.map(({ id }) => id));
    },
    ofUser: (userId, limit = noLimit) => rows("g.owner_id = $1 ORDER BY g.id LIMIT $2", [userId, limit]),
    // In no order: sorting all grants of a client for each part of them would cost more than the part.
    ofClient: (clientId, limit = noLimit) => rows("g.client_id = $1 LIMIT $2", [clientId, limit]),
    ofUserToClient: (userId, clientId, limit = noLimit) =>
      rows(`${isOfUserToClient} ORDER BY COALESCE(g.used_ms, g.created_ms), g.created_ms, g.id LIMIT $3`, [
        userId,
        clientId,
        limit,
      ]),
    countOfUserToClient: async (userId, clientId) =>
      countOf(sql.all(`SELECT COUNT(*) AS count FROM grants g WHERE ${isOfUserToClient}`, [userId, clientId])),
    appsOf: (userId, limit) => apps("g.owner_id = $1", [userId, limit]),
    appsOfTenant: (tenantId, limit) =>
      apps("c.tenant_id = $1 AND c.kind = 'enterprise' AND g.reach = 'tenant'", [tenantId, limit]),
    async used(grant, timeMs, beforeMs) {
      await sql.run(
        `UPDATE grants SET used_ms = $3 WHERE owner_id = $1 AND id = $2 AND (used_ms IS NULL OR used_ms < $4)`,
        [ownerIdOf(grant), grant.id, timeMs, beforeMs],
      );
    },
    async countByScope(clientId) {
      const counts = await sql.all<ScopeCount>(
        `SELECT g.scope, COUNT(*) AS grants FROM grants g WHERE g.client_id = $1
         GROUP BY g.scope ORDER BY COALESCE(g.scope, '')`,
        [clientId],
      );
      return counts.map(({ scope, grants }) => ({ scope, grants: Number(grants) }));
    },
    countOwn: (tenantId, clientId) =>
      countOf(
        sql.all("SELECT COUNT(*) AS count FROM grants g WHERE g.client_id = $1 AND g.owner_id = $2", [
          clientId,
          ownerIdOf({ userId: null, tenantId }),
        ]),
      ),
    oldestOwn: (tenantId, clientId, count) =>
      rows("g.client_id = $1 AND g.owner_id = $2 ORDER BY g.created_ms, g.id LIMIT $3", [
        clientId,
        ownerIdOf({ userId: null, tenantId }),
        count,
      ]),
    remove: async (grant) => (await removeAll([grant])).length > 0,
    removeAll,
    removeEmpty(createdBeforeMs, after) {
      const has = (tokens: "access_tokens" | "refresh_tokens") =>
        `EXISTS (SELECT 1 FROM ${tokensByGrant(sql, tokens)} WHERE t.owner_id = grants.owner_id AND t.grant_id = grants.id)`;
      // CASE keeps PostgreSQL from joining the tables: each grant is looked up by index.
      const isEmpty = `CASE WHEN ${has("refresh_tokens")} THEN FALSE ELSE NOT ${has("access_tokens")} END`;
      return removeFromNextPage(sql, "grants", "id", `created_ms < $5 AND ${isEmpty}`, [createdBeforeMs], after);
    },
  };
}

function keysOf(grants: readonly GrantRow[]) {
  return [grants.map(ownerIdOf), grants.map(({ id }) => id)];
}

async function countOf(counted: Promise<{ readonly count: number }[]>): Promise<number> {
  return Number((await first(counted))?.count ?? 0);
}
