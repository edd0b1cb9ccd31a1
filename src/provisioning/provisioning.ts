import type { CommitGroup } from "../devices/commit-group.ts";
import type { AddedDevice } from "../devices/device-addition.ts";
import { GroupSize } from "../devices/group-size.ts";
import type { DeviceState, DeviceStates } from "../devices/states.ts";
import type { KeepAnswer } from "../idempotency/idempotent-writes.ts";
import { BreezewayError, LimitReached, UnknownDevice } from "../model/errors.ts";
import type { DeviceId, TenantId, UserId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { OwnAlarms } from "../own-things/own-alarms.ts";
import type { OwnThings } from "../own-things/own-things.ts";
import type { Priority, Store, Transaction } from "../store/seam.ts";
import { AdditionLimits, checkAddition } from "./addition-limits.ts";
import { type KeepGroup, type Line, type LineOutcome, outcomeOf } from "./batch-lines.ts";
import { CostlyTurns } from "./costly-turns.ts";
import { describeIn } from "./description.ts";
import type { DeviceDescription, NewDevice } from "./new-device.ts";
import { removeIn } from "./operator-devices.ts";
import { type SizedDevice, sized } from "./sized-device.ts";
import {
  alarmLines,
  type CostlyOutcome,
  type CostlyWrite,
  type KeepStates,
  type StateOutcome,
  type StateWrite,
  writeCostly,
  writeSome,
} from "./state-writes.ts";
import type { TenantDeviceCounts } from "./tenant-device-counts.ts";

export interface ProvisioningParts {
  readonly store: Store<Pick<Transaction, "devices">>;
  readonly commitGroup: CommitGroup;
  readonly states: Pick<DeviceStates, "forget">;
  readonly counts: TenantDeviceCounts;
  readonly ownThings?: OwnThings;
  readonly ownAlarms: OwnAlarms;
  readonly elapsedMs: () => number;
}

/** A company manages its own devices. Each call is limited to one tenant; foreign users and devices look absent. */
export interface Provisioning {
  /** Adds all devices in one transaction, or none: then it throws RefusedLine, or LimitReached for too many attributes. */
  addAll(
    tenantId: TenantId,
    devices: readonly NewDevice[],
    keep?: KeepAnswer<readonly DeviceState[]>,
  ): Promise<readonly DeviceState[]>;
  /** Adds the first of these devices, at least one, in one short transaction. A refused line leaves nothing behind. */
  addSome(
    tenantId: TenantId,
    lines: readonly Line<NewDevice>[],
    keep?: KeepGroup<DeviceState>,
  ): Promise<readonly LineOutcome<DeviceState>[]>;
  /** The indexes of the lines that start an alarm, ascending. */
  alarmLines(tenantId: TenantId, lines: readonly Line<StateWrite>[]): Promise<readonly number[]>;
  /**
   * Writes the first of these states, at least one, in one short transaction. Each device is one commit. `costly` states
   * need `writeCostly`, and the others can be written before them.
   */
  writeSome(
    tenantId: TenantId,
    lines: readonly Line<StateWrite>[],
    keep?: KeepStates,
    isUrgent?: boolean,
  ): Promise<readonly StateOutcome[]>;
  /** Writes states whose alerts have costly patterns. They wait for the thread, a few of a tenant at once. */
  writeCostly(
    tenantId: TenantId,
    writes: readonly CostlyWrite[],
    abandoned?: AbortSignal,
  ): Promise<readonly CostlyOutcome[]>;
  /** Changes name and room of an ordinary device, and returns the device. */
  update(
    tenantId: TenantId,
    deviceId: DeviceId,
    description: DeviceDescription,
    keep?: KeepAnswer<DeviceState>,
  ): Promise<DeviceState>;
  remove(tenantId: TenantId, deviceId: DeviceId, keep?: KeepAnswer): Promise<void>;
}

/** One of several lines was refused, so that none was carried out. */
export class RefusedLine extends Error {
  /** Counted from 0. */
  readonly index: number;
  readonly refusal: BreezewayError;

  constructor(index: number, refusal: BreezewayError) {
    super(refusal.message, { cause: refusal });
    this.index = index;
    this.refusal = refusal;
  }
}

const linesPerGroup = { least: 10, most: 100 };
/** No client waits for one group of a batch: on PostgreSQL it uses connections of background work. */
const inBackground: Priority = { background: true };

export function provisioningOn(parts: ProvisioningParts): Provisioning {
  const { store, commitGroup, states, counts, elapsedMs, ownThings, ownAlarms } = parts;
  const groupSize = new GroupSize(store, linesPerGroup);
  const { longestMs } = groupSize;
  const turns = new CostlyTurns();
  const ownerOf = async (tenantId: TenantId, deviceId: DeviceId) => {
    const device = await store.read((tx) => tx.devices.within({ kind: "enterprise", tenantId }, deviceId));
    if (!device) throw new UnknownDevice();
    return device.userId;
  };
  const isUrgentAddition = async (tenantId: TenantId, devices: readonly NewDevice[]) =>
    (await ownAlarms.hasAlarm(tenantId, devices)) && ownAlarms.admits(tenantId);
  return {
    async addAll(tenantId, devices, keep) {
      checkAttributesAtOnce(devices);
      const left = await counts.left(tenantId);
      const priority = { urgent: await isUrgentAddition(tenantId, devices) };
      const sizedDevices = devices.map(sized);
      const added = await commitGroup(async (tx, { add }) => {
        const users = await tx.users.lockOfTenant(tenantId, usersOf(devices));
        const bounds = new AdditionLimits(tx, tenantId, left);
        const admitted: AddedDevice[] = [];
        for (const [index, device] of sizedDevices.entries()) {
          const outcome = await outcomeOf(() => checkAddition(device, users, bounds));
          if ("refused" in outcome) throw new RefusedLine(index, outcome.refused);
          admitted.push(outcome.done);
        }
        const made = await add(tenantId, admitted, users.nowMs);
        await keep?.(tx, made);
        return made;
      }, priority);
      counts.added(tenantId, added.length);
      return added;
    },
    async addSome(tenantId, allLines, keep) {
      const left = await counts.left(tenantId);
      const lines = firstLines(allLines, groupSize.count).map((line) =>
        line instanceof BreezewayError ? line : sized(line),
      );
      const devices = lines.filter((line): line is SizedDevice => !(line instanceof BreezewayError));
      const priority = (await isUrgentAddition(tenantId, devices)) ? { urgent: true } : inBackground;
      const outcomes = await commitGroup(async (tx, { add }) => {
        const startedMs = elapsedMs();
        const users = await tx.users.lockOfTenant(tenantId, usersOf(devices));
        const bounds = new AdditionLimits(tx, tenantId, left);
        const decided: LineOutcome<AddedDevice>[] = [];
        for (const line of lines) {
          const isRefused = line instanceof BreezewayError;
          decided.push(isRefused ? { refused: line } : await outcomeOf(() => checkAddition(line, users, bounds)));
        }
        const admitted = decided.flatMap((one) => ("done" in one ? [one.done] : []));
        const states = (await add(tenantId, admitted, users.nowMs)).values();
        const made = decided.map((one) => ("done" in one ? { done: states.next().value! } : one));
        await keep?.(tx, made);
        groupSize.took(elapsedMs() - startedMs);
        return made;
      }, priority);
      counts.added(tenantId, outcomes.filter((outcome) => "done" in outcome).length);
      return outcomes;
    },
    alarmLines: (tenantId, lines) => alarmLines({ store, ownAlarms }, tenantId, lines),
    writeSome: (tenantId, lines, keep, isUrgent = false) => {
      const urgent = isUrgent && ownAlarms.admits(tenantId);
      return writeSome({ store, commitGroup, elapsedMs, longestMs, urgent }, tenantId, lines, keep);
    },
    writeCostly: (tenantId, writes, abandoned) => {
      const admitsUrgent = () => ownAlarms.admits(tenantId);
      return writeCostly({ store, commitGroup, turns, admitsUrgent, abandoned }, tenantId, writes);
    },
    async update(tenantId, deviceId, description, keep) {
      const userId = await ownerOf(tenantId, deviceId);
      const updated = await commitGroup(async (tx) => {
        const state = await describeIn(tx, userId, deviceId, description, ownThings);
        await keep?.(tx, state);
        return state;
      });
      states.forget(deviceId);
      return updated;
    },
    async remove(tenantId, deviceId, keep) {
      const userId = await ownerOf(tenantId, deviceId);
      const sentence = `Device ${deviceId} belongs to a linked account and can't be removed. Disconnect the account instead.`;
      await commitGroup(async (tx) => {
        await removeIn(tx, userId, deviceId, sentence, ownThings);
        await keep?.(tx);
      });
      states.forget(deviceId);
    },
  };
}

function usersOf(devices: readonly NewDevice[]): readonly UserId[] {
  return [...new Set(devices.map(({ userId }) => userId))];
}

function checkAttributesAtOnce(devices: readonly NewDevice[]): void {
  const count = devices.reduce((sum, { changes = [] }) => sum + changes.length, 0);
  if (count <= limits.attributesAtOnce) return;
  throw new LimitReached(
    "attributesAtOnce",
    `The devices have ${count} attributes in all and may have ${limits.attributesAtOnce}. No device was added. Send fewer, or use mode=each.`,
  );
}

const attributesPerGroup = 1_000;

/** The first lines, with a limited number of attributes; at least one line. */
function firstLines(lines: readonly Line<NewDevice>[], most: number): readonly Line<NewDevice>[] {
  let attributes = 0;
  const end = lines.slice(0, most).findIndex((line) => {
    if (!(line instanceof BreezewayError)) attributes += line.changes?.length ?? 0;
    return attributes > attributesPerGroup;
  });
  return lines.slice(0, end < 0 ? most : Math.max(1, end));
}
