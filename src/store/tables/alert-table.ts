import type { AlertCommand } from "../../model/alert-commands.ts";
import type { Condition } from "../../model/condition.ts";
import type { TriggerId } from "../../model/ids.ts";
import type { Evaluation } from "../../model/trigger.ts";
import type { Target } from "../../model/trigger-targets.ts";
import { first, type Parameter, type Sql } from "../sql.ts";
import type { AlertListFilter, AlertRow, AlertTable, NewAlert, WatchingAlert } from "./alert-rows.ts";

/** How one of the tables stores what its alerts watch. */
export interface AlertTableShape<Row extends AlertRow, Watched> {
  readonly table: string;
  /** Columns that describe the watched subject, and their names in a row that is read. */
  readonly watched: Readonly<Record<string, string>>;
  /** In the order of `watched`. */
  readonly valuesOf: (trigger: NewAlert<Row>) => readonly Parameter[];
  readonly readWatched: (stored: Watched) => Omit<Row, Exclude<keyof AlertRow, "deviceId">>;
  /** Draws the next id, for a table that does not generate its ids. */
  readonly nextId?: () => Promise<TriggerId>;
}

/** Flags are 0 or 1, and the condition is JSON. */
export type StoredWatching = Pick<AlertRow, "id" | "userId"> & {
  readonly condition: string;
  readonly autoDisarm: number;
  readonly autoDelete: number;
  readonly autoDisable: number;
  readonly isArmed: number;
};

type StoredAlert = StoredWatching &
  Pick<AlertRow, "action" | "address" | "message" | "reason" | "createdMs" | "firedMs" | "firings"> & {
    readonly targets: string;
    /** Null when the alert commands nothing, as in rows of the version before. */
    readonly commands: string | null;
    readonly isEnabled: number;
  };

const stateColumns = `t.id, t.user_id AS "userId", t.condition, t.action, t.targets, t.commands, t.address, t.message,
  t.auto_disarm AS "autoDisarm", t.auto_delete AS "autoDelete", t.auto_disable AS "autoDisable",
  t.is_enabled AS "isEnabled", t.is_armed AS "isArmed", t.reason, t.created_ms AS "createdMs",
  t.fired_ms AS "firedMs", t.firings`;
export const watchingColumns = `t.id, t.user_id AS "userId", t.condition, t.auto_disarm AS "autoDisarm",
  t.auto_delete AS "autoDelete", t.auto_disable AS "autoDisable", t.is_armed AS "isArmed"`;
const ruleColumns = [
  "condition",
  "action",
  "targets",
  "commands",
  "address",
  "message",
  "auto_disarm",
  "auto_delete",
  "auto_disable",
  "is_enabled",
  "is_armed",
  "reason",
];

/** Reads rows by the rest of a statement, in which the table is `t`. */
export type ReadAlerts<Row> = (tail: string, parameters: readonly Parameter[]) => Promise<Row[]>;

/** The statements that all tables of alerts share; `rows` is for the statements that one of them adds. */
export function alertTable<Row extends AlertRow, Watched>(
  sql: Sql,
  { table, watched, valuesOf, readWatched, nextId }: AlertTableShape<Row, Watched>,
): { readonly shared: Omit<AlertTable<Row>, "totals">; readonly rows: ReadAlerts<Row> } {
  const watchedColumns = Object.keys(watched);
  const columns = `${Object.entries(watched)
    .map(([column, name]) => `t.${column} AS "${name}"`)
    .join(", ")}, ${stateColumns}`;
  const definitionColumns = [...watchedColumns, ...ruleColumns];
  const definitionValues = (trigger: NewAlert<Row>) => [...valuesOf(trigger), ...ruleValues(trigger)];
  const fromStored = (stored: StoredAlert & Watched) => ({ ...readAlert(stored), ...readWatched(stored) }) as Row;
  const rows: ReadAlerts<Row> = async (tail, parameters) =>
    (await sql.all<StoredAlert & Watched>(`SELECT ${columns} FROM ${table} t ${tail}`, parameters)).map(fromStored);
  const shared: Omit<AlertTable<Row>, "totals"> = {
    async add(trigger) {
      const own = nextId ? { id: await nextId() } : {};
      const values: readonly Parameter[] = [
        ...Object.values(own),
        trigger.userId,
        trigger.createdMs,
        ...definitionValues(trigger),
      ];
      const names = [...Object.keys(own), "user_id", "created_ms", ...definitionColumns];
      const added = await sql.all<{ id: TriggerId }>(
        `INSERT INTO ${table} (${names.join(", ")}, firings, record)
         VALUES (${values.map((_, i) => `$${i + 1}`).join(", ")}, 0, '[]') RETURNING id`,
        values,
      );
      return added[0]!.id;
    },
    async withRecord(userId, id) {
      const row = await first(
        sql.all<StoredAlert & Watched & { record: string; commandingMs: number | null; commandingFirings: number }>(
          `SELECT ${columns}, t.record, t.commanding_ms AS "commandingMs", t.commanding_firings AS "commandingFirings"
           FROM ${table} t WHERE t.user_id = $1 AND t.id = $2`,
          [userId, id],
        ),
      );
      if (!row) return undefined;
      const { commandingMs, commandingFirings } = row;
      const commanding = commandingMs === null ? undefined : { sinceMs: commandingMs, firings: commandingFirings };
      return { trigger: fromStored(row), record: JSON.parse(row.record) as Evaluation[], commanding };
    },
    within: (accessScope, id) =>
      accessScope.kind === "user"
        ? first(rows("WHERE t.user_id = $1 AND t.id = $2", [accessScope.userId, id]))
        : first(
            rows("JOIN users u ON u.id = t.user_id WHERE u.tenant_id = $1 AND t.id = $2", [accessScope.tenantId, id]),
          ),
    listed: (filter) => rows(...listing(filter)),
    ofUser: (userId) => rows("WHERE t.user_id = $1 ORDER BY t.id", [userId]),
    async enabledWriting(userId, text, afterId, limit) {
      const contains = sql.dialect === "postgres" ? "strpos(t.targets, $2)" : "instr(t.targets, $2)";
      const found = await sql.all<{ id: TriggerId; targets: string }>(
        `SELECT t.id, t.targets FROM ${table} t
         WHERE t.user_id = $1 AND t.is_enabled = 1 AND ${contains} > 0 AND t.id > $3 ORDER BY t.id LIMIT $4`,
        [userId, text, afterId, limit],
      );
      return found.map(({ id, targets }) => ({ id, targets: JSON.parse(targets) as Target[] }));
    },
    async disable(userId, ids, reason) {
      const among = sql.dialect === "postgres" ? "= ANY($2::int[])" : "IN (SELECT value FROM json_each($2))";
      await sql.run(`UPDATE ${table} SET is_enabled = 0, reason = $3 WHERE user_id = $1 AND id ${among}`, [
        userId,
        ids,
        reason,
      ]);
    },
    async record(userId, id) {
      const row = await first(
        sql.all<{ record: string }>(`SELECT record FROM ${table} WHERE user_id = $1 AND id = $2`, [userId, id]),
      );
      return JSON.parse(row?.record ?? "[]") as Evaluation[];
    },
    async change(userId, id, { isEnabled, isArmed, reason, firedMs, firings, record, commanding }) {
      const values: readonly (readonly [column: string, value: Parameter | undefined])[] = [
        ["is_enabled", isEnabled === undefined ? undefined : Number(isEnabled)],
        ["is_armed", isArmed === undefined ? undefined : Number(isArmed)],
        ["reason", reason],
        ["fired_ms", firedMs],
        ["firings", firings],
        ["record", record && JSON.stringify(record)],
        ["commanding_ms", commanding?.sinceMs],
        ["commanding_firings", commanding?.firings],
      ];
      const changed = values.filter(([, value]) => value !== undefined) as [string, Parameter][];
      const assignments = changed.map(([column], i) => `${column} = $${i + 3}`).join(", ");
      const parameters = [userId, id, ...changed.map(([, value]) => value)];
      await sql.run(`UPDATE ${table} SET ${assignments} WHERE user_id = $1 AND id = $2`, parameters);
    },
    async redefine(trigger) {
      const assignments = definitionColumns.map((column, i) => `${column} = $${i + 3}`).join(", ");
      await sql.run(`UPDATE ${table} SET ${assignments} WHERE user_id = $1 AND id = $2`, [
        trigger.userId,
        trigger.id,
        ...definitionValues(trigger),
      ]);
    },
    async remove(userId, id) {
      await sql.run(`DELETE FROM ${table} WHERE user_id = $1 AND id = $2`, [userId, id]);
    },
    removeOfDevice: (userId, deviceId) =>
      sql.run(`DELETE FROM ${table} WHERE user_id = $1 AND device_id = $2`, [userId, deviceId]),
    removeOfUser: (userId, limit) =>
      limit === undefined
        ? sql.run(`DELETE FROM ${table} WHERE user_id = $1`, [userId])
        : sql.run(
            `DELETE FROM ${table} WHERE user_id = $1 AND id IN (SELECT id FROM ${table} WHERE user_id = $1 LIMIT $2)`,
            [userId, limit],
          ),
    hasMoreOfUser: async (userId, count) =>
      (await sql.all(`SELECT 1 FROM ${table} WHERE user_id = $1 LIMIT 1 OFFSET $2`, [userId, count])).length > 0,
  };
  return { shared, rows };
}

const states: Readonly<Record<NonNullable<AlertListFilter["state"]>, string>> = {
  armed: "t.is_enabled = 1 AND t.is_armed = 1",
  waiting: "t.is_enabled = 1 AND t.is_armed = 0",
  disabled: "t.is_enabled = 0",
  stopped: "t.is_enabled = 0 AND t.reason IS NOT NULL",
};

function listing(filter: AlertListFilter): readonly [tail: string, parameters: readonly Parameter[]] {
  const { tenantIds, userId, deviceId, state, beforeId, id, limit } = filter;
  const parameters: Parameter[] = [limit];
  const parameter = (value: Parameter) => `$${parameters.push(value)}`;
  const conditions = [
    ...(beforeId === undefined ? [] : [`t.id < ${parameter(beforeId)}`]),
    ...(id === undefined ? [] : [`t.id = ${parameter(id)}`]),
    ...(tenantIds === undefined ? [] : [`u.tenant_id IN (${tenantIds.map(parameter).join(", ") || "NULL"})`]),
    ...(userId === undefined ? [] : [`t.user_id = ${parameter(userId)}`]),
    ...(deviceId === undefined ? [] : [`t.device_id = ${parameter(deviceId)}`]),
    ...(state === undefined ? [] : [states[state]]),
  ];
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  return [`JOIN users u ON u.id = t.user_id ${where} ORDER BY t.id DESC LIMIT $1`, parameters];
}

/** In the order of `ruleColumns`. */
function ruleValues(trigger: NewAlert<AlertRow>): readonly Parameter[] {
  const { commands = [] } = trigger;
  return [
    JSON.stringify(trigger.condition),
    trigger.action,
    JSON.stringify(trigger.targets),
    commands.length > 0 ? JSON.stringify(commands) : null,
    trigger.address,
    trigger.message,
    Number(trigger.autoDisarm),
    Number(trigger.autoDelete),
    Number(trigger.autoDisable),
    Number(trigger.isEnabled),
    Number(trigger.isArmed),
    trigger.reason,
  ];
}

/** What a statement with `watchingColumns` reads. */
export function readWatching(stored: StoredWatching): WatchingAlert {
  return {
    id: stored.id,
    userId: stored.userId,
    condition: JSON.parse(stored.condition) as Condition,
    autoDisarm: Boolean(stored.autoDisarm),
    autoDelete: Boolean(stored.autoDelete),
    autoDisable: Boolean(stored.autoDisable),
    isArmed: Boolean(stored.isArmed),
  };
}

function readAlert(stored: StoredAlert): Omit<AlertRow, "deviceId"> {
  const { action, address, message, reason, createdMs, firedMs, firings } = stored;
  return {
    ...readWatching(stored),
    action,
    targets: JSON.parse(stored.targets) as Target[],
    commands: stored.commands === null ? [] : (JSON.parse(stored.commands) as AlertCommand[]),
    address,
    message,
    isEnabled: Boolean(stored.isEnabled),
    reason,
    createdMs,
    firedMs,
    firings,
  };
}
