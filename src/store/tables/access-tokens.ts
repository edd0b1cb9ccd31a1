import type { OwnerId } from "../../model/ids.ts";
import type { SuspendedParty } from "../../model/suspension.ts";
import { first, type Sql } from "../sql.ts";
import { type GrantRow, grantColumns, suspendedParty } from "./grants.ts";
import { removeFromNextPage, type SweepCursor } from "./keyset-sweep.ts";
import { isOfKey, type OwnedSecretKey } from "./owned-secret-key.ts";
import { tokensByGrant } from "./tokens-of-grant.ts";

export interface AccessTokenRow {
  readonly grant: GrantRow;
  /** The token's scope as text: its own, else that of its grant. Null means everything. */
  readonly scope: string | null;
  /** On the store's clock; zero or less when the token has expired. */
  readonly remainingMs: number;
  /** Who of the grant is suspended; null: nobody. */
  readonly suspended: SuspendedParty | null;
}

/** Access tokens; only their SHA-256 is stored. They are removed with their grant. */
export interface AccessTokenTable {
  /** A scope narrows the token below its grant. With null, the grant's scope applies. */
  add(key: OwnedSecretKey, grantId: string, expiresMs: number, scope?: string | null): Promise<void>;
  find(key: OwnedSecretKey): Promise<AccessTokenRow | undefined>;
  /** Keeps the `count` tokens of a grant that expire last; returns how many valid ones were removed. */
  keepNewest(ownerId: OwnerId, grantId: string, count: number): Promise<number>;
  /** Removes expired tokens from the page after the cursor; returns the next cursor, undefined at the end. */
  removeExpired(beforeMs: number, after?: SweepCursor): Promise<SweepCursor | undefined>;
}

export function accessTokenTable(sql: Sql): AccessTokenTable {
  return {
    async add({ ownerId, hash }, grantId, expiresMs, scope = null) {
      await sql.run(
        "INSERT INTO access_tokens (owner_id, hash, grant_id, scope, expires_ms) VALUES ($1, $2, $3, $4, $5)",
        [ownerId, hash, grantId, scope, expiresMs],
      );
    },
    async find({ ownerId, hash }) {
      const row = await first(
        sql.all<GrantRow & Pick<AccessTokenRow, "suspended"> & { ownScope: string | null; expiresMs: number }>(
          `SELECT ${grantColumns}, t.scope AS "ownScope", t.expires_ms AS "expiresMs", ${suspendedParty("g")} AS suspended
           FROM access_tokens t
           JOIN grants g ON g.owner_id = t.owner_id AND g.id = t.grant_id WHERE ${isOfKey("t.owner_id", "t.hash")}`,
          [ownerId, hash],
        ),
      );
      if (!row) return undefined;
      const { ownScope, expiresMs, suspended, ...grant } = row;
      return { grant, scope: ownScope ?? grant.scope, remainingMs: expiresMs - (await sql.nowMs()), suspended };
    },
    // Expired tokens don't count: the sweep removes them.
    keepNewest: async (ownerId, grantId, count) =>
      sql.run(
        `DELETE FROM access_tokens WHERE owner_id = $1 AND hash IN (
           SELECT hash FROM ${tokensByGrant(sql, "access_tokens")} WHERE owner_id = $1 AND grant_id = $2 AND expires_ms > $4
           ORDER BY expires_ms DESC, hash LIMIT 1000000 OFFSET $3)`,
        [ownerId, grantId, count, await sql.nowMs()],
      ),
    removeExpired: (beforeMs, after) =>
      removeFromNextPage(sql, "access_tokens", "hash", "expires_ms < $5", [beforeMs], after),
  };
}
