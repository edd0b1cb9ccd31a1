import type { UserId } from "../../model/ids.ts";
import { first, type Sql } from "../sql.ts";
import { isOfKey, type OwnedSecretKey } from "./owned-secret-key.ts";

/** A sign-in at the authorization server, from the right password to the decision about the terms. */
export interface SignInRow {
  readonly idHash: string;
  /** The login page that the user signed in on. A decision ends all sign-ins of the same page. */
  readonly loginId: string;
  /** The SHA-256 of the secret in the browser's cookie. */
  readonly secretHash: string;
  readonly userId: UserId;
  readonly clientId: string;
  /** The client's authorization request, as oauth/ encodes it. */
  readonly request: string;
  readonly decision: Decision | null;
  readonly expiresMs: number;
}

export type Decision = "accepted" | "declined";

export interface SignInTable {
  add(signIn: Omit<SignInRow, "decision">): Promise<void>;
  find(key: OwnedSecretKey): Promise<SignInRow | undefined>;
  /** Stores the decision at most once; returns false when there was one already. */
  decide(signIn: SignInRow, decision: Decision): Promise<boolean>;
  /** Whether this browser has signed in on that login page. */
  isOfBrowser(loginId: string, secretHash: string): Promise<boolean>;
  /** The decision of any sign-in of that login page. */
  decisionOf(loginId: string): Promise<Decision | undefined>;
  removeOfUser(userId: UserId): Promise<void>;
  removeExpired(beforeMs: number): Promise<number>;
}

const columns = `id_hash AS "idHash", login_id AS "loginId", secret_hash AS "secretHash", user_id AS "userId",
  client_id AS "clientId", request, decision, expires_ms AS "expiresMs"`;

export function signInTable(sql: Sql): SignInTable {
  return {
    async add({ idHash, loginId, secretHash, userId, clientId, request, expiresMs }) {
      await sql.run(
        `INSERT INTO sign_ins (id_hash, login_id, secret_hash, user_id, client_id, request, expires_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [idHash, loginId, secretHash, userId, clientId, request, expiresMs],
      );
    },
    find: ({ ownerId, hash }) =>
      first(
        sql.all<SignInRow>(`SELECT ${columns} FROM sign_ins WHERE ${isOfKey("user_id", "id_hash")}`, [ownerId, hash]),
      ),
    decide: async ({ userId, idHash }, decision) =>
      (await sql.run("UPDATE sign_ins SET decision = $3 WHERE user_id = $1 AND id_hash = $2 AND decision IS NULL", [
        userId,
        idHash,
        decision,
      ])) > 0,
    isOfBrowser: async (loginId, secretHash) =>
      (await sql.all("SELECT 1 FROM sign_ins WHERE login_id = $1 AND secret_hash = $2 LIMIT 1", [loginId, secretHash]))
        .length > 0,
    async decisionOf(loginId) {
      const row = await first(
        sql.all<{ decision: Decision }>(
          "SELECT decision FROM sign_ins WHERE login_id = $1 AND decision IS NOT NULL LIMIT 1",
          [loginId],
        ),
      );
      return row?.decision;
    },
    async removeOfUser(userId) {
      await sql.run("DELETE FROM sign_ins WHERE user_id = $1", [userId]);
    },
    removeExpired: (beforeMs) => sql.run("DELETE FROM sign_ins WHERE expires_ms < $1", [beforeMs]),
  };
}
