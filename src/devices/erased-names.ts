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

/** For so long an erased attribute is shown as null to those who ask for it by name, or with `since`. */
export const erasedNamesKeptMs = 30 * 86_400_000;

const everyMs = 600_000;
/** Few names at a time, with a pause between: a commit never waits for more than one such piece. */
const piece = { devices: 100, names: 500, pauseMs: 50 };

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

  /** Answers how many names it has removed. */
  sweep(): Promise<number> {
    return this.#sweep.run();
  }

  async #removeAll(signal: AbortSignal): Promise<number> {
    const { store } = this.#parts;
    let all = 0;
    while (!signal.aborted) {
      const devices = await store.read(async (tx) =>
        tx.attributeUsage.withErasedNames((await tx.clock.nowMs()) - erasedNamesKeptMs, piece.devices),
      );
      if (devices.length === 0) break;
      for (const { userId, deviceId } of devices) all += await this.#removeFrom(userId, deviceId, signal);
    }
    return all;
  }

  /** Walks through the names of one device, piece by piece. */
  async #removeFrom(userId: UserId, deviceId: DeviceId, signal: AbortSignal): Promise<number> {
    const { states, runtime } = this.#parts;
    const walk: Walk = { afterName: "", removed: 0, oldestMs: null };
    while (!signal.aborted && (await this.#removePiece(userId, deviceId, walk))) {
      await pause(runtime, piece.pauseMs, signal);
    }
    if (walk.removed > 0) states.forget(deviceId);
    return walk.removed;
  }

  /** Returns whether more names follow. */
  async #removePiece(userId: UserId, deviceId: DeviceId, walk: Walk): Promise<boolean> {
    const found = await this.#parts.store.transaction(
      async (tx) => {
        const nowMs = await tx.users.lock(userId);
        const [device] = nowMs === undefined ? [] : await tx.devices.lock(userId, [deviceId]);
        if (nowMs === undefined || !device) return undefined;
        const { afterName } = walk;
        const beforeMs = nowMs - erasedNamesKeptMs;
        const removed = await tx.attributeUsage.removeErased(userId, deviceId, {
          beforeMs,
          afterName,
          limit: piece.names,
        });
        // What was erased between two pieces was erased after the first of them.
        const begunMs = afterName === "" ? null : (walk.begunMs ?? nowMs);
        const oldestMs = earliest(earliest(walk.oldestMs, removed.oldestMs), begunMs);
        if (removed.last === undefined) await tx.attributeUsage.setErased(userId, deviceId, oldestMs);
        return { ...removed, nowMs };
      },
      { patient: true },
    );
    if (!found) return false;
    walk.removed += found.removed;
    walk.oldestMs = earliest(walk.oldestMs, found.oldestMs);
    walk.begunMs ??= found.nowMs;
    walk.afterName = found.last ?? "";
    return found.last !== undefined;
  }
}

/** How far the walk through one device has come. */
interface Walk {
  afterName: string;
  removed: number;
  oldestMs: number | null;
  begunMs?: number;
}

function earliest(one: number | null, other: number | null): number | null {
  return one === null ? other : other === null ? one : Math.min(one, other);
}
