import type { Runtime } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { TailedEntry } from "../store/tables/log.ts";
import { comparePositions, type LogPosition } from "../store/tables/log-position.ts";
import { type BeatParts, CatchUpBeats } from "./catch-up-beats.ts";
import type { EventsOf } from "./client-events.ts";
import { type ResumePoint, readEventId, readFrom, resumePointOf } from "./event-id.ts";
import { type EventScope, isWithin } from "./event-scope.ts";
import { eventFrame, heartbeatFrame, openingFrame, type ResyncReason, resyncFrame } from "./frames.ts";
import { type LogPage, type LogTables, readLogPage } from "./log-page.ts";
import type { ReadTurns, TurnOwner } from "./read-turns.ts";

/** Writes the bytes of a stream; see `StreamWriter` in http/answer/open-stream.ts. */
export interface EventWriter {
  write(bytes: Buffer): void;
  readonly unsentBytes: number;
  drained(withinMs: number): Promise<boolean>;
  end(): void;
  readonly closed: AbortSignal;
}

/** Where a stream begins, and its first bytes. */
export interface Beginning {
  readonly resumePoint: ResumePoint;
  readonly frames: string;
}

export interface ReaderParts extends BeatParts {
  readonly store: Store<LogTables>;
  readonly accessScope: EventScope;
  readonly eventsOf: EventsOf;
  /** Readers with the same key (access scope, filter and interval) get the same bytes. */
  readonly groupKey: string;
  readonly writer: EventWriter;
  readonly runtime: BeatParts["runtime"] & Pick<Runtime, "elapsedMs">;
  /** The streams of this node that catch up share their reads. */
  readonly readTurns: Pick<ReadTurns, "page">;
  readonly turnOwner: TurnOwner;
  /** Resolves when this node has read which access has ended; nothing is sent before that. */
  readonly revocationsRead: () => Promise<void>;
  /** When the reader's access ends, on this node's monotonic clock. */
  readonly untilMs: number;
}

/** Reads at once of all streams of a node that catch up. Other reads of the store need connections too. */
export const readsAtOnce = 2;
/** Entries per read: enough for throughput, few enough not to block others. */
export const entriesAtOnce = 500;
const firstEntriesAtOnce = 50;
/** A live reader with more unsent bytes is too slow and is cut off. */
export const unsentLimit = 1_000_000;
/** Bound of unsent bytes while a reader catches up. */
const unsentWhileCatchingUp = 256_000;
const patienceMs = 30_000;

/** The beginning of a stream: after the client's last event, or at the present end of the log. */
export async function beginningAt(
  store: Store<LogTables & Pick<Transaction, "clock">>,
  lastEventId: string | undefined,
  heartbeatSeconds?: number,
): Promise<Beginning> {
  const sent = lastEventId === undefined ? undefined : readEventId(lastEventId);
  const { epoch, end, horizon, nowMs, isHeld } = await store.read(async (tx) => {
    const [epoch, end, horizon, nowMs, isHeld] = await Promise.all([
      tx.logEpoch.current(),
      tx.log.end(),
      tx.log.horizon(),
      tx.clock.nowMs(),
      sent !== undefined && sent.epoch === undefined && tx.log.holds(sent.position),
    ]);
    return { epoch, end, horizon, nowMs, isHeld };
  });
  const logEnd: ResumePoint = { epoch: epoch.name, position: end };
  const startAtEnd = (frame: string) => ({ resumePoint: logEnd, frames: openingFrame + frame });
  if (lastEventId === undefined) return startAtEnd(heartbeatFrame(logEnd, nowMs, heartbeatSeconds));
  const resumePoint = sent && resumePointOf(sent, { epoch, end, isHeld });
  if (!resumePoint) return startAtEnd(resyncFrame(logEnd, sent?.epoch === undefined ? "unknown_id" : "restored"));
  if (comparePositions(readFrom(resumePoint), horizon) < 0) return startAtEnd(resyncFrame(logEnd, "past_retention"));
  return { resumePoint, frames: openingFrame };
}

/** One open stream. It catches up at its own pace, then the hub feeds it together with all others. */
export class EventReader {
  readonly parts: ReaderParts;
  #resumePoint: ResumePoint;
  /** Entries of the next read. Few when entries are large: entries that can't be sent are read again. */
  #atOnce = firstEntriesAtOnce;
  readonly #beats: CatchUpBeats;

  constructor(parts: ReaderParts, { resumePoint, frames }: Beginning) {
    this.parts = parts;
    this.#beats = new CatchUpBeats(parts);
    this.#resumePoint = resumePoint;
    parts.writer.write(Buffer.from(frames));
  }

  /** The position after which the log must be read for this reader. */
  get after(): LogPosition {
    return readFrom(this.#resumePoint);
  }

  get epoch(): string {
    return this.#resumePoint.epoch;
  }

  get isClosed(): boolean {
    return this.parts.writer.closed.aborted;
  }

  /** Whether the client was told that the stream catches up, and not yet that it is current. */
  get isBehind(): boolean {
    return this.#beats.isBehind;
  }

  /** Sends entries until almost none are left; false when the client has disconnected or its access has ended. */
  async catchUp(): Promise<boolean> {
    const stopBeats = this.#beats.start(() => (this.#endIfExpired() ? undefined : this.#resumePoint));
    try {
      while (!this.isClosed) {
        const page = await this.#readNext();
        if (!page) return false;
        if (page.read.entries.length > 0) await this.parts.revocationsRead();
        if (this.#endIfExpired()) return false;
        if (this.#send(page)) return !this.isClosed;
        await this.#drain();
      }
      return false;
    } finally {
      stopBeats();
    }
  }

  /** The client gets a heartbeat that says that it is current. */
  caughtUp(): void {
    this.#beats.isOver();
  }

  /** The frames of these entries that the client has not been sent yet. */
  framesOf(entries: readonly TailedEntry[]): string {
    let frames = "";
    for (const entry of entries) {
      const order = comparePositions(entry.position, this.#resumePoint.position);
      const sentChanges = order === 0 ? this.#resumePoint.sentChanges : 0;
      if (order < 0 || sentChanges === undefined || !isWithin(this.parts.accessScope, entry)) continue;
      for (const event of this.parts.eventsOf(entry, this.epoch, sentChanges)) frames += eventFrame(event);
    }
    return frames;
  }

  /** Ends the stream of a slow client, with a resync that says where it can resume. */
  cutOff(position: LogPosition): void {
    this.resync({ epoch: this.epoch, position }, "too_slow");
    this.parts.writer.end();
  }

  /** The first few entries are read at once: most streams miss no more. Undefined when the stream is closed. */
  #readNext(): Promise<LogPage | undefined> {
    const { store, readTurns, turnOwner: owner, writer } = this.parts;
    const { after, epoch } = this;
    if (!this.isBehind) return readLogPage(store, after, this.#atOnce);
    return readTurns.page({ owner, epoch, after, limit: this.#atOnce, closed: writer.closed });
  }

  /** Sends what was read; returns whether almost nothing is left. */
  #send(page: LogPage): boolean {
    const { epoch, entries, isLast, end, horizon } = page.read;
    if (epoch !== this.epoch) this.resync({ epoch, position: end }, "restored");
    else if (comparePositions(this.after, horizon) < 0) this.resync({ epoch, position: end }, "past_retention");
    else {
      const { after } = this;
      const { frames, reached } = this.#firstFrames(page);
      const isCut = reached !== entries.at(-1);
      const isAll = isLast && !isCut;
      // Before the first old event, so that no client takes it for a sign that it is current.
      if (!isAll && !this.isBehind) this.#beats.announce(entries[0]!.timeMs, this.#resumePoint);
      if (frames !== "") this.parts.writer.write(Buffer.from(frames));
      // The page may have been read for a stream that was further behind.
      if (reached && comparePositions(reached.position, after) > 0) {
        this.#resumePoint = { epoch, position: reached.position };
        this.#beats.reached(reached.timeMs);
      }
      if (isAll) return true;
      this.#atOnce = isCut ? page.count(after, this.after) : Math.min(entriesAtOnce, this.#atOnce * 2);
    }
    return false;
  }

  async #drain(): Promise<void> {
    const { writer } = this.parts;
    if (writer.unsentBytes > unsentWhileCatchingUp && !(await writer.drained(patienceMs))) writer.end();
  }

  #endIfExpired(): boolean {
    const { runtime, untilMs, writer } = this.parts;
    if (runtime.elapsedMs() < untilMs) return false;
    writer.end();
    return true;
  }

  /**
   * The frames up to the bound of unsent bytes, and the last entry that they include. The rest is read again when the
   * client has taken these, so that a client which stops reading does not fill the memory.
   */
  #firstFrames(page: LogPage): { readonly frames: string; readonly reached: TailedEntry | undefined } {
    const { accessScope, writer } = this.parts;
    let frames = "";
    for (const entry of page.within(accessScope)) {
      frames += this.framesOf([entry]);
      if (frames.length + writer.unsentBytes > unsentWhileCatchingUp) return { frames, reached: entry };
    }
    return { frames, reached: page.read.entries.at(-1) };
  }

  /**
   * Tells the client that events are missing and that it has to read its devices again; the stream continues from
   * there.
   */
  resync(resumePoint: ResumePoint, reason: ResyncReason): void {
    this.#resumePoint = resumePoint;
    this.parts.writer.write(Buffer.from(resyncFrame(resumePoint, reason)));
  }
}
