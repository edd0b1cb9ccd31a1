import type { ApplyInGroup, CommitGroup } from "../devices/commit-group.ts";
import { type AttributeWrite, checkWrites } from "../devices/write.ts";
import { BreezewayError, NotFound, UnknownDevice } from "../model/errors.ts";
import type { DeviceId, TenantId } from "../model/ids.ts";
import type { OwnAlarms } from "../own-things/own-alarms.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import { type KeepGroup, type Line, type LineOutcome, outcomeOf } from "./batch-lines.ts";

/** The attributes that a company states for one device. */
export interface StateWrite {
  readonly deviceId: DeviceId;
  readonly writes: readonly AttributeWrite[];
}

export interface StateWriteParts {
  readonly store: Store<Pick<Transaction, "devices">>;
  readonly commitGroup: CommitGroup;
  readonly elapsedMs: () => number;
  /** A group ends after this time. */
  readonly longestMs: number;
  /** An alarm starts in this group, or waits behind it. */
  readonly urgent: boolean;
}

/** How many of these lines must be written before the last alarm among them has started; 0 when none starts. */
export async function linesToAlarm(
  { store, ownAlarms }: Pick<StateWriteParts, "store"> & { readonly ownAlarms: Pick<OwnAlarms, "lastAlarmIndex"> },
  tenantId: TenantId,
  lines: readonly Line<StateWrite>[],
): Promise<number> {
  const devices = await devicesOf(store, tenantId, lines);
  const present = lines.flatMap((line, index) => {
    const device = line instanceof BreezewayError ? undefined : devices.get(line.deviceId);
    if (line instanceof BreezewayError || !device) return [];
    // An empty value erases the attribute.
    return [{ index, device, changes: line.writes.map(({ name, value }) => ({ key: name, value: value || null })) }];
  });
  return (present[await ownAlarms.lastAlarmIndex(present)]?.index ?? -1) + 1;
}

/** Writes the first of these states, at least one, in one short transaction. Each device is one commit. */
export async function writeSome(
  { store, commitGroup, elapsedMs, longestMs, urgent }: StateWriteParts,
  tenantId: TenantId,
  lines: readonly Line<StateWrite>[],
  keep?: KeepGroup<DeviceId>,
): Promise<readonly LineOutcome<DeviceId>[]> {
  const devices = await devicesOf(store, tenantId, lines);
  return commitGroup(
    async (tx, { apply }) => {
      await tx.users.lockOfTenant(tenantId, [...new Set([...devices.values()].map(({ userId }) => userId))]);
      const startedMs = elapsedMs();
      const outcomes: LineOutcome<DeviceId>[] = [];
      for (const line of lines) {
        if (outcomes.length > 0 && elapsedMs() - startedMs >= longestMs) break;
        const isRefused = line instanceof BreezewayError;
        outcomes.push(isRefused ? { refused: line } : await outcomeOf(() => writeOne(apply, devices, line)));
      }
      await keep?.(tx, outcomes);
      return outcomes;
    },
    { urgent },
  );
}

async function devicesOf(
  store: StateWriteParts["store"],
  tenantId: TenantId,
  lines: readonly Line<StateWrite>[],
): Promise<ReadonlyMap<DeviceId, DeviceRow>> {
  const ids = lines.flatMap((line) => (line instanceof BreezewayError ? [] : [line.deviceId]));
  const found = await store.read((tx) => tx.devices.someOfTenant(tenantId, ids));
  return new Map(found.map((device) => [device.id, device]));
}

async function writeOne(
  apply: ApplyInGroup,
  devices: ReadonlyMap<DeviceId, DeviceRow>,
  { deviceId, writes }: StateWrite,
): Promise<DeviceId> {
  const device = devices.get(deviceId);
  if (!device) throw new UnknownDevice();
  const changes = checkWrites(device, writes);
  try {
    await apply({ userId: device.userId, cause: { by: "administrator" }, updates: [{ deviceId, changes }] });
  } catch (error) {
    // The device was removed after it was read.
    if (error instanceof NotFound) throw new UnknownDevice();
    throw error;
  }
  return deviceId;
}
