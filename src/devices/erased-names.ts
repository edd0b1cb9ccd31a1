import type { DeviceId, UserId } from "../model/ids.ts";
import { pause, type Runtime } from "../runtime/runtime.ts";
import { Sweep } from "../runtime/sweep.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { DeviceStates } from "./states.ts";

export interface ErasedNamesParts {
  readonly store: Store<Pick<Transaction, "users" | "devices" | "attributeUsage" | "clock">>;
  readonly states: Pick<DeviceStates, "forget">;
  readonly runtime: Runtime;
}

/** How long an erased attribute is shown as null to clients that read it by name, or with `since`. */
const erasedNamesKeptMs = 30 * 86_400_000;

const everyMs = 600_000;
/** Names are removed in small batches with a pause between, so that a commit never waits for more than one batch. */
const batch = { devices: 100, names: 500, pauseMs: 50 };

/**
 * Removes the names of attributes that were erased long ago: they count towards the limit of their device. On a shared
 * store, other nodes may show such a name as erased until the next commit to its device.
 */
export class ErasedNames {
  readonly #parts: ErasedNamesParts;
  readonly #sweep: Sweep;

  constructor(parts: ErasedNamesParts) {
    this.#parts = parts;
    this.#sweep = new Sweep({
      task: "erased_names",
      failure: "names of erased attributes could not be removed",
      everyMs,
      runtime: parts.runtime,
      remove: (signal) => this.#removeAll(signal),
    });
  }

  start(): void {
    this.#sweep.start();
  }

  stop(): Promise<void> {
    return this.#sweep.stop();
  }

  /** Returns the number of removed names. */
  sweep(): Promise<number> {
    return this.#sweep.run();
  }

  async #removeAll(signal: AbortSignal): Promise<number> {
    const { store } = this.#parts;
    let total = 0;
    while (!signal.aborted) {
      const devices = await store.read(async (tx) =>
        tx.attributeUsage.withErasedNames((await tx.clock.nowMs()) - erasedNamesKeptMs, batch.devices),
      );
      if (devices.length === 0) break;
      for (const { userId, deviceId } of devices) total += await this.#removeFrom(userId, deviceId, signal);
    }
    return total;
  }

  /** Removes the erased names of one device, batch by batch. */
  async #removeFrom(userId: UserId, deviceId: DeviceId, signal: AbortSignal): Promise<number> {
    const { states, runtime } = this.#parts;
    const progress: Progress = { afterName: "", removed: 0, oldestRemainingMs: null, startedMs: null };
    while (!signal.aborted && (await this.#removeBatch(userId, deviceId, progress))) {
      await pause(runtime, batch.pauseMs, signal);
    }
    if (progress.removed > 0) states.forget(deviceId);
    return progress.removed;
  }

  /** Returns whether more names follow. */
  async #removeBatch(userId: UserId, deviceId: DeviceId, progress: Progress): Promise<boolean> {
    const found = await this.#parts.store.transaction(
      async (tx) => {
        const nowMs = await tx.users.lock(userId);
        if (nowMs === undefined) return undefined;
        const removed = await tx.attributeUsage.removeErased(userId, deviceId, {
          beforeMs: nowMs - erasedNamesKeptMs,
          afterName: progress.afterName,
          limit: batch.names,
        });
        // A name behind `afterName` that was erased since the first batch is not seen by this sweep. `startedMs` is a
        // lower bound of the time of its erasure.
        const oldestMs = earliest(earliest(progress.oldestRemainingMs, removed.oldestMs), progress.startedMs);
        if (removed.last === undefined) await tx.attributeUsage.setErased(userId, deviceId, oldestMs);
        return { ...removed, nowMs };
      },
      { background: true },
    );
    if (!found) return false;
    progress.removed += found.removed;
    if (found.last === undefined) return false;
    progress.oldestRemainingMs = earliest(progress.oldestRemainingMs, found.oldestMs);
    progress.startedMs ??= found.nowMs;
    progress.afterName = found.last;
    return true;
  }
}

/** The progress of the sweep through one device. */
interface Progress {
  afterName: string;
  removed: number;
  /** When the oldest of the names that stay was erased; null when none stays so far. */
  oldestRemainingMs: number | null;
  /** When the first batch began; null before. */
  startedMs: number | null;
}

function earliest(one: number | null, other: number | null): number | null {
  return one === null ? other : other === null ? one : Math.min(one, other);
}
