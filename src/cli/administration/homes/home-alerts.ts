import type {
  AlertListFilter,
  AnyTriggerRow,
  DryRun,
  Explanation,
  Period,
  ThingTriggerInput,
  TriedValue,
  TriggerInput,
} from "../../../alerts/alerts.ts";
import type { DeviceId, TenantId, TriggerId, UserId } from "../../../model/ids.ts";
import { type CheckUser, checkedBy } from "./checked-user.ts";

/** An alert as an operator defines it. */
export type AlertInput = TriggerInput | ThingTriggerInput;

/** The names of devices and things; those that were removed are missing. */
export interface SubjectNames {
  readonly devices: ReadonlyMap<DeviceId, string>;
  readonly things: ReadonlyMap<string, string>;
}

/** What operators see of alerts, and do with them. All but the list is about one user, its first parameter. */
export interface HomeAlerts {
  /** Alerts of both kinds, newest first. */
  list(filter: AlertListFilter): Promise<readonly AnyTriggerRow[]>;
  names(userId: UserId, deviceIds: readonly DeviceId[], thingIds: readonly string[]): Promise<SubjectNames>;
  explain(userId: UserId, alertId: TriggerId): Promise<Explanation<AnyTriggerRow>>;
  tryValue(userId: UserId, alertId: TriggerId, value: string): Promise<TriedValue<AnyTriggerRow>>;
  /** When a definition would have fired. */
  dryRun(userId: UserId, input: AlertInput, period: Period): Promise<DryRun>;
  add(userId: UserId, input: AlertInput): Promise<AnyTriggerRow>;
  /** Replaces the definition; whether it is enabled, and its address, stay. */
  edit(userId: UserId, alertId: TriggerId, input: AlertInput): Promise<AnyTriggerRow>;
  setEnabled(userId: UserId, alertId: TriggerId, isEnabled: boolean): Promise<void>;
  remove(userId: UserId, alertId: TriggerId): Promise<void>;
}

/** The same for an operator who reaches some tenants only. */
export function homeAlertsWithin(alerts: HomeAlerts, tenantIds: readonly TenantId[], check: CheckUser): HomeAlerts {
  const checked = checkedBy(check);
  return {
    list: ({ tenantIds: wanted, ...filter }) =>
      alerts.list({ ...filter, tenantIds: wanted?.filter((tenantId) => tenantIds.includes(tenantId)) ?? tenantIds }),
    names: checked(alerts.names),
    explain: checked(alerts.explain),
    tryValue: checked(alerts.tryValue),
    dryRun: checked(alerts.dryRun),
    add: checked(alerts.add),
    edit: checked(alerts.edit),
    setEnabled: checked(alerts.setEnabled),
    remove: checked(alerts.remove),
  };
}
