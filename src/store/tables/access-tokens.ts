import { first, type Sql } from "../sql.ts";
import { type CredentialKey, isOfKey } from "./credential-key.ts";
import { type GrantRow, grantColumns } from "./grants.ts";
import { type Mark, removeFromStretch } from "./stretches.ts";

export interface AccessTokenRow {
  readonly grant: GrantRow;
  /** By the store's clock; zero or less when it has expired. */
  readonly remainingMs: number;
}

/** Access tokens; only their SHA-256 is kept. They go with their grant. */
export interface AccessTokenTable {
  add(key: CredentialKey, grantId: string, expiresMs: number): Promise<void>;
  find(key: CredentialKey): Promise<AccessTokenRow | undefined>;
  /** Those of the next stretch behind that mark; answers the next mark, or undefined at the end. */
  removeExpired(beforeMs: number, after?: Mark): Promise<Mark | undefined>;
}

export function accessTokenTable(sql: Sql): AccessTokenTable {
  return {
    async add({ ownerId, hash }, grantId, expiresMs) {
      await sql.run("INSERT INTO access_tokens (owner_id, hash, grant_id, expires_ms) VALUES ($1, $2, $3, $4)", [
        ownerId,
        hash,
        grantId,
        expiresMs,
      ]);
    },
    async find({ ownerId, hash }) {
      const row = await first(
        sql.all<GrantRow & { expiresMs: number }>(
          `SELECT ${grantColumns}, t.expires_ms AS "expiresMs" FROM access_tokens t
           JOIN grants g ON g.owner_id = t.owner_id AND g.id = t.grant_id WHERE ${isOfKey("t.owner_id", "t.hash")}`,
          [ownerId, hash],
        ),
      );
      if (!row) return undefined;
      const { expiresMs, ...grant } = row;
      return { grant, remainingMs: expiresMs - (await sql.nowMs()) };
    },
    removeExpired: (beforeMs, after) =>
      removeFromStretch(sql, "access_tokens", "hash", "expires_ms < $5", [beforeMs], after),
  };
}
