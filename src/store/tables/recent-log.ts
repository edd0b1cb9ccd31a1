import type { TenantId, UserId } from "../../model/ids.ts";
import { expandedText } from "../compressed-text.ts";
import type { Parameter, Sql } from "../sql.ts";
import { keptIn, type TailedEntry } from "./log.ts";
import type { LogPosition } from "./log-position.ts";
import { readStableEntries, unsettledFrom } from "./settled-entries.ts";

/** Whose entries are read. Undefined members match every entry. */
export interface RecentFilter {
  readonly tenantIds?: readonly TenantId[] | undefined;
  readonly userId?: UserId | undefined;
}

export interface RecentEntries {
  /** Newest first. */
  readonly entries: readonly TailedEntry[];
  /** The oldest entry that was looked at, whether it matches or not; undefined at the beginning of the log. */
  readonly lookedAt: { readonly position: LogPosition; readonly timeMs: number } | undefined;
}

/** The end of the log, read backwards, for people who look at what happened last. Revocations are left out. */
export interface RecentLogTable {
  /**
   * The matching ones of the newest entries before that position. It looks at no more than `looks` entries: few of a
   * large log may match.
   */
  before(position: LogPosition | undefined, filter: RecentFilter, looks: number): Promise<RecentEntries>;
}

interface RecentRow extends Omit<TailedEntry, "position" | "body"> {
  readonly body: string | Uint8Array;
  readonly transaction: number;
  readonly id: number;
}

/** Stands for no user in the log, as in tables/log.ts. */
const noUser = 0;

export function recentLogTable(sql: Sql): RecentLogTable {
  const isPostgres = sql.dialect === "postgres";
  const transaction = isPostgres ? "xid::text::bigint" : "0";
  const order = isPostgres ? "xid DESC, id DESC" : "id DESC";
  return {
    before: (...query) =>
      isPostgres ? readStableEntries(sql, (bound) => read(bound, ...query)) : read(null, ...query),
  };

  async function read(
    settledBelow: string | null,
    ...[position, { tenantIds, userId }, looks]: Parameters<RecentLogTable["before"]>
  ): Promise<RecentEntries> {
    const parameters: Parameter[] = [looks];
    const parameter = (value: Parameter) => `$${parameters.push(value)}`;
    // As in the tail of the log: no entry appears later behind one that was returned.
    const isSettled = isPostgres ? `xid < ${unsettledFrom(parameter(settledBelow))}` : "1 = 1";
    const isBefore =
      position === undefined
        ? ""
        : isPostgres
          ? `AND (xid, id) < (${parameter(String(position.transaction))}::text::xid8, ${parameter(position.id)})`
          : `AND id < ${parameter(position.id)}`;
    const looked = `SELECT id, ${transaction} AS "transaction", user_id, device_id, kind, time_ms, body FROM log
        WHERE ${isSettled} ${isBefore} ORDER BY ${order} LIMIT $1`;
    const last = `SELECT id, ${transaction} AS "transaction", time_ms AS "timeMs" FROM log
        WHERE ${isSettled} ${isBefore} ORDER BY ${order} LIMIT 1 OFFSET $1 - 1`;
    const [bound] = await sql.all<LogPosition & { readonly timeMs: number }>(last, parameters);
    const conditions = [
      "l.kind <> 'revocation'",
      keptIn("l"),
      ...(tenantIds === undefined ? [] : [`u.tenant_id IN (${tenantIds.map(parameter).join(", ") || "NULL"})`]),
      ...(userId === undefined ? [] : [`l.user_id = ${parameter(userId)}`]),
    ];
    const rows = await sql.all<RecentRow>(
      `SELECT l.id, l."transaction", NULLIF(l.user_id, ${noUser}) AS "userId", l.device_id AS "deviceId", l.kind,
           l.time_ms AS "timeMs", l.body, u.tenant_id AS "tenantId"
         FROM (${looked}) l LEFT JOIN users u ON u.id = l.user_id WHERE ${conditions.join(" AND ")}
         ORDER BY l."transaction" DESC, l.id DESC`,
      parameters,
    );
    return {
      entries: rows.map(({ transaction: of, id, body, ...entry }) => ({
        ...entry,
        body: expandedText(body),
        position: { transaction: of, id },
      })),
      lookedAt: bound && { position: { transaction: bound.transaction, id: bound.id }, timeMs: bound.timeMs },
    };
  }
}
