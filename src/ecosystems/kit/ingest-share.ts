import { limits, type OnLimitReached } from "../../model/limits.ts";
import { LeakyBucket } from "../../runtime/leaky-bucket.ts";
import type { StreamListener } from "../connector.ts";

/** Estimated CPU time of the thread that reads large JSON. */
export const threadCostPerByteMs = 50 / 1_000_000;

export interface IngestShareParts {
  readonly listener: Pick<StreamListener, "cpuShare" | "takeCostMs" | "slowed">;
  readonly elapsedMs: () => number;
  readonly onLimitReached: OnLimitReached;
}

/** Outlives the streams of a link: a new stream must not begin with a new burst. */
export function newCpuShare(): LeakyBucket {
  return new LeakyBucket({ perSecond: limits.linkCpuMsPerSecond, atOnce: limits.linkCpuMsAtOnce });
}

/**
 * One account's share of a core. An account whose text takes more over some seconds is read more slowly, so that it
 * can't hold up others.
 */
export class IngestShare {
  readonly #parts: IngestShareParts;
  readonly #ownShare = newCpuShare();
  #isSlowed = false;

  constructor(parts: IngestShareParts) {
    this.#parts = parts;
  }

  get isSlowed(): boolean {
    return this.#isSlowed;
  }

  /** Adds the CPU time of a turn, and what its homes took. Returns how many milliseconds to pause. */
  spend(turnMs: number): number {
    const { listener, onLimitReached, elapsedMs } = this.#parts;
    const share = listener.cpuShare ?? this.#ownShare;
    const nowMs = elapsedMs();
    const pauseMs = Math.ceil(share.add(turnMs + (listener.takeCostMs?.() ?? 0), nowMs));
    if (pauseMs > 0) onLimitReached("linkCpuMsPerSecond");
    const isSlowed = pauseMs > 0 || (this.#isSlowed && share.fill(nowMs) > 0.5);
    if (isSlowed !== this.#isSlowed) listener.slowed?.(isSlowed);
    this.#isSlowed = isSlowed;
    return pauseMs;
  }
}
