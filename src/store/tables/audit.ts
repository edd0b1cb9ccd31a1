import { ownerIdOf, type TenantId, type UserId } from "../../model/ids.ts";
import type { Parameter, Sql } from "../sql.ts";

/** An entry of the audit log: who did what, when and from where. It never holds a secret or text that a person typed. */
export interface AuditRow {
  readonly id: number;
  readonly timeMs: number;
  readonly act: string;
  readonly tenantId: TenantId | null;
  readonly userId: UserId | null;
  readonly clientId: string | null;
  /** The address of the caller, or `command` for an administrator's command. */
  readonly source: string;
  /** The name of the operator who acted, or `local` for a command on the machine; null for everyone else. */
  readonly operator: string | null;
  /** JSON of a few plain facts. */
  readonly detail: string;
}

export interface AuditTable {
  add(entry: Omit<AuditRow, "id" | "timeMs">): Promise<void>;
  /**
   * The newest entries first. One read examines `examinedAtOnce` entries at most, because a filter may match few of a
   * large log: it can return few entries or none although older ones match.
   */
  page(filter: AuditFilter): Promise<AuditPage>;
  /**
   * How often each act occurred in each hour since that time, in the newest `most` entries of these tenants, or of all.
   * Hour 0 is the first one.
   */
  hours(
    sinceMs: number,
    tenantIds: readonly TenantId[] | undefined,
    most: number,
  ): Promise<{ readonly hour: number; readonly act: string; readonly count: number }[]>;
  /** Removes older entries, of the first `examinedAtOnce` alone; returns how many. */
  removeBefore(timeMs: number): Promise<number>;
}

export interface AuditPage {
  readonly rows: readonly AuditRow[];
  /** The `beforeId` of the next page; undefined when no entries are left. */
  readonly nextBeforeId: number | undefined;
}

export interface AuditFilter {
  /** Entries of these tenants alone; undefined: all entries, also those of no tenant. */
  readonly tenantIds?: readonly TenantId[] | undefined;
  /** Entries before this one. */
  readonly beforeId?: number | undefined;
  readonly act?: string | undefined;
  readonly operator?: string | undefined;
  readonly userId?: UserId | undefined;
  readonly clientId?: string | undefined;
  readonly limit: number;
}

/** About 10 ms on a slow core. */
export const examinedAtOnce = 10_000;

const storedColumns = "id, owner_id, tenant_id, time_ms, act, client_id, source, operator, detail";
const columns = `id, time_ms AS "timeMs", act, tenant_id AS "tenantId",
  CASE WHEN owner_id > 0 THEN owner_id END AS "userId", client_id AS "clientId", source, operator, detail`;

export function auditTable(sql: Sql): AuditTable {
  return {
    async add({ act, tenantId, userId, clientId, source, operator, detail }) {
      await sql.run(
        `INSERT INTO audit (owner_id, tenant_id, time_ms, act, client_id, source, operator, detail)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [ownerIdOf({ userId, tenantId }), tenantId, await sql.nowMs(), act, clientId, source, operator, detail],
      );
    },
    async page({ beforeId, limit, ...filter }) {
      const parameters: Parameter[] = [];
      const bind = (value: Parameter) => `$${parameters.push(value)}`;
      const { searched, compared } = conditionsOf(filter);
      const before = beforeId === undefined ? [] : [`id < ${bind(beforeId)}`];
      const within = [...searched.map((condition) => condition(bind)), ...before].join(" AND ") || "TRUE";
      const newest = `FROM audit WHERE ${within} ORDER BY id DESC`;
      const ofNewest = [...parameters];
      const from =
        compared.length === 0
          ? newest
          : `FROM (SELECT ${storedColumns} ${newest} LIMIT ${examinedAtOnce}) AS examined
             WHERE ${compared.map((condition) => condition(bind)).join(" AND ")} ORDER BY id DESC`;
      // One extra row shows whether more follow.
      const found = await sql.all<AuditRow>(`SELECT ${columns} ${from} LIMIT ${bind(limit + 1)}`, parameters);
      const rows = found.slice(0, limit);
      if (found.length > limit || compared.length === 0) {
        return { rows, nextBeforeId: found.length > limit ? rows.at(-1)!.id : undefined };
      }
      const [unexamined] = await sql.all<{ id: number }>(
        `SELECT id ${newest} LIMIT 1 OFFSET ${examinedAtOnce}`,
        ofNewest,
      );
      return { rows, nextBeforeId: unexamined && unexamined.id + 1 };
    },
    hours(sinceMs, tenantIds, most) {
      const parameters: Parameter[] = [];
      const bind = (value: Parameter) => `$${parameters.push(value)}`;
      const where = tenantIds === undefined ? "" : `WHERE ${ofTenants(tenantIds)(bind)}`;
      const since = `CAST(${bind(sinceMs)} AS BIGINT)`;
      return sql.all(
        `SELECT (n.time_ms - ${since}) / 3600000 AS hour, n.act, COUNT(*) AS count FROM
           (SELECT time_ms, act FROM audit ${where} ORDER BY id DESC LIMIT ${bind(most)}) AS n
         WHERE n.time_ms >= ${since} GROUP BY 1, 2`,
        parameters,
      );
    },
    // Of the first entries, not up to the first that stays: one that was added while the clock was ahead must not keep
    // all later ones.
    removeBefore: (timeMs) =>
      sql.run(
        `DELETE FROM audit WHERE time_ms < $1 AND id IN (SELECT id FROM audit ORDER BY id LIMIT ${examinedAtOnce})`,
        [timeMs],
      ),
  };
}

/** The SQL of a condition. `bind` adds a parameter and returns its name. */
type Condition = (bind: (value: Parameter) => string) => string;

/**
 * The conditions of a filter: the one whose index leads to the entries, newest first, and those that are compared with
 * each entry found there. There is no such index of several tenants together.
 */
function conditionsOf({ tenantIds, act, operator, userId, clientId }: Omit<AuditFilter, "beforeId" | "limit">): {
  readonly searched: readonly Condition[];
  readonly compared: readonly Condition[];
} {
  const equal = (column: string, value: Parameter | undefined): readonly Condition[] =>
    value === undefined ? [] : [(bind) => `${column} = ${bind(value)}`];
  const tenants = tenantIds === undefined ? [] : [ofTenants(tenantIds)];
  const isOneTenant = tenantIds !== undefined && tenantIds.length < 2;
  const indexed = [
    ...equal("owner_id", userId),
    ...equal("client_id", clientId),
    ...equal("operator", operator),
    ...(isOneTenant ? tenants : []),
  ];
  const others = [...(isOneTenant ? [] : tenants), ...equal("act", act)];
  return { searched: indexed.slice(0, 1), compared: [...indexed.slice(1), ...others] };
}

function ofTenants(tenantIds: readonly TenantId[]): Condition {
  return (bind) => `tenant_id IN (${tenantIds.map(bind).join(", ") || "NULL"})`;
}
