import type { TenantId, UserId } from "../../model/ids.ts";
import { first, type Sql } from "../sql.ts";

/** What a client was given: by one user, to act for that user or, by an administrator, for the whole tenant. */
export interface GrantRow {
  readonly id: string;
  readonly tenantId: TenantId;
  /** Null when an enterprise client took it with its own secret. */
  readonly userId: UserId | null;
  readonly clientId: string;
  readonly reach: GrantReach;
}

export type GrantReach = "user" | "tenant";

export interface GrantTable {
  add(grant: GrantRow): Promise<void>;
  /** Held until the transaction ends, so that its tokens change one after the other. */
  lock(id: string): Promise<GrantRow | undefined>;
  ofUser(userId: UserId): Promise<GrantRow[]>;
  ofClient(clientId: string): Promise<GrantRow[]>;
  /** With all its tokens; answers whether it was there. */
  remove(id: string): Promise<boolean>;
  /** Those without any token left. */
  removeEmpty(createdBeforeMs: number): Promise<number>;
}

const columns = `id, tenant_id AS "tenantId", user_id AS "userId", client_id AS "clientId", reach`;

export function grantTable(sql: Sql): GrantTable {
  const rows = (tail: string, parameter: string | number) =>
    sql.all<GrantRow>(`SELECT ${columns} FROM grants WHERE ${tail}`, [parameter]);
  return {
    async add({ id, tenantId, userId, clientId, reach }) {
      await sql.run(
        `INSERT INTO grants (id, tenant_id, user_id, client_id, reach, created_ms) VALUES ($1, $2, $3, $4, $5, $6)`,
        [id, tenantId, userId, clientId, reach, await sql.nowMs()],
      );
    },
    lock: (id) => first(rows(`id = $1${sql.dialect === "postgres" ? " FOR UPDATE" : ""}`, id)),
    ofUser: (userId) => rows("user_id = $1 ORDER BY id", userId),
    ofClient: (clientId) => rows("client_id = $1 ORDER BY id", clientId),
    async remove(id) {
      const wasThere = (await sql.run("DELETE FROM grants WHERE id = $1", [id])) > 0;
      await sql.run("DELETE FROM access_tokens WHERE grant_id = $1", [id]);
      await sql.run("DELETE FROM refresh_tokens WHERE grant_id = $1", [id]);
      return wasThere;
    },
    removeEmpty: (createdBeforeMs) =>
      sql.run(
        `DELETE FROM grants WHERE created_ms < $1
         AND NOT EXISTS (SELECT 1 FROM refresh_tokens WHERE grant_id = grants.id)
         AND NOT EXISTS (SELECT 1 FROM access_tokens WHERE grant_id = grants.id)`,
        [createdBeforeMs],
      ),
  };
}
