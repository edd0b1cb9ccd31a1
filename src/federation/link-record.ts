import { OwnershipLost, StoreUnavailable } from "../model/errors.ts";
import { pause, type Runtime } from "../runtime/runtime.ts";
import type { BlindInterval } from "../store/tables/blind-intervals.ts";
import { type Blindness, type LinkRow, type LinkState, takeoverStanding } from "../store/tables/links.ts";
import type { LinkKey } from "./link-key.ts";

/** The standing of a link: its state, and since when it is blind. */
export interface LinkStanding {
  readonly state: LinkState;
  readonly reason: string;
  /** Null while its stream is live. */
  readonly blindness: Blindness | null;
}

export interface LinkRecordParts {
  readonly link: LinkKey;
  /** Stores the standing and ended blind intervals; rejects when the store can't. */
  readonly write: (standing: LinkStanding, ended: readonly BlindInterval[]) => Promise<void>;
  readonly runtime: Runtime;
  /** By how much this node's clock may be behind the store's. */
  readonly uncertaintyMs: () => number;
  /** Called when a write fails although the store is available. It is tried again after a growing pause. */
  readonly failed: (error: unknown) => void;
  readonly signal: AbortSignal;
}

const retry = { everyMs: 1_000, atMostMs: 300_000 };
/** Maximal number of blind intervals that wait for the store. */
const maximalEnded = 1_000;

/**
 * The standing of one link over time. It changes at once in memory, where the owner node derives presence from it. The
 * store gets it as soon as possible, with every blind interval that has ended.
 */
export class LinkRecord {
  readonly #parts: LinkRecordParts;
  #standing: LinkStanding;
  #written: LinkStanding;
  #ended: BlindInterval[] = [];
  /**
   * Intervals of snapshots that were dropped while the link was live, and that no stored snapshot follows yet. A node
   * that takes over now counts from an earlier time, so they need not be stored.
   */
  #unconfirmed: BlindInterval[] = [];
  /** The end of the last blind interval, and by how much it may be too late. */
  #lastBlind = { toMs: 0, uncertaintyMs: 0 };
  #writing: Promise<void> | undefined;
  /** This epoch is lost for good: nothing more may be written. */
  #isLost = false;

  constructor(parts: LinkRecordParts, row: LinkRow) {
    this.#parts = parts;
    this.#written = row;
    // A link that was live when its node ended has been blind since the last stored confirmation.
    const { reason, cause } = takeoverStanding;
    this.#standing =
      row.state === "live"
        ? { state: "waiting", reason, blindness: { sinceMs: row.confirmedMs, cause } }
        : { ...row, blindness: row.blindness ?? { sinceMs: row.confirmedMs, cause: row.reason } };
  }

  get standing(): LinkStanding {
    return this.#standing;
  }

  /** Whether the store has the present standing and all ended intervals. */
  get isWritten(): boolean {
    return this.#written === this.#standing && this.#ended.length === 0;
  }

  /** The end of the last recorded blind interval; 0 when there is none. */
  get blindUntilMs(): number {
    return this.#lastBlind.toMs;
  }

  /**
   * Changes the standing. `forMs`: how long ago the change happened (nothing heard since, or the account received
   * then).
   */
  enter(state: LinkState, reason: string, forMs = 0): void {
    const before = this.#standing;
    if (before.state === state && before.reason === reason) return;
    const sinceMs = this.#parts.runtime.nowMs() - forMs;
    if (state === "live") {
      if (before.blindness) this.#end(before.blindness, sinceMs);
      this.#standing = { state, reason, blindness: null };
    } else {
      const blindness = before.blindness ?? { sinceMs: this.#afterLast(sinceMs), cause: reason };
      this.#standing = { state, reason, blindness };
      this.#endUnconfirmed(blindness.sinceMs);
    }
    if (before.state !== state) this.#log(reason);
    this.#keepWriting();
  }

  /** A snapshot was dropped since `sinceMs` while the stream is live. While the link is blind, this adds nothing. */
  snapshotDropped(sinceMs: number, cause: string): void {
    const { blindness } = this.#standing;
    if (blindness && blindness.sinceMs <= sinceMs) return;
    if (!blindness) {
      const interval = endedAt({ sinceMs, cause }, this.#parts.runtime.nowMs());
      // While the store is down, intervals follow each other without a gap: merge them.
      const last = this.#unconfirmed.at(-1);
      if (last?.toMs === interval.fromMs) this.#unconfirmed.splice(-1, 1, { ...interval, fromMs: last.fromMs });
      else this.#unconfirmed.push(interval);
      return;
    }
    this.#addEnded(endedAt({ sinceMs, cause }, blindness.sinceMs));
    this.#keepWriting();
  }

  /**
   * A snapshot of that time is stored: a node that takes over counts from then, so earlier dropped snapshots must be
   * recorded as blind intervals.
   */
  confirmed(timeMs: number): void {
    const isOver = ({ toMs }: BlindInterval) => toMs <= timeMs;
    if (!this.#unconfirmed.some(isOver)) return;
    this.#addEnded(...this.#unconfirmed.filter(isOver));
    this.#unconfirmed = this.#unconfirmed.filter((interval) => !isOver(interval));
    this.#keepWriting();
  }

  /** Resolves when everything is stored, or when this node may no longer write it. */
  async written(): Promise<void> {
    await this.#writing;
  }

  /**
   * A clock that is behind reports the start too early, which is harmless, but must not report the end too early: so
   * the uncertainty is added to the end.
   */
  #end(blindness: Blindness, toMs: number): void {
    const uncertaintyMs = this.#parts.uncertaintyMs();
    const interval = endedAt(blindness, toMs + uncertaintyMs);
    this.#lastBlind = { toMs: interval.toMs, uncertaintyMs };
    this.#addEnded(interval);
  }

  /**
   * While the store is down, intervals wait in memory. Beyond the bound the two oldest are merged into one that covers
   * both.
   */
  #addEnded(...intervals: readonly BlindInterval[]): void {
    this.#ended.push(...intervals);
    while (this.#ended.length > maximalEnded) {
      const [first, second] = this.#ended as [BlindInterval, BlindInterval];
      const toMs = Math.max(first.toMs, second.toMs);
      this.#ended.splice(0, 2, { ...first, fromMs: Math.min(first.fromMs, second.fromMs), toMs });
    }
  }

  /**
   * Clamps a start to the end of the last interval, so that no time is recorded twice. If the clock was set back, the
   * start is kept.
   */
  #afterLast(sinceMs: number): number {
    const { toMs, uncertaintyMs } = this.#lastBlind;
    return toMs - sinceMs > uncertaintyMs ? sinceMs : Math.max(sinceMs, toMs);
  }

  #log(reason: string): void {
    const { userId, deviceId, ecosystem } = this.#parts.link;
    const { state } = this.#standing;
    this.#parts.runtime.report.info({ userId, deviceId, ecosystem, state, reason }, `the link is ${state}`);
  }

  /** The link is blind from `sinceMs` on; dropped snapshots before that are recorded as intervals of their own. */
  #endUnconfirmed(sinceMs: number): void {
    for (const { fromMs, toMs, cause } of this.#unconfirmed.splice(0)) {
      if (fromMs < sinceMs) this.#addEnded({ fromMs, toMs: Math.min(toMs, sinceMs), cause });
    }
  }

  #keepWriting(): void {
    if (!this.#isLost) this.#writing ??= this.#write();
  }

  /** Writes until the store has everything. Changes during an outage are written once, not each of them. */
  async #write(): Promise<void> {
    const { signal, runtime, failed } = this.#parts;
    let failures = 0;
    try {
      while (this.#written !== this.#standing || this.#ended.length > 0) {
        const standing = this.#standing;
        const ended = this.#ended.splice(0);
        try {
          await this.#parts.write(standing, ended);
          this.#written = standing;
          failures = 0;
        } catch (error) {
          this.#ended.unshift(...ended);
          this.#isLost = error instanceof OwnershipLost;
          if (this.#isLost || signal.aborted) return;
          failures = error instanceof StoreUnavailable ? 0 : failures + 1;
          if (failures > 0) failed(error);
          const delayMs = retry.everyMs * 2 ** Math.max(0, failures - 1);
          await pause(runtime, Math.min(delayMs, retry.atMostMs), signal);
        }
      }
    } catch (error) {
      failed(error);
    } finally {
      // In the same turn of the event loop as the last check; what is entered after it starts a writing of its own.
      this.#writing = undefined;
    }
  }
}

function endedAt({ sinceMs, cause }: Blindness, toMs: number): BlindInterval {
  return { fromMs: Math.min(sinceMs, toMs), toMs, cause };
}
