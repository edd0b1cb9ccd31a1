import type { DeviceId, UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import type { DeviceCommit } from "./device-commit.ts";

export type StateTables = Pick<Transaction, "devices" | "attributes" | "links" | "nodes">;

/** A device with all its attributes as of its last commit. Immutable, because callers share it. */
export interface DeviceState {
  readonly device: DeviceRow;
  readonly attributes: ReadonlyMap<AttributeKey, { readonly value: string | null; readonly timeMs: number }>;
}

/** A state in the cache, with its approximate memory. */
interface Held {
  readonly state: DeviceState;
  readonly bytes: number;
}

/** Approximate memory limit of the cache. */
const defaultMaximalBytes = 200_000_000;
/** Approximate memory of an attribute, without its name and value. */
const attributeOverheadBytes = 100;

/** Reads something else of a cached device in the transaction that checks its version, so that both are one round trip. */
export type ReadBeside = (tx: StateTables, device: DeviceRow) => Promise<void>;

interface VersionCheck {
  readonly devices: Set<DeviceRow>;
  readonly others: ((tx: StateTables) => Promise<void>)[];
  readonly versions: Promise<Map<DeviceId, number>>;
}

/**
 * Cache of device states, loaded on first use and updated by each commit. On SQLite the cache is current once
 * a commit is durable. On a shared store the version is checked before each use (one query for all reads of a tick), so
 * a read after an acknowledged write sees that write on every node.
 */
export class DeviceStates {
  readonly #store: Store<StateTables>;
  readonly #maximalBytes: number;
  readonly #held = new Map<DeviceId, Held>();
  readonly #loading = new Map<DeviceId, { isOvertaken: boolean }>();
  #heldBytes = 0;
  #versionCheck: VersionCheck | undefined;

  constructor(store: Store<StateTables>, { bytesHeld = defaultMaximalBytes } = {}) {
    this.#store = store;
    this.#maximalBytes = bytesHeld;
  }

  /**
   * Undefined when this user has no such device, whether it belongs to another user or does not exist. `beside` is called
   * only when a version must be checked.
   */
  async get(userId: UserId, deviceId: DeviceId, beside?: ReadBeside): Promise<DeviceState | undefined> {
    const held = this.#held.get(deviceId)?.state;
    const state = held && (await this.#isCurrent(held, beside)) ? held : await this.#load(userId, deviceId);
    return state?.device.userId === userId ? state : undefined;
  }

  /**
   * The cached state, without a query. Undefined when it is not cached, or when the store is shared and the version
   * would have to be checked.
   */
  cached(userId: UserId, deviceId: DeviceId): DeviceState | undefined {
    const state = this.#store.isShared ? undefined : this.#held.get(deviceId)?.state;
    return state?.device.userId === userId ? state : undefined;
  }

  /** Updates cached states with commits that have become durable. */
  apply(commits: readonly DeviceCommit[]): void {
    for (const commit of commits) {
      if (commit.isSilence) continue;
      const loading = this.#loading.get(commit.deviceId);
      if (loading) loading.isOvertaken = true;
      const held = this.#held.get(commit.deviceId);
      if (!held) continue;
      const { lastTimeMs } = held.state.device;
      if (lastTimeMs === commit.previousTimeMs) this.#keep(withCommit(held, commit));
      else if (lastTimeMs < commit.timeMs) this.#drop(commit.deviceId);
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
    this.#held.clear();
    this.#heldBytes = 0;
  }

  async #load(userId: UserId, deviceId: DeviceId): Promise<DeviceState | undefined> {
    const loading = { isOvertaken: false };
    this.#loading.set(deviceId, loading);
    try {
      const state = await this.#store.read((tx) => stateIn(tx, userId, deviceId));
      const isLatest = this.#loading.get(deviceId) === loading;
      // A commit that became durable during the load may be missing from the result. The result answers this request,
      // which began before the commit, but is not cached.
      if (state && isLatest && !loading.isOvertaken) this.#keep({ state, bytes: sizeOf(state) });
      return state;
    } finally {
      if (this.#loading.get(deviceId) === loading) this.#loading.delete(deviceId);
    }
  }

  async #isCurrent({ device }: DeviceState, beside?: ReadBeside): Promise<boolean> {
    if (!this.#store.isShared) return true;
    const versions = await this.#versionsOfThisTick(device, beside);
    return versions.get(device.id) === device.lastTimeMs;
  }

  #versionsOfThisTick(device: DeviceRow, beside?: ReadBeside): Promise<Map<DeviceId, number>> {
    if (!this.#versionCheck) {
      const devices = new Set<DeviceRow>();
      const others: ((tx: StateTables) => Promise<void>)[] = [];
      const versions = Promise.resolve().then(async () => {
        this.#versionCheck = undefined;
        const [rows] = await this.#store.read((tx) =>
          Promise.all([tx.devices.versions([...devices]), ...others.map((other) => other(tx))]),
        );
        return new Map(rows.map((row) => [row.id, row.lastTimeMs]));
      });
      this.#versionCheck = { devices, others, versions };
    }
    this.#versionCheck.devices.add(device);
    if (beside) this.#versionCheck.others.push((tx) => beside(tx, device));
    return this.#versionCheck.versions;
  }

  #keep(held: Held): void {
    const { id } = held.state.device;
    this.#drop(id);
    this.#held.set(id, held);
    this.#heldBytes += held.bytes;
    for (const [oldest] of this.#held) {
      if (this.#heldBytes <= this.#maximalBytes || oldest === id) break;
      this.#drop(oldest);
    }
  }

  #drop(deviceId: DeviceId): void {
    this.#heldBytes -= this.#held.get(deviceId)?.bytes ?? 0;
    this.#held.delete(deviceId);
  }
}

async function stateIn(tx: StateTables, userId: UserId, deviceId: DeviceId): Promise<DeviceState | undefined> {
  const device = await tx.devices.find(userId, deviceId);
  if (!device) return undefined;
  const attributes = new Map((await tx.attributes.all(userId, deviceId)).map((row) => [row.key, row]));
  return { device, attributes };
}

/** The state after a commit. Its memory is computed from the changes alone. */
function withCommit({ state, bytes: bytesBefore }: Held, { changes, timeMs }: DeviceCommit): Held {
  const attributes = new Map(state.attributes);
  let bytes = bytesBefore;
  for (const { key, value } of changes) {
    const before = attributes.get(key);
    bytes += sizeOfAttribute(key, value) - (before ? sizeOfAttribute(key, before.value) : 0);
    attributes.set(key, { value, timeMs });
  }
  return { state: { device: { ...state.device, lastTimeMs: timeMs }, attributes }, bytes };
}

/** The approximate memory of a state. */
function sizeOf({ attributes }: DeviceState): number {
  let size = 0;
  for (const [key, { value }] of attributes) size += sizeOfAttribute(key, value);
  return size;
}

function sizeOfAttribute(key: AttributeKey, value: string | null): number {
  return attributeOverheadBytes + (typeof key === "string" ? key.length : 0) + (value?.length ?? 0);
}
