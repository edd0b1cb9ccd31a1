import { WorkNeeded, type WorkOptions } from "../devices/attempts.ts";
import type { ApplyInGroup, CommitGroup, GroupTables } from "../devices/commit-group.ts";
import { type AttributeWrite, checkWrites } from "../devices/write.ts";
import { AnsweredElsewhere } from "../idempotency/resumable-batches.ts";
import { BreezewayError, LimitReached, NotFound, UnknownDevice } from "../model/errors.ts";
import type { DeviceId, TenantId } from "../model/ids.ts";
import type { OwnAlarms } from "../own-things/own-alarms.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import { type KeepGroup, type Line, type LineOutcome, outcomeOf } from "./batch-lines.ts";
import { type CostlyTurns, costlyWritesAtOnce } from "./costly-turns.ts";

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

/** The indexes of the lines that start an alarm, ascending. */
export async function alarmLines(
  { store, ownAlarms }: Pick<StateWriteParts, "store"> & { readonly ownAlarms: Pick<OwnAlarms, "alarmIndexes"> },
  tenantId: TenantId,
  lines: readonly Line<StateWrite>[],
): Promise<readonly number[]> {
  const devices = await devicesOf(store, tenantId, lines);
  const present = lines.flatMap((line, index) => {
    const device = line instanceof BreezewayError ? undefined : devices.get(line.deviceId);
    if (line instanceof BreezewayError || !device) return [];
    // An empty value erases the attribute.
    return [{ index, device, changes: line.writes.map(({ name, value }) => ({ key: name, value: value || null })) }];
  });
  return (await ownAlarms.alarmIndexes(present)).map((nth) => present[nth]!.index);
}

/** `costly`: nothing was written, because the alerts of the device need the thread for patterns. */
export type StateOutcome = LineOutcome<DeviceId> | "costly";

/** Stores the answers of a group in its transaction; called last. */
export type KeepStates = (tx: GroupTables, outcomes: readonly StateOutcome[]) => Promise<void>;

/**
 * Writes the first of these states, at least one, in one short transaction. Each device is one commit. A state whose
 * alerts need the thread for patterns is never written with others: its user's patterns would hold up theirs. When the
 * first state is such a one, the outcomes are `costly` for all that follow each other; writeCostly writes them.
 */
export async function writeSome(
  parts: StateWriteParts,
  tenantId: TenantId,
  lines: readonly Line<StateWrite>[],
  keep?: KeepStates,
): Promise<readonly StateOutcome[]> {
  const { store, commitGroup, elapsedMs, longestMs, urgent } = parts;
  const devices = await devicesOf(store, tenantId, lines);
  const users = [...new Set([...devices.values()].map(({ userId }) => userId))];
  /** How many lines at the start need no thread, or how many need it: one of them is 0. */
  let cheap = 0;
  let costly = 0;
  try {
    return await commitGroup(
      async (tx, { apply, workRequests }) => {
        await tx.users.lockOfTenant(tenantId, users);
        const startedMs = elapsedMs();
        const outcomes: LineOutcome<DeviceId>[] = [];
        cheap = costly = 0;
        for (const line of lines) {
          if (outcomes.length > 0 && elapsedMs() - startedMs >= longestMs) break;
          const isRefused = line instanceof BreezewayError;
          const before = workRequests();
          outcomes.push(isRefused ? { refused: line } : await outcomeOf(() => writeOne(apply, devices, line)));
          // Costly lines at the start are counted, although the transaction is in vain: else each needed one.
          if (workRequests() > before && cheap === 0) costly += 1;
          else if (workRequests() > 0) break;
          else cheap += 1;
        }
        await keep?.(tx, outcomes);
        return outcomes;
      },
      { urgent },
      { mayWait: false },
    );
  } catch (error) {
    if (!(error instanceof WorkNeeded)) throw error;
  }
  // The line behind them is first in the next transaction, where it may do without the thread.
  if (cheap > 0) return writeSome(parts, tenantId, lines.slice(0, cheap), keep);
  const outcomes = Array<"costly">(Math.max(costly, 1)).fill("costly");
  if (keep) await commitGroup((tx) => keep(tx, outcomes), { urgent });
  return outcomes;
}

/** A state whose alerts have costly patterns. */
export interface CostlyWrite {
  readonly line: StateWrite;
  readonly startsAlarm: boolean;
  /** Stores the answer. Throws AnsweredElsewhere when a repeated request was faster. */
  readonly keep: KeepGroup<DeviceId> | undefined;
}

/** What became of a costly state, or the answer that a repeated request has stored for it. */
export type CostlyOutcome = LineOutcome<DeviceId> | AnsweredElsewhere;

export interface CostlyWriteParts extends Pick<StateWriteParts, "store" | "commitGroup"> {
  readonly turns: CostlyTurns;
  /** Whether the tenant may have one more urgent transaction now. */
  readonly admitsUrgent: () => boolean;
  /** Aborts when nobody needs the answers any more. */
  readonly abandoned: AbortSignal | undefined;
}

/**
 * Writes costly states: those of one user one after another, those of a few users at the same time. When a write fails,
 * those that have not begun are left out.
 */
export async function writeCostly(
  parts: CostlyWriteParts,
  tenantId: TenantId,
  writes: readonly CostlyWrite[],
): Promise<readonly CostlyOutcome[]> {
  const lines = writes.map(({ line }) => line);
  const devices = await devicesOf(parts.store, tenantId, lines);
  const ofUsers = Map.groupBy(
    writes.keys(),
    (index) => `user ${devices.get(lines[index]!.deviceId)?.userId}`,
  ).entries();
  const outcomes: CostlyOutcome[] = [];
  let hasFailed = false;
  const writeNextUsers = async () => {
    for (const [user, indexes] of ofUsers) {
      for (const index of indexes) {
        if (hasFailed) return;
        outcomes[index] = await writeAlone(parts, tenantId, writes[index]!, user);
      }
    }
  };
  const failing = (error: unknown) => {
    hasFailed = true;
    throw error;
  };
  const workers = Array.from({ length: costlyWritesAtOnce }, () => writeNextUsers().catch(failing));
  const ended = await Promise.allSettled(workers);
  const failed = ended.find((end) => end.status === "rejected");
  if (failed) throw failed.reason;
  return outcomes;
}

async function writeAlone(
  parts: CostlyWriteParts,
  tenantId: TenantId,
  write: CostlyWrite,
  user: string,
): Promise<CostlyOutcome> {
  const { turns, commitGroup, abandoned } = parts;
  const asOrdinary = () =>
    turns.run({ tenantId, user, abandoned }, () => commitAlone(parts, tenantId, write, { mayRefuse: true, abandoned }));
  try {
    if (!write.startsAlarm) return await asOrdinary();
    // An alarm is written even if its client has gone. Beyond the limit it waits like other states.
    const alarm = turns.runAlarm({ tenantId, user }, () => commitAlone(parts, tenantId, write, {}));
    return (await alarm) ?? (await asOrdinary());
  } catch (error) {
    if (error instanceof AnsweredElsewhere) return error;
    // Too many changes of the user or the tenant wait.
    if (error instanceof LimitReached) return keptRefusal(commitGroup, error, write.keep);
    throw error;
  }
}

async function commitAlone(
  { store, commitGroup, admitsUrgent }: CostlyWriteParts,
  tenantId: TenantId,
  { line, startsAlarm, keep }: CostlyWrite,
  options: Pick<WorkOptions, "mayRefuse" | "abandoned">,
): Promise<LineOutcome<DeviceId>> {
  const devices = await devicesOf(store, tenantId, [line]);
  const device = devices.get(line.deviceId);
  return commitGroup(
    async (tx, { apply }) => {
      if (device) await tx.users.lockOfTenant(tenantId, [device.userId]);
      const outcome = await outcomeOf(() => writeOne(apply, devices, line));
      await keep?.(tx, [outcome]);
      return outcome;
    },
    { urgent: startsAlarm && admitsUrgent() },
    options,
  );
}

async function keptRefusal(
  commitGroup: CommitGroup,
  refused: LimitReached,
  keep: CostlyWrite["keep"],
): Promise<CostlyOutcome> {
  try {
    if (keep) await commitGroup((tx) => keep(tx, [{ refused }]));
    return { refused };
  } catch (error) {
    if (error instanceof AnsweredElsewhere) return error;
    throw error;
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
