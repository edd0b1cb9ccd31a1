import type { CommitGroup, GroupTables } from "../devices/commit-group.ts";
import { GroupSize } from "../devices/group-size.ts";
import type { TenantId } from "../model/ids.ts";
import { BackgroundTask } from "../runtime/background-task.ts";
import { type Cancel, pause, type Runtime } from "../runtime/runtime.ts";
import type { Priority, Store, Transaction } from "../store/seam.ts";
import type { DeviceTypeWorkRow, TypeDevice } from "../store/tables/device-type-work.ts";
import type { OwnThings } from "./own-things.ts";

export interface TypeWorkParts {
  readonly store: Store<GroupTables & Pick<Transaction, "deviceTypeWork">>;
  readonly commitGroup: CommitGroup;
  readonly ownThings: OwnThings;
  readonly runtime: Runtime;
}

const everyMs = 1_000;
const completeEveryMs = 3_600_000;
/** Types that one round works on; the others follow in the next round. */
const typesPerRound = 20;
/** How long a type is left to the node that works on it. */
const leaseMs = 60_000;
/** Devices of one transaction. The silence of a device that an alert watches is a commit of its own. */
const devicesPerGroup = { logged: { least: 100, most: 500 }, silenced: { least: 50, most: 500 } };
/** On SQLite all other writers wait for a transaction, so there is a pause behind it. */
const pauseMs = 10;
/** Devices that one statement examines for silence. */
const examined = 2_000;
/**
 * A type is examined for silent devices ten times in its limit, within these bounds, and for 5 % of the time. The rest
 * has a bound too: the time of a search also counts a store that stalled.
 */
const silenceEvery = { share: 10, fromMs: 5_000, toMs: 60_000, restFactor: 20, longestRestMs: 120_000 };
const inBackground: Priority = { patient: true };

/**
 * Work on all devices of a type, in short transactions: it logs a change of the trait map for each device, and logs
 * which devices have fallen silent. Every node looks for work; a lease keeps two nodes from doing the same.
 */
export class TypeWork {
  readonly #parts: TypeWorkParts;
  readonly #task: BackgroundTask;
  readonly #stopping = new AbortController();
  readonly #logged: GroupSize;
  readonly #silenced: GroupSize;
  #next: Cancel | undefined;
  #round: Promise<void> | undefined;
  /** When this node last looked for types that an older version has left without work. */
  #completedMs = Number.NEGATIVE_INFINITY;

  constructor(parts: TypeWorkParts) {
    this.#parts = parts;
    this.#task = new BackgroundTask("own_things", "changes of own things could not be logged", parts.runtime);
    this.#logged = new GroupSize(parts.store, devicesPerGroup.logged);
    this.#silenced = new GroupSize(parts.store, devicesPerGroup.silenced);
  }

  start(): void {
    this.#next = this.#parts.runtime.after(everyMs, () => {
      void this.run().finally(() => {
        if (!this.#stopping.signal.aborted) this.start();
      });
    });
  }

  async stop(): Promise<void> {
    this.#next?.();
    this.#stopping.abort();
    await this.#round;
  }

  /** Does what is due, or joins the present round. */
  run(): Promise<void> {
    this.#round ??= this.#runOnce().finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  async #runOnce(): Promise<void> {
    const { store } = this.#parts;
    try {
      await this.#complete();
      const due = await store.read(async (tx) => tx.deviceTypeWork.due(await tx.clock.nowMs(), typesPerRound));
      let failed = 0;
      for (const row of due) {
        try {
          await this.#workOn(row);
        } catch (error) {
          // The lease is the pause before the next attempt.
          failed += 1;
          this.#task.failed(error, { tenantId: row.tenantId, typeId: row.typeId });
        }
      }
      if (failed === 0) this.#task.succeeded();
    } catch (error) {
      this.#task.failed(error);
    }
  }

  async #complete(): Promise<void> {
    const nowMs = this.#parts.runtime.elapsedMs();
    if (nowMs - this.#completedMs < completeEveryMs) return;
    await this.#parts.store.transaction((tx) => tx.deviceTypeWork.beginMissing(), inBackground);
    this.#completedMs = nowMs;
  }

  async #workOn(found: DeviceTypeWorkRow): Promise<void> {
    let row = await this.#extend(found);
    while (row && row.what !== null && !this.#stopping.signal.aborted) {
      row = await this.#logSlice(row);
      await pause(this.#parts.runtime, pauseMs, this.#stopping.signal);
    }
    const startedMs = this.#parts.runtime.elapsedMs();
    while (row && !this.#stopping.signal.aborted) row = await this.#findSilent(row, startedMs);
  }

  /** Takes or renews the lease; undefined when another node has the row, or when the map was changed. */
  async #extend(row: DeviceTypeWorkRow): Promise<DeviceTypeWorkRow | undefined> {
    return this.#parts.store.transaction(async (tx) => {
      const next = { ...row, dueMs: (await tx.clock.nowMs()) + leaseMs };
      return (await tx.deviceTypeWork.advance(row, next)) ? next : undefined;
    }, inBackground);
  }

  /** Logs the map change for the next devices. Returns the row that follows, or undefined as `#extend` does. */
  async #logSlice(row: DeviceTypeWorkRow): Promise<DeviceTypeWorkRow | undefined> {
    const { store, ownThings, runtime } = this.#parts;
    const { tenantId, what } = row;
    const devices = await store.read((tx) => tx.deviceTypeWork.devices(row, this.#logged.count));
    return store.transaction(async (tx) => {
      const startedMs = runtime.elapsedMs();
      const users = await tx.users.lockOfTenant(tenantId, usersOf(devices));
      const last = devices.at(-1);
      const next = {
        ...row,
        ...(last ? { afterId: last.id } : { what: null, afterId: 0 }),
        dueMs: users.nowMs + leaseMs,
      };
      if (!(await tx.deviceTypeWork.advance(row, next))) return undefined;
      // A device that was removed meanwhile has said so itself.
      const present = new Set((await tx.devices.someOfTenant(tenantId, ids(devices))).map(({ id }) => id));
      const entries = devices
        .filter(({ id }) => present.has(id))
        .map((device) => ownThings.entry(device, what!, users.nowMs));
      if (entries.length > 0) await tx.log.appendAll(entries);
      this.#logged.took(runtime.elapsedMs() - startedMs);
      return next;
    }, inBackground);
  }

  /** Examines the next devices. Returns the row that follows; undefined at the end, or as `#extend` does. */
  async #findSilent(row: DeviceTypeWorkRow, startedMs: number): Promise<DeviceTypeWorkRow | undefined> {
    const { store, ownThings, runtime } = this.#parts;
    const { tenantId, typeId } = row;
    const found = await store.read(async (tx) => {
      const stored = await tx.deviceTypeMaps.find(tenantId, typeId);
      const online = stored && ownThings.maps.read(stored)?.map.online;
      if (!online || !("silentAfterMs" in online)) return undefined;
      const { silentAfterMs } = online;
      const beforeMs = (await tx.clock.nowMs()) - silentAfterMs;
      return { silentAfterMs, ...(await tx.deviceTypeWork.silent(row, beforeMs, examined)) };
    });
    if (!found) {
      await store.transaction((tx) => tx.deviceTypeWork.end(row), inBackground);
      return undefined;
    }
    for (let left = found.devices; left.length > 0 && !this.#stopping.signal.aborted; ) {
      const some = left.slice(0, this.#silenced.count);
      left = [...(await this.#logSilence(tenantId, some)), ...left.slice(some.length)];
      await pause(runtime, pauseMs, this.#stopping.signal);
    }
    if (found.lastId !== undefined) return this.#extend({ ...row, afterId: found.lastId });
    const takenMs = runtime.elapsedMs() - startedMs;
    const { share, fromMs, toMs, restFactor, longestRestMs } = silenceEvery;
    const usualMs = Math.min(toMs, Math.max(fromMs, found.silentAfterMs / share));
    const restMs = Math.max(usualMs, Math.min(longestRestMs, restFactor * takenMs));
    await store.transaction(async (tx) => {
      const dueMs = Math.round((await tx.clock.nowMs()) + restMs);
      await tx.deviceTypeWork.advance(row, { what: null, afterId: 0, dueMs });
    }, inBackground);
    return undefined;
  }

  /** Returns the devices for which the transaction had no time. */
  async #logSilence(tenantId: TenantId, devices: readonly TypeDevice[]): Promise<readonly TypeDevice[]> {
    const { commitGroup, runtime } = this.#parts;
    return commitGroup(async (tx, { silence }) => {
      const startedMs = runtime.elapsedMs();
      const takenMs = () => runtime.elapsedMs() - startedMs;
      const { nowMs } = await tx.users.lockOfTenant(tenantId, usersOf(devices));
      const isOver = () => takenMs() >= this.#silenced.longestMs;
      const left = new Set(await silence(tenantId, ids(devices), nowMs, isOver));
      this.#silenced.took(takenMs());
      return devices.filter(({ id }) => left.has(id));
    }, inBackground);
  }
}

function usersOf(devices: readonly TypeDevice[]) {
  return [...new Set(devices.map(({ userId }) => userId))];
}

function ids(devices: readonly TypeDevice[]) {
  return devices.map(({ id }) => id);
}
