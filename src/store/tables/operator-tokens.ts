import type { OperatorId } from "../../model/ids.ts";
import { first, isStorable, type Parameter, type Sql } from "../sql.ts";

/** A token with which a program acts as an operator. */
export interface OperatorTokenRow {
  /** The SHA-256 of the token. */
  readonly hash: string;
  /** Names the token in lists; no secret. */
  readonly id: string;
  readonly operatorId: OperatorId;
  readonly name: string;
  /** The id of the token that made it, with which it ends; null if no token made it. */
  readonly parentId: string | null;
  readonly createdMs: number;
  readonly expiresMs: number;
  readonly usedMs: number | null;
}

export interface OperatorTokenTable {
  add(
    token: Omit<OperatorTokenRow, "usedMs" | "parentId"> & Partial<Pick<OperatorTokenRow, "parentId">>,
  ): Promise<void>;
  find(hash: string): Promise<OperatorTokenRow | undefined>;
  byId(id: string): Promise<OperatorTokenRow | undefined>;
  /** Takes a shared lock until the transaction ends, so that the token can't be removed. */
  hold(id: string): Promise<OperatorTokenRow | undefined>;
  /** Those of one operator, or of all, newest first. */
  list(operatorId?: OperatorId): Promise<OperatorTokenRow[]>;
  used(hash: string, timeMs: number): Promise<void>;
  /** Removes a token with all that it made. */
  remove(hash: string): Promise<boolean>;
  removeOfOperator(operatorId: OperatorId): Promise<number>;
  removeExpired(nowMs: number): Promise<number>;
}

const columns = `hash, id, operator_id AS "operatorId", name, parent_id AS "parentId", created_ms AS "createdMs",
  expires_ms AS "expiresMs", used_ms AS "usedMs"`;

export function operatorTokenTable(sql: Sql): OperatorTokenTable {
  const rows = (tail: string, parameters: readonly Parameter[] = []) =>
    sql.all<OperatorTokenRow>(`SELECT ${columns} FROM operator_tokens ${tail}`, parameters);
  return {
    async add({ hash, id, operatorId, name, parentId = null, createdMs, expiresMs }) {
      await sql.run(
        `INSERT INTO operator_tokens (hash, id, operator_id, name, parent_id, created_ms, expires_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [hash, id, operatorId, name, parentId, createdMs, expiresMs],
      );
    },
    find: (hash) => first(rows("WHERE hash = $1", [hash])),
    byId: async (id) => (isStorable(id) ? first(rows("WHERE id = $1", [id])) : undefined),
    hold: (id) => first(rows(`WHERE id = $1${sql.dialect === "postgres" ? " FOR KEY SHARE" : ""}`, [id])),
    list: (operatorId) =>
      operatorId === undefined
        ? rows("ORDER BY created_ms DESC, id")
        : rows("WHERE operator_id = $1 ORDER BY created_ms DESC, id", [operatorId]),
    async used(hash, timeMs) {
      await sql.run("UPDATE operator_tokens SET used_ms = $2 WHERE hash = $1", [hash, timeMs]);
    },
    remove: async (hash) => (await sql.run("DELETE FROM operator_tokens WHERE hash = $1", [hash])) > 0,
    removeOfOperator: (operatorId) => sql.run("DELETE FROM operator_tokens WHERE operator_id = $1", [operatorId]),
    removeExpired: (nowMs) => sql.run("DELETE FROM operator_tokens WHERE expires_ms <= $1", [nowMs]),
  };
}
