import type { AccessScope } from "../../model/access-scope.ts";
import type { DeviceId, TenantId, TriggerId, UserId } from "../../model/ids.ts";
import type { AlertRule, Evaluation } from "../../model/trigger.ts";

/** An alert without what it watches: its rule and its present state. */
export interface AlertRow extends AlertRule {
  readonly id: TriggerId;
  readonly userId: UserId;
  /** The device that it counts towards. */
  readonly deviceId: DeviceId;
  readonly isEnabled: boolean;
  readonly isArmed: boolean;
  /** Why Breezeway disabled it; null when it is enabled or a caller disabled it. */
  readonly reason: string | null;
  readonly createdMs: number;
  readonly firedMs: number | null;
  readonly firings: number;
}

/** Without `commands` the alert commands nothing. */
export type NewAlert<Row extends AlertRow> = Omit<Row, "id" | "firedMs" | "firings" | "commands"> &
  Partial<Pick<Row, "commands">>;

/** A change of an alert's state; undefined members stay unchanged. */
export type TriggerChange = Partial<Pick<AlertRow, "isEnabled" | "isArmed" | "reason" | "firedMs" | "firings">> & {
  readonly record?: readonly Evaluation[];
  readonly commanding?: CommandingWindow;
};

/** A minute in which an alert sent commands, and how often it fired in it. */
export interface CommandingWindow {
  readonly sinceMs: number;
  readonly firings: number;
}

/** The columns that decide whether a change makes an alert fire, without what it watches. */
export type WatchingAlert = Pick<
  AlertRow,
  "id" | "userId" | "condition" | "autoDisarm" | "autoDelete" | "autoDisable" | "isArmed"
>;

/** How many alerts there are, and how many bytes their definitions take. */
export interface TriggerTotals {
  readonly ofDevice: number;
  readonly ofUser: number;
  readonly bytesOfUser: number;
}

/** Which alerts an operator lists. Undefined members match every alert. */
export interface AlertListFilter {
  readonly tenantIds?: readonly TenantId[] | undefined;
  readonly userId?: UserId | undefined;
  readonly deviceId?: DeviceId | undefined;
  /** `waiting`: it is enabled, and disarmed until its condition has been false. `stopped`: Breezeway disabled it. */
  readonly state?: "armed" | "waiting" | "disabled" | "stopped" | undefined;
  readonly beforeId?: number | undefined;
  /** Only the alert with this id. */
  readonly id?: TriggerId | undefined;
  readonly limit: number;
}

/** An enabled alert, with its writes. */
export type WritingAlert = Pick<AlertRow, "id" | "targets">;

/** What the tables of alerts have in common, whatever the alerts watch. */
export interface AlertTable<Row extends AlertRow> {
  add(trigger: NewAlert<Row>): Promise<TriggerId>;
  /** An alert with its stored record; undefined when it does not exist. */
  withRecord(userId: UserId, id: TriggerId): Promise<AlertWithRecord<Row> | undefined>;
  /** The alert if it is in the access scope. Foreign and absent alerts are both undefined. */
  within(accessScope: AccessScope, id: TriggerId): Promise<Row | undefined>;
  ofUser(userId: UserId): Promise<Row[]>;
  /**
   * The next enabled alerts of a user after that id whose targets contain the text, ascending. The text of the targets
   * is searched, so some may not have such a target.
   */
  enabledWriting(userId: UserId, text: string, afterId: number, limit: number): Promise<WritingAlert[]>;
  /** Disables alerts, with a reason. */
  disable(userId: UserId, ids: readonly TriggerId[], reason: string): Promise<void>;
  /** Alerts of many users, descending by id. */
  listed(filter: AlertListFilter): Promise<Row[]>;
  totals(userId: UserId, deviceId: DeviceId): Promise<TriggerTotals>;
  /** The last evaluations, oldest first, stored when the alert last fired or changed its armed state. */
  record(userId: UserId, id: TriggerId): Promise<readonly Evaluation[]>;
  change(userId: UserId, id: TriggerId, change: TriggerChange): Promise<void>;
  /** Replaces the definition. The user, the device and the history stay. */
  redefine(trigger: Row): Promise<void>;
  remove(userId: UserId, id: TriggerId): Promise<void>;
  removeOfDevice(userId: UserId, deviceId: DeviceId): Promise<number>;
  /** With a limit: at most so many alerts. */
  removeOfUser(userId: UserId, limit?: number): Promise<number>;
  hasMoreOfUser(userId: UserId, count: number): Promise<boolean>;
}

export interface AlertWithRecord<Row extends AlertRow> {
  readonly trigger: Row;
  readonly record: readonly Evaluation[];
  /** Undefined when it has never sent a command. */
  readonly commanding: CommandingWindow | undefined;
}
