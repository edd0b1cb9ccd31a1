import type { TimeSlices, TurnOwner } from "../runtime/time-slices.ts";
import type { TailedEntry } from "../store/tables/log.ts";
import { comparePositions, type LogPosition } from "../store/tables/log-position.ts";
import type { Beginning } from "./beginning.ts";
import { type BeatParts, CatchUpBeats } from "./catch-up-beats.ts";
import type { EventsOf } from "./client-events.ts";
import { type ResumePoint, readFrom } from "./event-id.ts";
import { type EventScope, isWithin } from "./event-scope.ts";
import { eventFrame, type ResyncReason, resyncFrame } from "./frames.ts";
import type { LogPage } from "./log-page.ts";
import type { ReadTurns } from "./read-turns.ts";
import type { Frames } from "./shared-frames.ts";

/** Writes the bytes of a stream; see `StreamWriter` in http/answer/open-stream.ts. */
export interface EventWriter {
  write(bytes: Buffer): void;
  readonly unsentBytes: number;
  drained(withinMs: number): Promise<boolean>;
  end(): void;
  readonly closed: AbortSignal;
}

export interface ReaderParts extends BeatParts {
  readonly accessScope: EventScope;
  readonly eventsOf: EventsOf;
  /** Readers with the same key (access scope, filter and interval) get the same bytes. */
  readonly groupKey: string;
  readonly writer: EventWriter;
  /** The streams of this node share their reads. The first read of a stream does not wait for streams that catch up. */
  readonly firstReads: Pick<ReadTurns, "page">;
  readonly readTurns: Pick<ReadTurns, "page">;
  /** All streams of this node make their bytes in the same time slices. */
  readonly timeSlices: Pick<TimeSlices, "run">;
  readonly turnOwner: TurnOwner;
  /** Resolves when this node has read which access has ended; nothing is sent before that. */
  readonly revocationsRead: () => Promise<void>;
  /** True when the reader's access has ended. */
  readonly hasExpired: () => boolean;
}

/**
 * Reads at once of all streams of a node that begin, and of all that catch up. Other reads of the store need connections
 * too.
 */
export const readsAtOnce = 2;
/** Entries per read: enough for throughput, few enough not to block others. */
export const entriesAtOnce = 500;
const firstEntriesAtOnce = 50;
/** A live reader with more unsent bytes is too slow and is cut off. */
export const unsentLimit = 1_000_000;
/** Bound of unsent bytes while a reader catches up. */
const unsentWhileCatchingUp = 256_000;
const patienceMs = 30_000;

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
    const { timeSlices, turnOwner } = this.parts;
    const stopBeats = this.#beats.start(() => (this.#endIfExpired() ? undefined : this.#resumePoint));
    try {
      while (!this.isClosed) {
        const page = await this.#readNext();
        if (!page) return false;
        if (page.read.entries.length > 0) await this.parts.revocationsRead();
        const sent = await timeSlices.run(turnOwner, () => (this.#hasEnded() ? "ended" : this.#send(page)));
        if (sent === "ended") return false;
        if (sent === "all") return !this.isClosed;
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

  /** The first few entries are read soon: most streams miss no more. Undefined when the stream is closed. */
  #readNext(): Promise<LogPage | undefined> {
    const { firstReads, readTurns, turnOwner: owner, writer } = this.parts;
    const { after, epoch } = this;
    const reads = this.isBehind ? readTurns : firstReads;
    return reads.page({ owner, epoch, after, limit: this.#atOnce, closed: writer.closed });
  }

  /** Sends what was read; "all" if almost nothing is left. */
  #send(page: LogPage): "all" | "part" {
    const { epoch, entries, isLast, end, horizon } = page.read;
    if (epoch !== this.epoch) this.resync({ epoch, position: end }, "restored");
    else if (comparePositions(this.after, horizon) < 0) this.resync({ epoch, position: end }, "past_retention");
    else {
      const { after } = this;
      const { bytes, reached } = this.#nextFrames(page);
      const isCut = reached !== entries.at(-1);
      const isAll = isLast && !isCut;
      // Before the first old event, so that no client takes it for a sign that it is current.
      if (!isAll && !this.isBehind) this.#beats.announce(page.next(after)!.timeMs, this.#resumePoint);
      if (bytes.length > 0) this.parts.writer.write(bytes);
      // The page may have been read for a stream that was further behind.
      if (reached && comparePositions(reached.position, after) > 0) {
        this.#resumePoint = { epoch, position: reached.position };
        this.#beats.reached(reached.timeMs);
      }
      if (isAll) return "all";
      this.#atOnce = isCut ? page.count(after, this.after) : Math.min(entriesAtOnce, this.#atOnce * 2);
    }
    return "part";
  }

  async #drain(): Promise<void> {
    const { writer } = this.parts;
    if (writer.unsentBytes > unsentWhileCatchingUp && !(await writer.drained(patienceMs))) writer.end();
  }

  #hasEnded(): boolean {
    return this.isClosed || this.#endIfExpired();
  }

  #endIfExpired(): boolean {
    const { hasExpired, writer } = this.parts;
    if (!hasExpired()) return false;
    writer.end();
    return true;
  }

  /** The next frames for the client. A stream that is at the same position as others of its group shares theirs. */
  #nextFrames(page: LogPage): Frames {
    const { groupKey, writer } = this.parts;
    const { position, sentChanges } = this.#resumePoint;
    const isShared = writer.unsentBytes === 0 && sentChanges === undefined;
    return isShared ? page.frames.of(groupKey, position, () => this.#firstFrames(page)) : this.#firstFrames(page);
  }

  /**
   * The frames up to the bound of unsent bytes. The rest is read again when the client has taken these, so that a client
   * which stops reading does not fill the memory.
   */
  #firstFrames(page: LogPage): Frames {
    const { accessScope, writer } = this.parts;
    let frames = "";
    for (const entry of page.within(accessScope)) {
      const own = this.framesOf([entry]);
      frames += own;
      const isFull = frames.length + writer.unsentBytes > unsentWhileCatchingUp;
      // Only an entry that was not sent before can be the last one: the stream must advance.
      if (isFull && own !== "") return { bytes: Buffer.from(frames), reached: entry };
    }
    return { bytes: Buffer.from(frames), reached: page.read.entries.at(-1) };
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
