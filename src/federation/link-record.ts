import { OwnershipLost, StoreUnavailable } from "../model/errors.ts";
import { pause, type Runtime } from "../runtime/runtime.ts";
import type { BlindInterval } from "../store/tables/blind-intervals.ts";
import type { Blindness, LinkRow, LinkState } from "../store/tables/links.ts";
import type { LinkKey } from "./link-key.ts";

/** How a link stands, as one piece: what shows, and since when an event could not have been seen. */
export interface LinkStanding {
  readonly state: LinkState;
  readonly reason: string;
  /** Null while its stream is live. */
  readonly blindness: Blindness | null;
}

export interface LinkRecordParts {
  readonly link: LinkKey;
  /** Makes it durable; rejects when the store can't. */
  readonly write: (standing: LinkStanding, ended: readonly BlindInterval[]) => Promise<void>;
  readonly runtime: Runtime;
  /** By how much the clock may be behind. */
  readonly unsureMs: () => number;
  /** The store refused a write for another reason than being down: it is tried again after a growing pause. */
  readonly failed: (error: unknown) => void;
  readonly signal: AbortSignal;
}

const retry = { everyMs: 1_000, atMostMs: 300_000 };
/** Blind intervals that wait for the store. */
const endedAtMost = 1_000;

/**
 * The state of one link over time. It changes at once in memory, where its owner derives presence from it; the store
 * gets it as soon as it can, with every blind interval that has ended.
 */
export class LinkRecord {
  readonly #parts: LinkRecordParts;
  #standing: LinkStanding;
  #written: LinkStanding;
  #ended: BlindInterval[] = [];
  /** Passed over while live, and nothing later stored yet. Whoever took over now would count from before them anyway. */
  #unconfirmed: BlindInterval[] = [];
  /** The end of the last blind interval, and by how much it may be told too late. */
  #last = { toMs: 0, unsureMs: 0 };
  #writing: Promise<void> | undefined;
  /** An epoch that was lost never comes back: nothing of this record is the store's to have any more. */
  #isLost = false;

  constructor(parts: LinkRecordParts, row: LinkRow) {
    this.#parts = parts;
    this.#written = row;
    // A link that was live when its node ended has been blind since the ecosystem was last known to confirm it.
    this.#standing =
      row.state === "live"
        ? {
            state: "waiting",
            reason: "starting",
            blindness: { sinceMs: row.confirmedMs, cause: "not followed by any node" },
          }
        : { ...row, blindness: row.blindness ?? { sinceMs: row.confirmedMs, cause: row.reason } };
  }

  get standing(): LinkStanding {
    return this.#standing;
  }

  /** Whether the store has all that is so. */
  get isWritten(): boolean {
    return this.#written === this.#standing && this.#ended.length === 0;
  }

  /** Until then it has been told as blind, whatever was received before; 0 when nothing was told yet. */
  get toldUntilMs(): number {
    return this.#last.toMs;
  }

  /** `forMs`: for how long it had been so when that was noticed (nothing heard, or the account received). */
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
    if (before.state !== state) this.#tell(reason);
    this.#keepWriting();
  }

  /** Something was passed over although the stream is live. While the link is blind anyway, that is no news. */
  passedOver(sinceMs: number, cause: string): void {
    const { blindness } = this.#standing;
    if (blindness && blindness.sinceMs <= sinceMs) return;
    if (!blindness) {
      const interval = endedAt({ sinceMs, cause }, this.#parts.runtime.nowMs());
      // A store that is down for hours has passed over one after another: that is one stretch.
      const last = this.#unconfirmed.at(-1);
      if (last?.toMs === interval.fromMs) this.#unconfirmed.splice(-1, 1, { ...interval, fromMs: last.fromMs });
      else this.#unconfirmed.push(interval);
      return;
    }
    this.#addEnded(endedAt({ sinceMs, cause }, blindness.sinceMs));
    this.#keepWriting();
  }

  /** What the ecosystem said at that time is stored: who takes over from here on counts from then. */
  confirmed(timeMs: number): void {
    const isOver = ({ toMs }: BlindInterval) => toMs <= timeMs;
    if (!this.#unconfirmed.some(isOver)) return;
    this.#addEnded(...this.#unconfirmed.filter(isOver));
    this.#unconfirmed = this.#unconfirmed.filter((interval) => !isOver(interval));
    this.#keepWriting();
  }

  /** Resolves when the store has what is so, or when that is no longer ours to write. */
  async written(): Promise<void> {
    await this.#writing;
  }

  /** A clock that may be behind tells early when something began, which is well, and must not when it is over. */
  #end(blindness: Blindness, toMs: number): void {
    const unsureMs = this.#parts.unsureMs();
    const interval = endedAt(blindness, toMs + unsureMs);
    this.#last = { toMs: interval.toMs, unsureMs };
    this.#addEnded(interval);
  }

  /** While the store is down intervals wait in memory. Beyond the bound the two oldest become one that covers both. */
  #addEnded(...intervals: readonly BlindInterval[]): void {
    this.#ended.push(...intervals);
    while (this.#ended.length > endedAtMost) {
      const [first, second] = this.#ended as [BlindInterval, BlindInterval];
      const toMs = Math.max(first.toMs, second.toMs);
      this.#ended.splice(0, 2, { ...first, fromMs: Math.min(first.fromMs, second.fromMs), toMs });
    }
  }

  /** What is told as blind already is not told again; but a clock that was set back has told nothing yet. */
  #afterLast(sinceMs: number): number {
    const { toMs, unsureMs } = this.#last;
    return toMs - sinceMs > unsureMs ? sinceMs : Math.max(sinceMs, toMs);
  }

  #tell(reason: string): void {
    const { userId, deviceId, ecosystem } = this.#parts.link;
    const { state } = this.#standing;
    this.#parts.runtime.report.info({ userId, deviceId, ecosystem, state, reason }, `the link is ${state}`);
  }

  /** From `sinceMs` on the link is blind as a whole; what was passed over before is told beside it. */
  #endUnconfirmed(sinceMs: number): void {
    for (const { fromMs, toMs, cause } of this.#unconfirmed.splice(0)) {
      if (fromMs < sinceMs) this.#addEnded({ fromMs, toMs: Math.min(toMs, sinceMs), cause });
    }
  }

  #keepWriting(): void {
    if (!this.#isLost) this.#writing ??= this.#write();
  }

  /** While the store can't be reached, what changes meanwhile is written once, not each time. */
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
      // In the same turn as the last look: what is entered after it starts a writing of its own.
      this.#writing = undefined;
    }
  }
}

function endedAt({ sinceMs, cause }: Blindness, toMs: number): BlindInterval {
  return { fromMs: Math.min(sinceMs, toMs), toMs, cause };
}
