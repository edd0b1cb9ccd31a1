import { WorkNeeded } from "../devices/attempts.ts";
import type { CommitGroup, GroupTables } from "../devices/commit-group.ts";
import { GroupSize } from "../devices/group-size.ts";
import type { TenantId, UserId } from "../model/ids.ts";
import { BackgroundTask } from "../runtime/background-task.ts";
import { type Cancel, outsideRequests, pause, type Runtime } from "../runtime/runtime.ts";
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
/** Types that are worked on at the same time; the others follow. One tenant has no more than 200. */
const typesAtOnce = 250;
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
/** No lease and no rest is longer. A row that is due later was written before the clock was set back. */
const aheadAtMostMs = 2 * silenceEvery.longestRestMs;
/** Users of a type whose silent devices wait for costly patterns at once. The others wait for the next search. */
const heldUsersPerType = 16;
const inBackground: Priority = { background: true };

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
  /** Types with a next step, in turn. */
  readonly #working = new Map<string, TypeInWork>();
  /** Users of each type whose silent devices wait for costly patterns of alerts. All others go on meanwhile. */
  readonly #held = new Map<string, Map<UserId, Promise<void>>>();
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
    await Promise.all([...this.#held.values()].flatMap((users) => [...users.values()]));
  }

  /** Does what is due, or joins the present round. */
  run(): Promise<void> {
    this.#round ??= outsideRequests(this.#parts.runtime, () => this.#runOnce()).finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  async #runOnce(): Promise<void> {
    try {
      await this.#workInTurns();
    } catch (error) {
      this.#task.failed(error);
    }
  }

  /**
   * Works on all due types in turn, one short transaction of each tenant after the other: the devices of one type that
   * all fall silent must not delay the silence of others. Types that become due meanwhile take part.
   */
  async #workInTurns(): Promise<void> {
    const { runtime } = this.#parts;
    const { signal } = this.#stopping;
    /** Since the last look. */
    let failed: number | undefined;
    let lookedMs = Number.NEGATIVE_INFINITY;
    do {
      if (runtime.elapsedMs() - lookedMs >= everyMs) {
        if (failed === 0) this.#task.succeeded();
        failed = 0;
        lookedMs = runtime.elapsedMs();
        await this.#complete();
        await this.#takeDue();
      }
      for (const inWork of nextOfEachTenant(this.#working)) {
        if (signal.aborted) return;
        failed = (failed ?? 0) + (await this.#step(inWork));
      }
    } while (this.#working.size > 0 && !signal.aborted);
    if (failed === 0) this.#task.succeeded();
  }

  async #takeDue(): Promise<void> {
    const limit = typesAtOnce - this.#working.size;
    const due = await this.#parts.store.read(async (tx) => {
      const nowMs = await tx.clock.nowMs();
      return tx.deviceTypeWork.due(nowMs, limit, nowMs + aheadAtMostMs);
    });
    for (const row of due) {
      const key = keyOf(row);
      if (this.#working.has(key)) continue;
      this.#working.set(key, { key, row, steps: this.#workOn(row) });
    }
  }

  /** Makes the type's next step. Returns how many steps failed. */
  async #step(inWork: TypeInWork): Promise<0 | 1> {
    const { key, row, steps } = inWork;
    this.#working.delete(key);
    try {
      const { done } = await steps.next();
      // It goes to the end.
      if (!done) this.#working.set(key, inWork);
      return 0;
    } catch (error) {
      // The lease is the pause before the next attempt.
      this.#task.failed(error, { tenantId: row.tenantId, typeId: row.typeId });
      return 1;
    }
  }

  async #complete(): Promise<void> {
    const nowMs = this.#parts.runtime.elapsedMs();
    if (nowMs - this.#completedMs < completeEveryMs) return;
    await this.#parts.store.transaction((tx) => tx.deviceTypeWork.beginMissing(), inBackground);
    this.#completedMs = nowMs;
  }

  /** The work on a type; each step is a short transaction. */
  async *#workOn(found: DeviceTypeWorkRow): AsyncGenerator<undefined, void> {
    const { runtime } = this.#parts;
    let row = await this.#extend(found);
    while (row && row.what !== null) {
      row = await this.#logSlice(row);
      await pause(runtime, pauseMs, this.#stopping.signal);
      yield undefined;
    }
    // Without the time of the steps of other types.
    let takenMs = 0;
    while (row) {
      const startedMs = runtime.elapsedMs();
      const found = await this.#findSilent(row);
      takenMs += runtime.elapsedMs() - startedMs;
      if (!found) return;
      let extendedMs = startedMs;
      const held = this.#held.get(keyOf(row));
      let left = found.devices.filter(({ userId }) => !held?.has(userId));
      /** Parts of a group that needs costly patterns of at least one user's alerts. */
      const parts: (readonly TypeDevice[])[] = [];
      while (parts.length > 0 || left.length > 0) {
        const part = parts.shift();
        const some = part ?? left.slice(0, this.#silenced.count);
        const stepMs = runtime.elapsedMs();
        const unlogged = await this.#logSilenceNow(row.tenantId, some);
        if (!part) left = left.slice(some.length);
        if (unlogged) left = [...unlogged, ...left];
        else if (usersOf(some).length > 1) parts.unshift(...halves(some));
        else this.#hold(row, some);
        await pause(runtime, pauseMs, this.#stopping.signal);
        const endedMs = runtime.elapsedMs();
        takenMs += endedMs - stepMs;
        yield undefined;
        if (endedMs - extendedMs < leaseMs / 3) continue;
        row = await this.#extend(row);
        if (!row) return;
        extendedMs = endedMs;
      }
      row =
        found.lastId === undefined
          ? await this.#rest(row, found.silentAfterMs, takenMs)
          : await this.#extend({ ...row, afterId: found.lastId });
      yield undefined;
    }
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

  /** Examines the next devices; undefined when the type has no limit of silence any more. */
  async #findSilent(row: DeviceTypeWorkRow) {
    const { store, ownThings } = this.#parts;
    const { tenantId, typeId } = row;
    const found = await store.read(async (tx) => {
      const stored = await tx.deviceTypeMaps.find(tenantId, typeId);
      const online = stored && ownThings.maps.read(stored)?.map.online;
      if (!online || !("silentAfterMs" in online)) return undefined;
      const { silentAfterMs } = online;
      const beforeMs = (await tx.clock.nowMs()) - silentAfterMs;
      return { silentAfterMs, ...(await tx.deviceTypeWork.silent(row, beforeMs, examined)) };
    });
    if (!found) await store.transaction((tx) => tx.deviceTypeWork.end(row), inBackground);
    return found;
  }

  /** All devices were examined: the next search comes later. */
  async #rest(row: DeviceTypeWorkRow, silentAfterMs: number, takenMs: number): Promise<undefined> {
    const { share, fromMs, toMs, restFactor, longestRestMs } = silenceEvery;
    const usualMs = Math.min(toMs, Math.max(fromMs, silentAfterMs / share));
    const restMs = Math.max(usualMs, Math.min(longestRestMs, restFactor * takenMs));
    await this.#parts.store.transaction(async (tx) => {
      const dueMs = Math.round((await tx.clock.nowMs()) + restMs);
      await tx.deviceTypeWork.advance(row, { what: null, afterId: 0, dueMs });
    }, inBackground);
  }

  /** Undefined when alerts on these devices have costly patterns: nothing was logged. */
  async #logSilenceNow(tenantId: TenantId, devices: readonly TypeDevice[]): Promise<readonly TypeDevice[] | undefined> {
    try {
      return await this.#logSilence(tenantId, devices, { mayWait: false });
    } catch (error) {
      if (error instanceof WorkNeeded) return undefined;
      throw error;
    }
  }

  /** Logs the silence of one user's devices in the background, when the patterns of the user's alerts have been matched. */
  #hold(row: DeviceTypeWorkRow, devices: readonly TypeDevice[]): void {
    const key = keyOf(row);
    const users = this.#held.get(key) ?? new Map<UserId, Promise<void>>();
    const { userId } = devices[0]!;
    if (users.size >= heldUsersPerType || users.has(userId)) return;
    this.#held.set(key, users);
    const logging = async () => {
      const { signal } = this.#stopping;
      try {
        for (let left = devices; left.length > 0 && !signal.aborted; ) {
          left = await this.#logSilence(row.tenantId, left, { abandoned: signal });
          await pause(this.#parts.runtime, pauseMs, signal);
        }
      } catch (error) {
        // The next search finds the devices again.
        if (!signal.aborted) this.#task.failed(error, { tenantId: row.tenantId, typeId: row.typeId });
      } finally {
        users.delete(userId);
        if (users.size === 0) this.#held.delete(key);
      }
    };
    users.set(userId, logging());
  }

  /** Returns the devices for which the transaction had no time. */
  async #logSilence(
    tenantId: TenantId,
    devices: readonly TypeDevice[],
    options: Parameters<CommitGroup>[2],
  ): Promise<readonly TypeDevice[]> {
    const { commitGroup, runtime } = this.#parts;
    return commitGroup(
      async (tx, { silence }) => {
        const startedMs = runtime.elapsedMs();
        const takenMs = () => runtime.elapsedMs() - startedMs;
        const { nowMs } = await tx.users.lockOfTenant(tenantId, usersOf(devices));
        const isOver = () => takenMs() >= this.#silenced.longestMs;
        const left = new Set(await silence(tenantId, ids(devices), nowMs, isOver));
        this.#silenced.took(takenMs());
        return devices.filter(({ id }) => left.has(id));
      },
      inBackground,
      options,
    );
  }
}

interface TypeInWork {
  readonly key: string;
  readonly row: DeviceTypeWorkRow;
  readonly steps: AsyncGenerator<undefined, void>;
}

function keyOf({ tenantId, typeId }: DeviceTypeWorkRow): string {
  return `${tenantId} ${typeId}`;
}

/** Two groups of devices, each of half of the users. */
function halves(devices: readonly TypeDevice[]): readonly (readonly TypeDevice[])[] {
  const users = usersOf(devices);
  const first = new Set(users.slice(0, users.length / 2));
  return [devices.filter(({ userId }) => first.has(userId)), devices.filter(({ userId }) => !first.has(userId))];
}

/** The type of each tenant that has waited longest. */
function nextOfEachTenant(working: ReadonlyMap<string, TypeInWork>): readonly TypeInWork[] {
  return [...Map.groupBy(working.values(), ({ row }) => row.tenantId).values()].map(([first]) => first!);
}

function usersOf(devices: readonly TypeDevice[]) {
  return [...new Set(devices.map(({ userId }) => userId))];
}

function ids(devices: readonly TypeDevice[]) {
  return devices.map(({ id }) => id);
}
