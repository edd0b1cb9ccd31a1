import type { UserId } from "../../model/ids.ts";
import { first, type Sql } from "../sql.ts";
import { isOfKey, type OwnedSecretKey } from "./owned-secret-key.ts";

/** An authorization code; only its SHA-256 is stored. */
export interface CodeRow {
  readonly hash: string;
  readonly clientId: string;
  readonly userId: UserId;
  readonly redirectUri: string;
  /** Whether the client sent redirect_uri at authorize. Then it must send it again with the code. */
  readonly isRedirectUriSent: boolean;
  readonly challenge: string | null;
  /** The scopes that the user accepted, as text. Null means everything. */
  readonly scope: string | null;
  /** The terms that the user accepted; null when the tenant had none. */
  readonly termsVersion: string | null;
  /** The date of these terms. */
  readonly termsMs: number | null;
  readonly expiresMs: number;
  /** The grant that the code was exchanged for; null while it is unused. */
  readonly grantId: string | null;
}

type Optional = "scope" | "termsVersion" | "termsMs";

export interface CodeTable {
  /** Without a scope the code covers everything. */
  add(code: Omit<CodeRow, "grantId" | Optional> & Partial<Pick<CodeRow, Optional>>): Promise<void>;
  find(key: OwnedSecretKey): Promise<CodeRow | undefined>;
  /** Redeems the code at most once. Returns undefined when it was redeemed before. */
  spend(code: CodeRow, clientId: string, grantId: string): Promise<CodeRow | undefined>;
  removeOfUser(userId: UserId): Promise<void>;
  removeOfClient(clientId: string): Promise<void>;
  /** Removes the codes of a user for one client that were not exchanged yet. */
  removeUnspent(userId: UserId, clientId: string): Promise<void>;
  removeExpired(beforeMs: number): Promise<number>;
}

const columns = `hash, client_id AS "clientId", user_id AS "userId", redirect_uri AS "redirectUri",
  is_redirect_uri_sent AS "isRedirectUriSent", challenge, scope, terms_version AS "termsVersion",
  terms_ms AS "termsMs", expires_ms AS "expiresMs", grant_id AS "grantId"`;

export function codeTable(sql: Sql): CodeTable {
  const firstCode = async (rows: Promise<CodeRow[]>) => {
    const row = await first(rows);
    return row && { ...row, isRedirectUriSent: Boolean(row.isRedirectUriSent) };
  };
  return {
    async add({ hash, clientId, userId, redirectUri, isRedirectUriSent, challenge, expiresMs, ...accepted }) {
      const { scope = null, termsVersion = null, termsMs = null } = accepted;
      await sql.run(
        `INSERT INTO codes (hash, client_id, user_id, redirect_uri, is_redirect_uri_sent, challenge, scope, terms_version,
           terms_ms, expires_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
        [
          hash,
          clientId,
          userId,
          redirectUri,
          isRedirectUriSent ? 1 : 0,
          challenge,
          scope,
          termsVersion,
          termsMs,
          expiresMs,
        ],
      );
    },
    find: ({ ownerId, hash }) =>
      firstCode(sql.all<CodeRow>(`SELECT ${columns} FROM codes WHERE ${isOfKey("user_id")}`, [ownerId, hash])),
    spend: ({ userId, hash }, clientId, grantId) =>
      firstCode(
        sql.all<CodeRow>(
          `UPDATE codes SET grant_id = $4 WHERE user_id = $1 AND hash = $2 AND client_id = $3 AND grant_id IS NULL
           RETURNING ${columns}`,
          [userId, hash, clientId, grantId],
        ),
      ),
    async removeOfUser(userId) {
      await sql.run("DELETE FROM codes WHERE user_id = $1", [userId]);
    },
    async removeOfClient(clientId) {
      await sql.run("DELETE FROM codes WHERE client_id = $1", [clientId]);
    },
    async removeUnspent(userId, clientId) {
      await sql.run("DELETE FROM codes WHERE user_id = $1 AND client_id = $2 AND grant_id IS NULL", [userId, clientId]);
    },
    removeExpired: (beforeMs) => sql.run("DELETE FROM codes WHERE expires_ms < $1", [beforeMs]),
  };
}
