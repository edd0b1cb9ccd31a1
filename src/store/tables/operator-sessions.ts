import type { OperatorId } from "../../model/ids.ts";
import { first, isStorable, type Parameter, type Sql } from "../sql.ts";

/** A signed-in browser of an operator. */
export interface OperatorSessionRow {
  /** The SHA-256 of the cookie's secret. */
  readonly hash: string;
  /** Names the session in lists; no secret. */
  readonly id: string;
  readonly operatorId: OperatorId;
  readonly createdMs: number;
  readonly usedMs: number;
  /** When the operator last typed the password. */
  readonly passwordMs: number;
  readonly address: string;
  readonly userAgent: string;
  readonly expiresMs: number;
}

export interface OperatorSessionTable {
  add(session: OperatorSessionRow): Promise<void>;
  find(hash: string): Promise<OperatorSessionRow | undefined>;
  byId(id: string): Promise<OperatorSessionRow | undefined>;
  /** Those of one operator, or of all, newest first. */
  list(operatorId?: OperatorId): Promise<OperatorSessionRow[]>;
  used(hash: string, timeMs: number): Promise<void>;
  confirmed(hash: string, timeMs: number): Promise<void>;
  /** Returns whether it existed. */
  remove(hash: string): Promise<boolean>;
  removeOfOperator(operatorId: OperatorId): Promise<number>;
  /** Keeps the operator's sessions with the latest use; returns how many were removed. */
  keepLastUsed(operatorId: OperatorId, most: number): Promise<number>;
  /** Removes sessions that expired before `nowMs`, or were last used before `idleMs`. */
  removeExpired(nowMs: number, idleMs: number): Promise<number>;
}

const columns = `hash, id, operator_id AS "operatorId", created_ms AS "createdMs", used_ms AS "usedMs",
  password_ms AS "passwordMs", address, user_agent AS "userAgent", expires_ms AS "expiresMs"`;

export function operatorSessionTable(sql: Sql): OperatorSessionTable {
  const rows = (tail: string, parameters: readonly Parameter[] = []) =>
    sql.all<OperatorSessionRow>(`SELECT ${columns} FROM operator_sessions ${tail}`, parameters);
  return {
    async add(session) {
      await sql.run(
        `INSERT INTO operator_sessions (hash, id, operator_id, created_ms, used_ms, password_ms, address, user_agent,
           expires_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [
          session.hash,
          session.id,
          session.operatorId,
          session.createdMs,
          session.usedMs,
          session.passwordMs,
          session.address,
          session.userAgent,
          session.expiresMs,
        ],
      );
    },
    find: (hash) => first(rows("WHERE hash = $1", [hash])),
    byId: async (id) => (isStorable(id) ? first(rows("WHERE id = $1", [id])) : undefined),
    list: (operatorId) =>
      operatorId === undefined
        ? rows("ORDER BY created_ms DESC, id")
        : rows("WHERE operator_id = $1 ORDER BY created_ms DESC, id", [operatorId]),
    async used(hash, timeMs) {
      await sql.run("UPDATE operator_sessions SET used_ms = $2 WHERE hash = $1", [hash, timeMs]);
    },
    async confirmed(hash, timeMs) {
      await sql.run("UPDATE operator_sessions SET password_ms = $2 WHERE hash = $1", [hash, timeMs]);
    },
    remove: async (hash) => (await sql.run("DELETE FROM operator_sessions WHERE hash = $1", [hash])) > 0,
    removeOfOperator: (operatorId) => sql.run("DELETE FROM operator_sessions WHERE operator_id = $1", [operatorId]),
    keepLastUsed: (operatorId, most) =>
      sql.run(
        `DELETE FROM operator_sessions WHERE operator_id = $1 AND hash NOT IN (
           SELECT hash FROM operator_sessions WHERE operator_id = $1 ORDER BY used_ms DESC, hash LIMIT $2)`,
        [operatorId, most],
      ),
    removeExpired: (nowMs, idleMs) =>
      sql.run("DELETE FROM operator_sessions WHERE expires_ms <= $1 OR used_ms <= $2", [nowMs, idleMs]),
  };
}
