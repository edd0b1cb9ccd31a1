import type { DeviceId, UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import type { DeviceCommit } from "./commit.ts";

export type StateTables = Pick<Transaction, "devices" | "attributes">;

/** A device with all its attributes as of its last commit. Immutable, because callers share it. */
export interface DeviceState {
  readonly device: DeviceRow;
  readonly attributes: ReadonlyMap<AttributeKey, { readonly value: string | null; readonly timeMs: number }>;
}

/** Approximate memory limit of the cache. */
const defaultMaximalBytes = 200_000_000;
/** Approximate memory of an attribute, without its name and value. */
const attributeOverheadBytes = 100;

/**
 * Cache of device states, loaded on first use and updated by each commit. On SQLite the cache is current once
 * a commit is durable. On a shared store the version is checked before each use (one query for all reads of a tick), so
 * a read after an acknowledged write sees that write on every node.
 */
export class DeviceStates {
  readonly #store: Store<StateTables>;
  readonly #maximalBytes: number;
  readonly #states = new Map<DeviceId, DeviceState>();
  readonly #sizes = new Map<DeviceId, number>();
  readonly #loading = new Map<DeviceId, { isOvertaken: boolean }>();
  #cachedBytes = 0;
  #versionCheck: { readonly devices: Set<DeviceRow>; readonly versions: Promise<Map<DeviceId, number>> } | undefined;

  constructor(store: Store<StateTables>, { bytesHeld = defaultMaximalBytes } = {}) {
    this.#store = store;
    this.#maximalBytes = bytesHeld;
  }

  /** Undefined when this user has no such device, whether it belongs to another user or does not exist. */
  async get(userId: UserId, deviceId: DeviceId): Promise<DeviceState | undefined> {
    const held = this.#states.get(deviceId);
    const state = held && (await this.#isCurrent(held)) ? held : await this.#load(userId, deviceId);
    return state?.device.userId === userId ? state : undefined;
  }

  /**
   * The cached state, without a query. Undefined when it is not cached, or when the store is shared and the version
   * would have to be checked.
   */
  cached(userId: UserId, deviceId: DeviceId): DeviceState | undefined {
    const held = this.#store.isShared ? undefined : this.#states.get(deviceId);
    return held?.device.userId === userId ? held : undefined;
  }

  /** Updates cached states with commits that have become durable. */
  apply(commits: readonly DeviceCommit[]): void {
    for (const commit of commits) {
      const loading = this.#loading.get(commit.deviceId);
      if (loading) loading.isOvertaken = true;
      const held = this.#states.get(commit.deviceId);
      if (!held) continue;
      if (held.device.lastTimeMs === commit.previousTimeMs)
        this.#keep(withCommit(held, commit), sizeAfter(this.#sizes.get(commit.deviceId)!, held, commit));
      else if (held.device.lastTimeMs < commit.timeMs) this.#drop(commit.deviceId);
    }
  }

  /** Drops a removed device from the cache; a load that is in progress won't be cached either. */
  forget(deviceId: DeviceId): void {
    const loading = this.#loading.get(deviceId);
    if (loading) loading.isOvertaken = true;
    this.#drop(deviceId);
  }

  /**
   * Empties the cache after the store was restored or promoted: cached states, and loads in progress, may not match the
   * store.
   */
  forgetAll(): void {
    for (const loading of this.#loading.values()) loading.isOvertaken = true;
    this.#states.clear();
    this.#cachedBytes = 0;
  }

  async #load(userId: UserId, deviceId: DeviceId): Promise<DeviceState | undefined> {
    const loading = { isOvertaken: false };
    this.#loading.set(deviceId, loading);
    try {
      const state = await this.#store.read((tx) => stateIn(tx, userId, deviceId));
      const isLatest = this.#loading.get(deviceId) === loading;
      // A commit that became durable during the load may be missing from the result. The result answers this request,
      // which began before the commit, but is not cached.
      if (state && isLatest && !loading.isOvertaken) this.#keep(state, sizeOf(state));
      return state;
    } finally {
      if (this.#loading.get(deviceId) === loading) this.#loading.delete(deviceId);
    }
  }

  async #isCurrent(held: DeviceState): Promise<boolean> {
    if (!this.#store.isShared) return true;
    const versions = await this.#versionsOfThisTick(held.device);
    return versions.get(held.device.id) === held.device.lastTimeMs;
  }

  #versionsOfThisTick(device: DeviceRow): Promise<Map<DeviceId, number>> {
    if (!this.#versionCheck) {
      const devices = new Set<DeviceRow>();
      const versions = Promise.resolve().then(async () => {
        this.#versionCheck = undefined;
        const rows = await this.#store.read((tx) => tx.devices.versions([...devices]));
        return new Map(rows.map((row) => [row.id, row.lastTimeMs]));
      });
      this.#versionCheck = { devices, versions };
    }
    this.#versionCheck.devices.add(device);
    return this.#versionCheck.versions;
  }

  #keep(state: DeviceState, size: number): void {
    this.#drop(state.device.id);
    this.#states.set(state.device.id, state);
    this.#sizes.set(state.device.id, size);
    this.#cachedBytes += size;
    for (const [oldest] of this.#states) {
      if (this.#cachedBytes <= this.#maximalBytes || oldest === state.device.id) break;
      this.#drop(oldest);
    }
  }

  #drop(deviceId: DeviceId): void {
    if (!this.#states.delete(deviceId)) return;
    this.#cachedBytes -= this.#sizes.get(deviceId) ?? 0;
    this.#sizes.delete(deviceId);
  }
}

async function stateIn(tx: StateTables, userId: UserId, deviceId: DeviceId): Promise<DeviceState | undefined> {
  const device = await tx.devices.find(userId, deviceId);
  if (!device) return undefined;
  const attributes = new Map((await tx.attributes.all(userId, deviceId)).map((row) => [row.key, row]));
  return { device, attributes };
}

function withCommit(state: DeviceState, commit: DeviceCommit): DeviceState {
  const attributes = new Map(state.attributes);
  for (const { key, value } of commit.changes) attributes.set(key, { value, timeMs: commit.timeMs });
  return { device: { ...state.device, lastTimeMs: commit.timeMs }, attributes };
}

/** The approximate memory of a state. */
function sizeOf({ attributes }: DeviceState): number {
  let size = 0;
  for (const [key, { value }] of attributes) size += sizeOfAttribute(key, value);
  return size;
}

/** The approximate memory after a commit, computed from its changes alone. */
function sizeAfter(size: number, { attributes }: DeviceState, { changes }: DeviceCommit): number {
  let after = size;
  for (const [key, value] of new Map(changes.map((change) => [change.key, change.value]))) {
    const before = attributes.get(key);
    after += sizeOfAttribute(key, value) - (before ? sizeOfAttribute(key, before.value) : 0);
  }
  return after;
}

function sizeOfAttribute(key: AttributeKey, value: string | null): number {
  return attributeOverheadBytes + (typeof key === "string" ? key.length : 0) + (value?.length ?? 0);
}
