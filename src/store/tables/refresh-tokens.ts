import { first, type Sql } from "../sql.ts";

/** A refresh token; only its SHA-256 is kept. */
export interface RefreshTokenRow {
  readonly hash: string;
  readonly grantId: string;
  /** The token whose use gave this one; null for the first of its grant. */
  readonly parentHash: string | null;
  readonly issuedMs: number;
  readonly expiresMs: number;
  /** Whether it has given a successor. */
  readonly isUsed: boolean;
  /** From when on its use means that somebody else has it too; null until a successor was used. */
  readonly retiresMs: number | null;
}

export interface RefreshTokenTable {
  add(token: Omit<RefreshTokenRow, "isUsed" | "retiresMs">): Promise<void>;
  find(hash: string): Promise<RefreshTokenRow | undefined>;
  /** Its successors, oldest first. */
  children(grantId: string, parentHash: string): Promise<RefreshTokenRow[]>;
  /** It lives until then, from now on. */
  use(hash: string, expiresMs: number): Promise<void>;
  /** Keeps an earlier time. */
  retire(hash: string, retiresMs: number): Promise<void>;
  remove(hash: string): Promise<void>;
  /** Expired ones, and those that retired so long ago that nobody will come with them. */
  removeOld(expiredBeforeMs: number, retiredBeforeMs: number): Promise<number>;
}

const columns = `hash, grant_id AS "grantId", parent_hash AS "parentHash", issued_ms AS "issuedMs",
  expires_ms AS "expiresMs", is_used AS "isUsed", retires_ms AS "retiresMs"`;

export function refreshTokenTable(sql: Sql): RefreshTokenTable {
  const rows = async (tail: string, parameters: readonly string[]) =>
    (await sql.all<RefreshTokenRow>(`SELECT ${columns} FROM refresh_tokens WHERE ${tail}`, parameters)).map((row) => ({
      ...row,
      isUsed: Boolean(row.isUsed),
    }));
  return {
    async add({ hash, grantId, parentHash, issuedMs, expiresMs }) {
      await sql.run(
        `INSERT INTO refresh_tokens (hash, grant_id, parent_hash, issued_ms, expires_ms, is_used)
         VALUES ($1, $2, $3, $4, $5, 0)`,
        [hash, grantId, parentHash, issuedMs, expiresMs],
      );
    },
    find: (hash) => first(rows("hash = $1", [hash])),
    children: (grantId, parentHash) =>
      rows("grant_id = $1 AND parent_hash = $2 ORDER BY issued_ms, hash", [grantId, parentHash]),
    async use(hash, expiresMs) {
      await sql.run("UPDATE refresh_tokens SET is_used = 1, expires_ms = $2 WHERE hash = $1", [hash, expiresMs]);
    },
    async retire(hash, retiresMs) {
      await sql.run("UPDATE refresh_tokens SET retires_ms = $2 WHERE hash = $1 AND retires_ms IS NULL", [
        hash,
        retiresMs,
      ]);
    },
    async remove(hash) {
      await sql.run("DELETE FROM refresh_tokens WHERE hash = $1", [hash]);
    },
    removeOld: (expiredBeforeMs, retiredBeforeMs) =>
      sql.run("DELETE FROM refresh_tokens WHERE expires_ms < $1 OR retires_ms < $2", [
        expiredBeforeMs,
        retiredBeforeMs,
      ]),
  };
}
