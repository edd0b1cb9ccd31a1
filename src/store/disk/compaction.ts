import { Conflict } from "../../model/errors.ts";
import { pause, type Runtime } from "../../runtime/runtime.ts";
import { Sweep } from "../../runtime/sweep.ts";
import type { FileSpace, SpaceUse } from "../seam.ts";
import { DiskFull, diskFullReason } from "./disk-full.ts";

export interface CompactionParts {
  /** Undefined on PostgreSQL, which manages its space itself. */
  readonly space: FileSpace | undefined;
  readonly runtime: Runtime;
}

export interface Compacted {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

export interface CompactOptions {
  /** Whether a file that can't be compacted in steps may be rebuilt. Writes wait meanwhile. */
  readonly mayRebuild: boolean;
}

const sweepEveryMs = 60_000;
/** 512 KB: a commit waits for one step at most. */
const step = { pages: 128, pauseMs: 100 };
/** Free space that stays in the file for the next writes: shrinking and growing it all the time would cost more. */
const reserve = { bytes: 8 * 2 ** 20, share: 0.05 };

/**
 * Incremental vacuum of the SQLite file: returns free pages to the file system in small steps, while requests are
 * served. The sweep returns the surplus that retention leaves; `compact` returns everything, at the operator's command
 * (docs/decisions/015-compacting.md).
 */
export class Compaction {
  readonly #space: FileSpace | undefined;
  readonly #runtime: Runtime;
  readonly #sweep: Sweep;

  constructor({ space, runtime }: CompactionParts) {
    this.#space = space;
    this.#runtime = runtime;
    this.#sweep = new Sweep({
      task: "compaction",
      failure: "free pages could not be released to the file system",
      everyMs: sweepEveryMs,
      runtime,
      remove: (signal) => this.#releaseSurplus(signal),
    });
  }

  start(): void {
    if (this.#space) this.#sweep.start();
  }

  stop(): Promise<void> {
    return this.#sweep.stop();
  }

  /** Releases the free pages beyond the reserve, and returns how many pages it tried to release. */
  sweep(): Promise<number> {
    return this.#sweep.run();
  }

  /** Releases all free pages, and moves the write-ahead log into the file. */
  async compact({ mayRebuild }: CompactOptions, onProgress: (done: number, total: number) => void): Promise<Compacted> {
    const space = this.#space;
    if (!space) throw new Conflict("This store is PostgreSQL, which reuses free space by itself (autovacuum).");
    const before = await space.measure();
    try {
      if (before.isIncremental) await this.#releaseAll(space, before, onProgress);
      else await rebuild(space, before, mayRebuild);
      await space.flush();
    } catch (error) {
      const full = diskFullReason(error);
      if (!full) throw error;
      throw new DiskFull(`The store could not be compacted: ${full}. Nothing was lost. Free some space first.`, {
        cause: error,
      });
    }
    return { bytesBefore: before.bytes, bytesAfter: (await space.measure()).bytes };
  }

  async #releaseAll(
    space: FileSpace,
    before: SpaceUse,
    onProgress: (done: number, total: number) => void,
  ): Promise<void> {
    for (let last = before.freePages; ; ) {
      onProgress(before.freePages - last, before.freePages);
      await space.releasePages(step.pages);
      const { freePages } = await space.measure();
      // Writers free and use pages meanwhile, so the number may never reach zero. Stop when a step has no effect.
      if (freePages === 0 || freePages >= last) return;
      last = freePages;
    }
  }

  async #releaseSurplus(signal: AbortSignal): Promise<number> {
    const space = this.#space!;
    let pages = 0;
    for (let last = Number.POSITIVE_INFINITY; !signal.aborted; ) {
      const { bytes, freePages, pageBytes, isIncremental } = await space.measure();
      const isWithinReserve = freePages * pageBytes <= Math.max(reserve.bytes, reserve.share * bytes);
      // A step without effect means that writers free pages just as fast. The next sweep continues.
      if (!isIncremental || isWithinReserve || freePages >= last) break;
      last = freePages;
      await space.releasePages(step.pages);
      pages += step.pages;
      await pause(this.#runtime, step.pauseMs, signal);
    }
    return pages;
  }
}

async function rebuild(space: FileSpace, { bytes, freePages, pageBytes }: SpaceUse, mayRebuild: boolean) {
  if (!mayRebuild) {
    const megabytes = Math.ceil((bytes - freePages * pageBytes) / 1e6);
    throw new Conflict(
      `This store was made by a version whose files can't be compacted in steps. It must be rebuilt once: ${megabytes} MB are rewritten. Reads continue meanwhile, writes wait. Run breezeway compact --rebuild at a quiet time, or stop the service and run breezeway compact.`,
    );
  }
  await space.rebuild();
}
