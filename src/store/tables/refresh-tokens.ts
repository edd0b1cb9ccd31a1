import type { OwnerId } from "../../model/ids.ts";
import { first, type Parameter, type Sql } from "../sql.ts";
import { type CredentialKey, isOfKey } from "./credential-key.ts";
import { removeFromNextPage, type SweepCursor } from "./keyset-sweep.ts";

/** A refresh token; only its SHA-256 is stored. */
export interface RefreshTokenRow extends CredentialKey {
  readonly grantId: string;
  /** The token that was exchanged for this one; null for the first token of its grant. */
  readonly parentHash: string | null;
  readonly issuedMs: number;
  readonly expiresMs: number;
  /** Whether it was exchanged for a successor. */
  readonly isUsed: boolean;
  /** From then on its use means that it was stolen. Null until a successor was used. */
  readonly retiresMs: number | null;
}

export interface RefreshTokenTable {
  add(token: Omit<RefreshTokenRow, "isUsed" | "retiresMs">): Promise<void>;
  find(key: CredentialKey): Promise<RefreshTokenRow | undefined>;
  /** The successors of the token, oldest first. */
  children(token: RefreshTokenRow): Promise<RefreshTokenRow[]>;
  /** Marks the token as used, and extends its life until `expiresMs`. */
  use(token: RefreshTokenRow, expiresMs: number): Promise<void>;
  /** Whether another successor of the same token has been used. */
  hasUsedSibling(token: RefreshTokenRow): Promise<boolean>;
  /** Lets the token's parent end at `retiresMs`. Returns false when it has retired already, or does not exist. */
  retireParent(token: RefreshTokenRow, retiresMs: number): Promise<boolean>;
  remove(token: RefreshTokenRow): Promise<void>;
  /**
   * Keeps `count` tokens of a grant; returns how many were removed. Retired tokens are removed first, then tokens that
   * were never used, then the rest; the oldest of each first.
   */
  keepNewest(ownerId: OwnerId, grantId: string, count: number): Promise<number>;
  /**
   * Removes expired tokens, and tokens that retired before `retiredBeforeMs`, from the page after the cursor. Returns the
   * next cursor, undefined at the end.
   */
  removeOld(expiredBeforeMs: number, retiredBeforeMs: number, after?: SweepCursor): Promise<SweepCursor | undefined>;
}

const columns = `owner_id AS "ownerId", hash, grant_id AS "grantId", parent_hash AS "parentHash", issued_ms AS "issuedMs",
  expires_ms AS "expiresMs", is_used AS "isUsed", retires_ms AS "retiresMs"`;

export function refreshTokenTable(sql: Sql): RefreshTokenTable {
  const rows = async (tail: string, parameters: readonly Parameter[]) =>
    (await sql.all<RefreshTokenRow>(`SELECT ${columns} FROM refresh_tokens WHERE ${tail}`, parameters)).map((row) => ({
      ...row,
      isUsed: Boolean(row.isUsed),
    }));
  return {
    async add({ ownerId, hash, grantId, parentHash, issuedMs, expiresMs }) {
      await sql.run(
        `INSERT INTO refresh_tokens (owner_id, hash, grant_id, parent_hash, issued_ms, expires_ms, is_used)
         VALUES ($1, $2, $3, $4, $5, $6, 0)`,
        [ownerId, hash, grantId, parentHash, issuedMs, expiresMs],
      );
    },
    find: ({ ownerId, hash }) => first(rows(isOfKey("owner_id"), [ownerId, hash])),
    children: ({ ownerId, grantId, hash }) =>
      rows("owner_id = $1 AND grant_id = $2 AND parent_hash = $3 ORDER BY issued_ms, hash", [ownerId, grantId, hash]),
    async use({ ownerId, hash }, expiresMs) {
      await sql.run("UPDATE refresh_tokens SET is_used = 1, expires_ms = $3 WHERE owner_id = $1 AND hash = $2", [
        ownerId,
        hash,
        expiresMs,
      ]);
    },
    async retireParent({ ownerId, parentHash }, retiresMs) {
      if (parentHash === null) return false;
      const retired = await sql.run(
        "UPDATE refresh_tokens SET retires_ms = $3 WHERE owner_id = $1 AND hash = $2 AND retires_ms IS NULL",
        [ownerId, parentHash, retiresMs],
      );
      return retired > 0;
    },
    async hasUsedSibling({ ownerId, grantId, parentHash, hash }) {
      if (parentHash === null) return false;
      const used = await rows(
        "owner_id = $1 AND grant_id = $2 AND parent_hash = $3 AND hash <> $4 AND is_used = 1 LIMIT 1",
        [ownerId, grantId, parentHash, hash],
      );
      return used.length > 0;
    },
    async remove({ ownerId, hash }) {
      await sql.run("DELETE FROM refresh_tokens WHERE owner_id = $1 AND hash = $2", [ownerId, hash]);
    },
    keepNewest: (ownerId, grantId, count) =>
      sql.run(
        `DELETE FROM refresh_tokens WHERE owner_id = $1 AND grant_id = $2 AND hash IN (
           SELECT hash FROM refresh_tokens WHERE owner_id = $1 AND grant_id = $2
           ORDER BY CASE WHEN retires_ms IS NOT NULL THEN 2 WHEN is_used = 0 THEN 1 ELSE 0 END, issued_ms DESC, hash
           LIMIT 1000000 OFFSET $3)`,
        [ownerId, grantId, count],
      ),
    removeOld: (expiredBeforeMs, retiredBeforeMs, after) =>
      removeFromNextPage(
        sql,
        "refresh_tokens",
        "hash",
        "expires_ms < $5 OR retires_ms < $6",
        [expiredBeforeMs, retiredBeforeMs],
        after,
      ),
  };
}
