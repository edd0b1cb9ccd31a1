import { first, type Sql } from "../sql.ts";
import type { GrantRow } from "./grants.ts";

export interface AccessTokenRow {
  readonly grant: GrantRow;
  /** By the store's clock; zero or less when it has expired. */
  readonly remainingMs: number;
}

/** Access tokens; only their SHA-256 is kept. They go with their grant. */
export interface AccessTokenTable {
  add(hash: string, grantId: string, expiresMs: number): Promise<void>;
  find(hash: string): Promise<AccessTokenRow | undefined>;
  removeExpired(beforeMs: number): Promise<number>;
}

export function accessTokenTable(sql: Sql): AccessTokenTable {
  return {
    async add(hash, grantId, expiresMs) {
      await sql.run("INSERT INTO access_tokens (hash, grant_id, expires_ms) VALUES ($1, $2, $3)", [
        hash,
        grantId,
        expiresMs,
      ]);
    },
    async find(hash) {
      const row = await first(
        sql.all<GrantRow & { expiresMs: number }>(
          `SELECT g.id, g.tenant_id AS "tenantId", g.user_id AS "userId", g.client_id AS "clientId", g.reach,
             t.expires_ms AS "expiresMs"
           FROM access_tokens t JOIN grants g ON g.id = t.grant_id WHERE t.hash = $1`,
          [hash],
        ),
      );
      if (!row) return undefined;
      const { expiresMs, ...grant } = row;
      return { grant, remainingMs: expiresMs - (await sql.nowMs()) };
    },
    removeExpired: (beforeMs) => sql.run("DELETE FROM access_tokens WHERE expires_ms < $1", [beforeMs]),
  };
}
