import type { AccessScope } from "../../model/access-scope.ts";
import type { Condition } from "../../model/condition.ts";
import type { DeviceId, TriggerId, UserId } from "../../model/ids.ts";
import type { Evaluation, TriggerDefinition } from "../../model/trigger.ts";
import type { Target } from "../../model/trigger-targets.ts";
import { first, type Parameter, type Sql } from "../sql.ts";
import type { AttributeKey } from "./attributes.ts";

/** An alert: its definition and its present state. */
export interface TriggerRow extends TriggerDefinition {
  readonly id: TriggerId;
  readonly userId: UserId;
  /** The key of the attribute that `attributeName` names. */
  readonly key: AttributeKey;
  readonly isEnabled: boolean;
  readonly isArmed: boolean;
  /** Why Breezeway disabled it; null when it is enabled or a caller disabled it. */
  readonly reason: string | null;
  readonly createdMs: number;
  readonly firedMs: number | null;
  readonly firings: number;
}

export type NewTrigger = Omit<TriggerRow, "id" | "firedMs" | "firings">;

/** A change of an alert's state; undefined members stay unchanged. */
export type TriggerChange = Partial<Pick<TriggerRow, "isEnabled" | "isArmed" | "reason" | "firedMs" | "firings">> & {
  readonly record?: readonly Evaluation[];
};

/** The columns that decide whether a change makes an alert fire. */
export type WatchingTrigger = Pick<
  TriggerRow,
  "id" | "userId" | "key" | "condition" | "autoDisarm" | "autoDelete" | "autoDisable" | "isArmed"
>;

/** How many alerts there are, and how many bytes their definitions take. */
export interface TriggerTotals {
  readonly ofDevice: number;
  readonly ofUser: number;
  readonly bytesOfUser: number;
}

export interface TriggerTable {
  add(trigger: NewTrigger): Promise<TriggerId>;
  /**
   * The enabled alerts on these attributes, ascending by id. One index look-up; targets, messages and records are not
   * read, since most changes make no alert fire.
   */
  watching(userId: UserId, deviceId: DeviceId, keys: readonly AttributeKey[]): Promise<WatchingTrigger[]>;
  /** An alert with its stored record; undefined when it does not exist. */
  withRecord(userId: UserId, id: TriggerId): Promise<TriggerWithRecord | undefined>;
  /** The alert if it is in the access scope. Foreign and absent alerts are both undefined. */
  within(accessScope: AccessScope, id: TriggerId): Promise<TriggerRow | undefined>;
  ofDevice(userId: UserId, deviceId: DeviceId): Promise<TriggerRow[]>;
  ofUser(userId: UserId): Promise<TriggerRow[]>;
  /** The next alerts of a user after that id, ascending; only those of the device, if there is one. */
  page(userId: UserId, deviceId: DeviceId | undefined, afterId: number, limit: number): Promise<TriggerRow[]>;
  totals(userId: UserId, deviceId: DeviceId): Promise<TriggerTotals>;
  /** The last evaluations, oldest first, stored when the alert last fired or changed its armed state. */
  record(userId: UserId, id: TriggerId): Promise<readonly Evaluation[]>;
  change(userId: UserId, id: TriggerId, change: TriggerChange): Promise<void>;
  /** Replaces the definition. The user, the device and the history stay. */
  redefine(trigger: TriggerRow): Promise<void>;
  setEnabledOfDevice(userId: UserId, deviceId: DeviceId, isEnabled: boolean): Promise<void>;
  remove(userId: UserId, id: TriggerId): Promise<void>;
  removeOfDevice(userId: UserId, deviceId: DeviceId): Promise<number>;
  removeOfUser(userId: UserId): Promise<number>;
}

export interface TriggerWithRecord {
  readonly trigger: TriggerRow;
  readonly record: readonly Evaluation[];
}

type StoredRow = Omit<
  TriggerRow,
  "key" | "condition" | "targets" | "autoDisarm" | "autoDelete" | "autoDisable" | "isEnabled" | "isArmed"
> & {
  readonly number: number;
  readonly name: string;
  readonly condition: string;
  readonly targets: string;
  readonly autoDisarm: number;
  readonly autoDelete: number;
  readonly autoDisable: number;
  readonly isEnabled: number;
  readonly isArmed: number;
};

/** The number of named attributes, as in tables/attributes.ts. */
const unnumbered = -1;

const columns = `t.id, t.user_id AS "userId", t.device_id AS "deviceId", t.number, t.name,
  t.attribute_name AS "attributeName", t.condition, t.action, t.targets, t.address, t.message,
  t.auto_disarm AS "autoDisarm", t.auto_delete AS "autoDelete", t.auto_disable AS "autoDisable",
  t.is_enabled AS "isEnabled", t.is_armed AS "isArmed", t.reason, t.created_ms AS "createdMs",
  t.fired_ms AS "firedMs", t.firings`;
const watchingColumns = `t.id, t.user_id AS "userId", t.number, t.name, t.condition, t.auto_disarm AS "autoDisarm",
  t.auto_delete AS "autoDelete", t.auto_disable AS "autoDisable", t.is_armed AS "isArmed"`;
/** The bytes of a definition. SQLite has an index on this expression, and uses it only when the text is the same. */
export const definitionBytes = `octet_length(attribute_name) + octet_length(condition) + octet_length(action) +
  octet_length(targets) + octet_length(address) + octet_length(message)`;
const ofDevice = "t.user_id = $1 AND t.device_id = $2";

export function triggerTable(sql: Sql): TriggerTable {
  const rows = async (tail: string, parameters: readonly Parameter[]) =>
    (await sql.all<StoredRow>(`SELECT ${columns} FROM triggers t ${tail}`, parameters)).map(fromStored);
  return {
    async add(trigger) {
      const added = await sql.all<{ id: TriggerId }>(
        `INSERT INTO triggers (user_id, device_id, created_ms, number, name, attribute_name, condition, action, targets,
           address, message, auto_disarm, auto_delete, auto_disable, is_enabled, is_armed, reason, firings, record)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, 0, '[]') RETURNING id`,
        [trigger.userId, trigger.deviceId, trigger.createdMs, ...definitionValues(trigger)],
      );
      return added[0]!.id;
    },
    async watching(userId, deviceId, keys) {
      // A device has numbered attributes or named ones, never both.
      const isNumbered = typeof keys[0] === "number";
      const nameOrNumber = isNumbered ? "t.name = '' AND t.number" : `t.number = ${unnumbered} AND t.name`;
      const among =
        sql.dialect === "postgres"
          ? `= ANY($3::${isNumbered ? "int" : "text"}[])`
          : "IN (SELECT value FROM json_each($3))";
      const where = `WHERE ${ofDevice} AND t.is_enabled = 1 AND ${nameOrNumber} ${among}`;
      // Sorted here: with ORDER BY, the databases would scan all alerts of the device, which are in that order already.
      const found = await sql.all<StoredWatching>(`SELECT ${watchingColumns} FROM triggers t ${where}`, [
        userId,
        deviceId,
        keys,
      ]);
      return found.map(fromStoredWatching).sort((a, b) => a.id - b.id);
    },
    async withRecord(userId, id) {
      const row = await first(
        sql.all<StoredRow & { record: string }>(
          `SELECT ${columns}, t.record FROM triggers t WHERE t.user_id = $1 AND t.id = $2`,
          [userId, id],
        ),
      );
      if (!row) return undefined;
      const { record, ...stored } = row;
      return { trigger: fromStored(stored), record: JSON.parse(record) as Evaluation[] };
    },
    within: (accessScope, id) =>
      accessScope.kind === "user"
        ? first(rows("WHERE t.user_id = $1 AND t.id = $2", [accessScope.userId, id]))
        : first(
            rows("JOIN users u ON u.id = t.user_id WHERE u.tenant_id = $1 AND t.id = $2", [accessScope.tenantId, id]),
          ),
    ofDevice: (userId, deviceId) => rows(`WHERE ${ofDevice} ORDER BY t.id`, [userId, deviceId]),
    ofUser: (userId) => rows("WHERE t.user_id = $1 ORDER BY t.id", [userId]),
    page: (userId, deviceId, afterId, limit) =>
      deviceId === undefined
        ? rows("WHERE t.user_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3", [userId, afterId, limit])
        : rows(`WHERE ${ofDevice} AND t.id > $3 ORDER BY t.id LIMIT $4`, [userId, deviceId, afterId, limit]),
    async totals(userId, deviceId) {
      const counted = await sql.all<TriggerTotals>(
        `SELECT COUNT(*) AS "ofUser", COUNT(CASE WHEN device_id = $2 THEN 1 END) AS "ofDevice",
           CAST(COALESCE(SUM(${definitionBytes}), 0) AS BIGINT) AS "bytesOfUser"
         FROM triggers WHERE user_id = $1`,
        [userId, deviceId],
      );
      return counted[0]!;
    },
    async record(userId, id) {
      const row = await first(
        sql.all<{ record: string }>("SELECT record FROM triggers WHERE user_id = $1 AND id = $2", [userId, id]),
      );
      return JSON.parse(row?.record ?? "[]") as Evaluation[];
    },
    async change(userId, id, { isEnabled, isArmed, reason, firedMs, firings, record }) {
      const values: readonly (readonly [column: string, value: Parameter | undefined])[] = [
        ["is_enabled", isEnabled === undefined ? undefined : Number(isEnabled)],
        ["is_armed", isArmed === undefined ? undefined : Number(isArmed)],
        ["reason", reason],
        ["fired_ms", firedMs],
        ["firings", firings],
        ["record", record && JSON.stringify(record)],
      ];
      const changed = values.filter(([, value]) => value !== undefined) as [string, Parameter][];
      const assignments = changed.map(([column], i) => `${column} = $${i + 3}`).join(", ");
      const parameters = [userId, id, ...changed.map(([, value]) => value)];
      await sql.run(`UPDATE triggers SET ${assignments} WHERE user_id = $1 AND id = $2`, parameters);
    },
    async redefine(trigger) {
      await sql.run(
        `UPDATE triggers SET number = $3, name = $4, attribute_name = $5, condition = $6, action = $7, targets = $8,
           address = $9, message = $10, auto_disarm = $11, auto_delete = $12, auto_disable = $13, is_enabled = $14,
           is_armed = $15, reason = $16 WHERE user_id = $1 AND id = $2`,
        [trigger.userId, trigger.id, ...definitionValues(trigger)],
      );
    },
    async setEnabledOfDevice(userId, deviceId, isEnabled) {
      // Enabling arms.
      const change = isEnabled ? "is_enabled = 1, is_armed = 1, reason = NULL" : "is_enabled = 0, reason = NULL";
      // Only alerts that change are written: a database rewrites the whole row.
      const isOther = isEnabled ? "is_enabled = 0 OR is_armed = 0" : "is_enabled = 1";
      await sql.run(
        `UPDATE triggers SET ${change} WHERE user_id = $1 AND device_id = $2 AND (${isOther} OR reason IS NOT NULL)`,
        [userId, deviceId],
      );
    },
    async remove(userId, id) {
      await sql.run("DELETE FROM triggers WHERE user_id = $1 AND id = $2", [userId, id]);
    },
    removeOfDevice: (userId, deviceId) =>
      sql.run("DELETE FROM triggers WHERE user_id = $1 AND device_id = $2", [userId, deviceId]),
    removeOfUser: (userId) => sql.run("DELETE FROM triggers WHERE user_id = $1", [userId]),
  };
}

/** In the order of the columns from `number` to `reason`. */
function definitionValues(trigger: NewTrigger): readonly Parameter[] {
  const { key } = trigger;
  return [
    typeof key === "number" ? key : unnumbered,
    typeof key === "string" ? key : "",
    trigger.attributeName,
    JSON.stringify(trigger.condition),
    trigger.action,
    JSON.stringify(trigger.targets),
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

type StoredWatching = Pick<
  StoredRow,
  "id" | "userId" | "number" | "name" | "condition" | "autoDisarm" | "autoDelete" | "autoDisable" | "isArmed"
>;

function fromStoredWatching({ number, name, condition, ...row }: StoredWatching): WatchingTrigger {
  return {
    ...row,
    key: number === unnumbered ? name : number,
    condition: JSON.parse(condition) as Condition,
    autoDisarm: Boolean(row.autoDisarm),
    autoDelete: Boolean(row.autoDelete),
    autoDisable: Boolean(row.autoDisable),
    isArmed: Boolean(row.isArmed),
  };
}

function fromStored({ number, name, condition, targets, ...row }: StoredRow): TriggerRow {
  return {
    ...row,
    key: number === unnumbered ? name : number,
    condition: JSON.parse(condition) as Condition,
    targets: JSON.parse(targets) as Target[],
    autoDisarm: Boolean(row.autoDisarm),
    autoDelete: Boolean(row.autoDelete),
    autoDisable: Boolean(row.autoDisable),
    isEnabled: Boolean(row.isEnabled),
    isArmed: Boolean(row.isArmed),
  };
}
