import { Conflict } from "../../model/errors.ts";
import { pause, type Runtime } from "../../runtime/runtime.ts";
import { Sweep } from "../../runtime/sweep.ts";
import type { FileSpace, SpaceUse } from "../seam.ts";
import { DiskFull, noSpace } from "./disk-full.ts";

export interface CompactionParts {
  /** Undefined where the database looks after its space itself. */
  readonly space: FileSpace | undefined;
  readonly runtime: Runtime;
}

export interface Compacted {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

export interface CompactOptions {
  /** Whether writes may wait while a store is rebuilt that can't be compacted in steps yet. */
  readonly mayRebuild: boolean;
}

const everyMs = 60_000;
/** 512 KB: a commit never waits for more than one step. */
const step = { pages: 128, pauseMs: 100 };
/** Free space that is kept for the next writes: a file that shrinks and grows again all the time costs more than it gives. */
const kept = { bytes: 8 * 2 ** 20, share: 0.05 };

/**
 * Gives free pages of the SQLite file back to the file system, a few at a time, while everybody reads and writes: what
 * retention removes by and by, and everything at the operator's command (docs/decisions/015-compacting.md).
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
      failure: "free space could not be given back to the file system",
      everyMs,
      runtime,
      remove: (signal) => this.#giveBackSurplus(signal),
    });
  }

  start(): void {
    if (this.#space) this.#sweep.start();
  }

  stop(): Promise<void> {
    return this.#sweep.stop();
  }

  /** Gives back what is free beyond what is kept; answers how many pages that were. */
  sweep(): Promise<number> {
    return this.#sweep.run();
  }

  /** Gives back everything that is free, and moves the write-ahead log into the file. */
  async compact({ mayRebuild }: CompactOptions, tell: (done: number, total: number) => void): Promise<Compacted> {
    const space = this.#space;
    if (!space) throw new Conflict("This store is PostgreSQL, which reuses free space by itself (autovacuum).");
    const before = await space.look();
    try {
      if (before.isStepwise) await this.#giveBackAll(space, before, tell);
      else await rebuild(space, before, mayRebuild);
      await space.flush();
    } catch (error) {
      const full = noSpace(error);
      if (!full) throw error;
      throw new DiskFull(`The store could not be compacted: ${full}. Nothing was lost. Free some space first.`, {
        cause: error,
      });
    }
    return { bytesBefore: before.bytes, bytesAfter: (await space.look()).bytes };
  }

  async #giveBackAll(space: FileSpace, before: SpaceUse, tell: (done: number, total: number) => void): Promise<void> {
    for (let last = before.freePages; ; ) {
      tell(before.freePages - last, before.freePages);
      await space.giveBack(step.pages);
      const { freePages } = await space.look();
      // Writers free and use pages meanwhile: it is over when a step no longer helps.
      if (freePages === 0 || freePages >= last) return;
      last = freePages;
    }
  }

  async #giveBackSurplus(signal: AbortSignal): Promise<number> {
    const space = this.#space!;
    let pages = 0;
    for (let last = Number.POSITIVE_INFINITY; !signal.aborted; ) {
      const { bytes, freePages, pageBytes, isStepwise } = await space.look();
      const isLittle = freePages * pageBytes <= Math.max(kept.bytes, kept.share * bytes);
      // When a step doesn't help, writers free pages as quickly: the next round goes on.
      if (!isStepwise || isLittle || freePages >= last) break;
      last = freePages;
      await space.giveBack(step.pages);
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
      `This store was made by a version whose files can't be compacted in steps. It has to be rebuilt once: ${megabytes} MB are written anew, and writes wait until that is done, while reads go on. Run breezeway compact --rebuild at a quiet time, or stop the service and run breezeway compact.`,
    );
  }
  await space.rebuild();
}
