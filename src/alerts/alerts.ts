import type { DeviceCommit, Reaction } from "../devices/commit.ts";
import type { KeepAnswer } from "../idempotency/idempotent-writes.ts";
import type { AccessScope } from "../model/access-scope.ts";
import { BadParameter, LimitReached, TooManyTriggers, UnknownDevice, UnknownTrigger } from "../model/errors.ts";
import type { DeviceId, TriggerId, UserId } from "../model/ids.ts";
import { limits, type OnLimitReached } from "../model/limits.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import type { TriggerRow, TriggerTotals } from "../store/tables/triggers.ts";
import { bytesOf, checkDefinition, checkSize, type TriggerInput } from "./definition.ts";
import { type DryRun, DryRuns, dryRun, type Period } from "./dry-run.ts";
import { type Explanation, explain } from "./explain.ts";
import { Patterns } from "./patterns.ts";
import { alertReaction } from "./reaction.ts";
import { Records } from "./records.ts";

export type { TriggerRow } from "../store/tables/triggers.ts";
export type { TriggerInput } from "./definition.ts";
export type { DryRun, Period } from "./dry-run.ts";
export type { Explanation } from "./explain.ts";

/**
 * The alerts within a caller's access scope. For an alert outside it the error is the same as for one that does not
 * exist.
 */
export interface Alerts {
  /** Creation never fires, whatever the attribute holds. */
  add(accessScope: AccessScope, input: TriggerInput, keep?: KeepAnswer<TriggerRow>): Promise<TriggerRow>;
  find(accessScope: AccessScope, id: TriggerId): Promise<TriggerRow>;
  /** One page of the alerts of a user or of a device, ascending by id. */
  page(accessScope: AccessScope, request: AlertPageRequest): Promise<AlertPage>;
  /** Replaces the definition. The alert stays armed or disarmed, unless the new definition fires on something else. */
  redefine(
    accessScope: AccessScope,
    id: TriggerId,
    input: TriggerInput,
    keep?: KeepAnswer<TriggerRow>,
  ): Promise<TriggerRow>;
  /** Enabling arms. */
  setEnabled(accessScope: AccessScope, id: TriggerId, isEnabled: boolean): Promise<void>;
  setEnabledOfDevice(accessScope: AccessScope, deviceId: DeviceId, isEnabled: boolean): Promise<void>;
  remove(accessScope: AccessScope, id: TriggerId, keep?: KeepAnswer): Promise<void>;
  /** Explains why the alert fired, or why it didn't. */
  explain(accessScope: AccessScope, id: TriggerId): Promise<Explanation>;
  /** When a definition would have fired in a period of the past. */
  dryRun(accessScope: AccessScope, input: TriggerInput, period: Period): Promise<DryRun>;
}

/** Which page of alerts to read. Without a device: all alerts of the user. */
export interface AlertPageRequest {
  /** The last id of the page before; 0 for the first page. */
  readonly afterId: number;
  readonly deviceId: DeviceId | undefined;
}

export interface AlertPage {
  readonly alerts: readonly TriggerRow[];
  /** `afterId` of the next page; undefined on the last page. */
  readonly nextAfterId: number | undefined;
}

export const alertsPerPage = 100;

/** Alerts, and the reaction that evaluates them at each commit. */
export interface RunningAlerts extends Alerts {
  readonly react: Reaction;
  afterCommit(commits: readonly DeviceCommit[]): void;
}

export type AlertTables = Pick<
  Transaction,
  "users" | "devices" | "attributes" | "triggers" | "idempotencyKeys" | "log"
>;

export interface AlertParts {
  readonly store: Store<AlertTables>;
  /** Yields to the event loop. */
  readonly turn?: () => Promise<void>;
  readonly onLimitReached?: OnLimitReached;
}

export function alertsOn({
  store,
  turn = async () => undefined,
  onLimitReached = () => undefined,
}: AlertParts): RunningAlerts {
  const patterns = new Patterns();
  const records = new Records();
  const dryRuns = new DryRuns();

  /**
   * Changes an alert under the user's lock, as all changes of a home. The second look-up sees what happened before the
   * lock was held.
   */
  const change = async <Result>(
    accessScope: AccessScope,
    id: TriggerId,
    act: (tx: AlertTables, trigger: TriggerRow) => Promise<Result>,
  ): Promise<Result> => {
    const found = await store.read((tx) => tx.triggers.within(accessScope, id));
    if (!found) throw new UnknownTrigger();
    return store.transaction(async (tx) => {
      await tx.users.lock(found.userId);
      const trigger = await tx.triggers.within(accessScope, id);
      if (!trigger) throw new UnknownTrigger();
      return act(tx, trigger);
    });
  };
  const withDevice = async <Result>(
    accessScope: AccessScope,
    deviceId: DeviceId,
    act: (tx: AlertTables, device: DeviceRow, nowMs: number) => Promise<Result>,
  ): Promise<Result> => {
    const found = await store.read((tx) => deviceWithin(tx, accessScope, deviceId));
    return store.transaction(async (tx) => {
      const nowMs = await tx.users.lock(found.userId);
      return act(tx, await deviceWithin(tx, accessScope, deviceId), nowMs ?? 0);
    });
  };

  return {
    ...alertReaction(patterns, records, onLimitReached),

    add: (accessScope, input, keep) =>
      withDevice(accessScope, input.deviceId, async (tx, device, nowMs) => {
        const checked = await checkDefinition(tx, device, input, patterns);
        const bytes = checkSize(checked);
        const totals = await tx.triggers.totals(device.userId, device.id);
        checkCounts(device.id, totals);
        checkBytes(totals, bytes);
        const trigger = { ...checked, userId: device.userId, isArmed: true, reason: null, createdMs: nowMs };
        const id = await tx.triggers.add(trigger);
        const added = { ...trigger, id, firedMs: null, firings: 0 };
        await keep?.(tx, added);
        return added;
      }),

    async find(accessScope, id) {
      const trigger = await store.read((tx) => tx.triggers.within(accessScope, id));
      if (!trigger) throw new UnknownTrigger();
      return trigger;
    },

    page: (accessScope, { afterId, deviceId }) =>
      store.read(async (tx) => {
        const userId =
          deviceId === undefined ? userOf(accessScope) : (await deviceWithin(tx, accessScope, deviceId)).userId;
        // One extra row shows whether another page follows.
        const found = await tx.triggers.page(userId, deviceId, afterId, alertsPerPage + 1);
        const alerts = found.slice(0, alertsPerPage);
        return { alerts, nextAfterId: found.length > alerts.length ? alerts.at(-1)!.id : undefined };
      }),

    redefine: (accessScope, id, input, keep) =>
      change(accessScope, id, async (tx, before) => {
        if (input.deviceId !== before.deviceId) {
          throw new BadParameter("deviceId", "An alert stays with its device. Make another one instead.");
        }
        const device = await deviceWithin(tx, accessScope, before.deviceId);
        const checked = await checkDefinition(tx, device, input, patterns);
        const bytesBefore = bytesOf(before);
        const growth = checkSize(checked, bytesBefore) - bytesBefore;
        if (growth > 0) checkBytes(await tx.triggers.totals(device.userId, device.id), growth);
        const isArmed = before.isArmed || isNewRule(before, { ...before, ...checked });
        const reason = checked.isEnabled ? null : before.reason;
        const trigger = { ...before, ...checked, isArmed, reason };
        await tx.triggers.redefine(trigger);
        await keep?.(tx, trigger);
        return trigger;
      }),

    setEnabled: (accessScope, id, isEnabled) =>
      change(accessScope, id, (tx, { userId }) =>
        tx.triggers.change(userId, id, { isEnabled, reason: null, ...(isEnabled && { isArmed: true }) }),
      ),

    setEnabledOfDevice: (accessScope, deviceId, isEnabled) =>
      withDevice(accessScope, deviceId, (tx, { userId }) =>
        tx.triggers.setEnabledOfDevice(userId, deviceId, isEnabled),
      ),

    remove: (accessScope, id, keep) =>
      change(accessScope, id, async (tx, { userId }) => {
        await tx.triggers.remove(userId, id);
        await keep?.(tx);
      }),

    explain: (accessScope, id) =>
      store.read(async (tx) => {
        const trigger = await tx.triggers.within(accessScope, id);
        if (!trigger) throw new UnknownTrigger();
        return explain(tx, trigger, records.of(id), patterns);
      }),

    async dryRun(accessScope, input, period) {
      const { userId, checked } = await store.read(async (tx) => {
        const device = await deviceWithin(tx, accessScope, input.deviceId);
        return { userId: device.userId, checked: await checkDefinition(tx, device, input, patterns) };
      });
      return dryRuns.run(accessScope, () => dryRun({ store, turn }, userId, checked, period, patterns));
    },
  };
}

async function deviceWithin(
  tx: Pick<AlertTables, "devices">,
  accessScope: AccessScope,
  deviceId: DeviceId,
): Promise<DeviceRow> {
  const device = await tx.devices.within(accessScope, deviceId);
  if (!device) throw new UnknownDevice();
  return device;
}

/**
 * The user whose alerts are listed. A tenant has too many alerts for one list, so an enterprise client must name a
 * device.
 */
function userOf(accessScope: AccessScope): UserId {
  if (accessScope.kind === "user") return accessScope.userId;
  throw new BadParameter("deviceId", "The parameter deviceId is required with an enterprise token.");
}

/**
 * Whether a redefinition arms the alert: it was enabled, or it fires on something else now. The events before say
 * nothing about the new rule.
 */
function isNewRule(before: TriggerRow, after: TriggerRow): boolean {
  return (
    (after.isEnabled && !before.isEnabled) ||
    after.autoDisarm !== before.autoDisarm ||
    after.key !== before.key ||
    JSON.stringify(after.condition) !== JSON.stringify(before.condition)
  );
}

function checkCounts(deviceId: DeviceId, { ofDevice, ofUser }: TriggerTotals): void {
  if (ofDevice >= limits.alertsPerDevice) {
    throw new TooManyTriggers("alertsPerDevice", `Device ${deviceId} has ${limits.alertsPerDevice} alerts already.`);
  }
  if (ofUser >= limits.alertsPerUser) {
    throw new TooManyTriggers("alertsPerUser", `This user has ${limits.alertsPerUser} alerts already.`);
  }
}

function checkBytes({ bytesOfUser }: TriggerTotals, growth: number): void {
  if (bytesOfUser + growth <= limits.alertBytesPerUser) return;
  throw new LimitReached(
    "alertBytesPerUser",
    `The alerts of this user take ${bytesOfUser} bytes and may take ${limits.alertBytesPerUser}. This one would add ${growth}. Nothing was changed. Remove or shorten alerts.`,
  );
}
