import type { OwnerId } from "../../model/ids.ts";
import { first, type Parameter, type Sql } from "../sql.ts";
import { removeFromNextPage, type SweepCursor } from "./keyset-sweep.ts";
import { isOfKey, type OwnedSecretKey } from "./owned-secret-key.ts";
import { tokensByGrant } from "./tokens-of-grant.ts";

/** A refresh token; only its SHA-256 is stored. */
export interface RefreshTokenRow extends OwnedSecretKey {
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

/** Which replaced tokens of one grant are kept. */
export interface KeptReplaced {
  /** Up to this number all are kept. */
  readonly most: number;
  readonly newest: number;
  /** The ages at which classes begin, ascending. Younger tokens are a class of their own. */
  readonly agesMs: readonly number[];
  /** How many tokens of each class are kept: those that were issued first. */
  readonly ofEachAge: number;
}

export interface RefreshTokenTable {
  add(token: Omit<RefreshTokenRow, "isUsed" | "retiresMs">): Promise<void>;
  find(key: OwnedSecretKey): Promise<RefreshTokenRow | undefined>;
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
   * Keeps `count` valid tokens of a grant that are not replaced; returns how many were removed. Tokens that were never
   * used are removed first, then the rest; the oldest of each first.
   */
  keepNewest(ownerId: OwnerId, grantId: string, count: number): Promise<number>;
  /** Removes replaced tokens of a grant that has too many. They are kept only to detect their reuse. */
  keepReplaced(ownerId: OwnerId, grantId: string, kept: KeptReplaced): Promise<void>;
  /**
   * Removes expired tokens, and tokens that retired before `retiredBeforeMs`, from the page after the cursor. Returns the
   * next cursor, undefined at the end.
   */
  removeOld(expiredBeforeMs: number, retiredBeforeMs: number, after?: SweepCursor): Promise<SweepCursor | undefined>;
}

const columns = `owner_id AS "ownerId", hash, grant_id AS "grantId", parent_hash AS "parentHash", issued_ms AS "issuedMs",
  expires_ms AS "expiresMs", is_used AS "isUsed", retires_ms AS "retiresMs"`;

export function refreshTokenTable(sql: Sql): RefreshTokenTable {
  const rows = async (tail: string, parameters: readonly Parameter[], table = "refresh_tokens") =>
    (await sql.all<RefreshTokenRow>(`SELECT ${columns} FROM ${table} WHERE ${tail}`, parameters)).map((row) => ({
      ...row,
      isUsed: Boolean(row.isUsed),
    }));
  const byGrant = tokensByGrant(sql, "refresh_tokens");
  const ofGrant = `FROM ${byGrant} WHERE owner_id = $1 AND grant_id = $2`;
  const removeSome = (which: string, parameters: readonly Parameter[]) =>
    sql.run(
      `DELETE FROM refresh_tokens WHERE owner_id = $1 AND hash IN (SELECT hash ${ofGrant} AND ${which})`,
      parameters,
    );
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
      rows(
        "owner_id = $1 AND grant_id = $2 AND parent_hash = $3 ORDER BY issued_ms, hash",
        [ownerId, grantId, hash],
        byGrant,
      ),
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
        byGrant,
      );
      return used.length > 0;
    },
    async remove({ ownerId, hash }) {
      await sql.run("DELETE FROM refresh_tokens WHERE owner_id = $1 AND hash = $2", [ownerId, hash]);
    },
    // Expired tokens don't count: the sweep removes them.
    keepNewest: async (ownerId, grantId, count) =>
      removeSome(
        `retires_ms IS NULL AND expires_ms > $4
         ORDER BY is_used DESC, issued_ms DESC, hash LIMIT 1000000 OFFSET $3`,
        [ownerId, grantId, count, await sql.nowMs()],
      ),
    async keepReplaced(ownerId, grantId, { most, newest, agesMs, ofEachAge }) {
      const replaced = `${ofGrant} AND retires_ms IS NOT NULL`;
      const counted = `SELECT COUNT(*) AS count ${replaced}`;
      const row = await first(sql.all<{ count: number }>(counted, [ownerId, grantId]));
      if (Number(row?.count ?? 0) <= most) return;
      const nowMs = await sql.nowMs();
      const cases = agesMs.map((_, place) => `WHEN issued_ms > $${place + 5} THEN ${place}`).join(" ");
      const ranked = `SELECT hash, ROW_NUMBER() OVER (ORDER BY issued_ms DESC, hash) AS newness, ROW_NUMBER() OVER (
          PARTITION BY CASE ${cases} ELSE ${agesMs.length} END ORDER BY issued_ms, hash) AS place ${replaced}`;
      await sql.run(
        `DELETE FROM refresh_tokens WHERE owner_id = $1
           AND hash IN (SELECT hash FROM (${ranked}) AS ranked WHERE newness > $3 AND place > $4)`,
        [ownerId, grantId, newest, ofEachAge, ...agesMs.map((ageMs) => nowMs - ageMs)],
      );
    },
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
