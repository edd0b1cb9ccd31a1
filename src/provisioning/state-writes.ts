import { WorkNeeded } from "../devices/attempts.ts";
import type { ApplyInGroup, CommitGroup } from "../devices/commit-group.ts";
import { type AttributeWrite, checkWrites } from "../devices/write.ts";
import { BreezewayError, LimitReached, NotFound, OutcomeUnknown, UnknownDevice } from "../model/errors.ts";
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

/**
 * Writes the first of these states, at least one, in one short transaction. Each device is one commit. A state whose
 * alerts need the thread for patterns is never written with others: its user's patterns would hold up theirs. When the
 * first state is such a one, nothing is written and the answer is `costly`; writeCostly writes it.
 */
export async function writeSome(
  { store, commitGroup, elapsedMs, longestMs, urgent }: StateWriteParts,
  tenantId: TenantId,
  lines: readonly Line<StateWrite>[],
  keep?: KeepGroup<DeviceId>,
): Promise<readonly LineOutcome<DeviceId>[] | "costly"> {
  const devices = await devicesOf(store, tenantId, lines);
  const users = [...new Set([...devices.values()].map(({ userId }) => userId))];
  for (let count = lines.length; count > 0; ) {
    let present = 0;
    try {
      return await commitGroup(
        async (tx, { apply, needsWork }) => {
          await tx.users.lockOfTenant(tenantId, users);
          const startedMs = elapsedMs();
          const outcomes: LineOutcome<DeviceId>[] = [];
          for (const line of lines.slice(0, count)) {
            if (outcomes.length > 0 && elapsedMs() - startedMs >= longestMs) break;
            present = outcomes.length;
            const isRefused = line instanceof BreezewayError;
            outcomes.push(isRefused ? { refused: line } : await outcomeOf(() => writeOne(apply, devices, line)));
            if (needsWork()) break;
          }
          await keep?.(tx, outcomes);
          return outcomes;
        },
        { urgent },
        { mayWait: false },
      );
    } catch (error) {
      if (!(error instanceof WorkNeeded)) throw error;
      // The lines before it are written now. Alone in the next transaction it may do without the thread.
      count = present;
    }
  }
  // Should this node fail before the state is written, a repeated request must not read that it was written.
  const unknown = { refused: new OutcomeUnknown("The state waits for its alerts.") };
  if (keep) await commitGroup((tx) => keep(tx, [unknown]), { urgent });
  return "costly";
}

/** A state whose alerts have costly patterns. */
export interface CostlyWrite {
  readonly line: StateWrite;
  /** Replaces the stored answer. */
  readonly keep: KeepGroup<DeviceId> | undefined;
}

export interface CostlyWriteParts extends Pick<StateWriteParts, "store" | "commitGroup"> {
  readonly isUrgent: (line: StateWrite) => Promise<boolean>;
  /** Aborts when nobody needs the answers any more. */
  readonly abandoned: AbortSignal | undefined;
}

/** Writes costly states: those of one user one after another, those of several users, and alarms, at the same time. */
export async function writeCostly(
  parts: CostlyWriteParts,
  tenantId: TenantId,
  writes: readonly CostlyWrite[],
): Promise<readonly LineOutcome<DeviceId>[]> {
  const lines = writes.map(({ line }) => line);
  const devices = await devicesOf(parts.store, tenantId, lines);
  const urgent = await Promise.all(lines.map(parts.isUrgent));
  const outcomes: LineOutcome<DeviceId>[] = [];
  const rows = Map.groupBy(writes.keys(), (index) =>
    urgent[index] ? `alarm ${index}` : `user ${devices.get(lines[index]!.deviceId)?.userId}`,
  );
  const ended = await Promise.allSettled(
    [...rows.values()].map(async (indexes) => {
      for (const index of indexes) {
        outcomes[index] = await writeAlone(parts, tenantId, devices, writes[index]!, urgent[index]!);
      }
    }),
  );
  const failed = ended.find((end) => end.status === "rejected");
  if (failed) throw failed.reason;
  return outcomes;
}

async function writeAlone(
  { commitGroup, abandoned }: CostlyWriteParts,
  tenantId: TenantId,
  devices: ReadonlyMap<DeviceId, DeviceRow>,
  { line, keep }: CostlyWrite,
  urgent: boolean,
): Promise<LineOutcome<DeviceId>> {
  const device = devices.get(line.deviceId);
  try {
    return await commitGroup(
      async (tx, { apply }) => {
        if (device) await tx.users.lockOfTenant(tenantId, [device.userId]);
        const outcome = await outcomeOf(() => writeOne(apply, devices, line));
        await keep?.(tx, [outcome]);
        return outcome;
      },
      { urgent },
      { mayRefuse: true, ...(!urgent && { abandoned }) },
    );
  } catch (error) {
    // Too many changes of the user wait.
    if (!(error instanceof LimitReached)) throw error;
    const outcome = { refused: error };
    if (keep) await commitGroup((tx) => keep(tx, [outcome]));
    return outcome;
  }
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
