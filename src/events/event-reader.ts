import type { Store, Transaction } from "../store/seam.ts";
import { comparePositions, type LogPosition, type TailedEntry } from "../store/tables/log.ts";
import type { EventsOf } from "./client-events.ts";
import { type ResumePoint, readEventId, readFrom, resumePointOf } from "./event-id.ts";
import { type EventScope, isWithin } from "./event-scope.ts";
import { eventFrame, heartbeatFrame, openingFrame, type ResyncReason, resyncFrame } from "./frames.ts";

export type LogTables = Pick<Transaction, "log" | "logEpoch">;

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

export interface ReaderParts {
  readonly store: Store<LogTables>;
  readonly accessScope: EventScope;
  readonly eventsOf: EventsOf;
  /** Readers with the same key (access scope, filter and interval) get the same bytes. */
  readonly groupKey: string;
  readonly writer: EventWriter;
  /** Lets the event loop serve others. */
  readonly turn: () => Promise<void>;
  /** When the reader's access ends, on this node's monotonic clock. */
  readonly untilMs: number;
  /** The heartbeat interval that the client asked for; undefined for the default interval. */
  readonly heartbeatSeconds?: number | undefined;
}

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

  constructor(parts: ReaderParts, { resumePoint, frames }: Beginning) {
    this.parts = parts;
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

  /** Sends entries until almost none are left; false when the client has disconnected. */
  async catchUp(): Promise<boolean> {
    const { store, writer, turn } = this.parts;
    while (!this.isClosed) {
      const { epoch, page, end, horizon } = await store.read(async (tx) => {
        const [epoch, page, end, horizon] = await Promise.all([
          tx.logEpoch.current(),
          tx.log.tail(this.after, this.#atOnce),
          tx.log.end(),
          tx.log.horizon(),
        ]);
        return { epoch: epoch.name, page, end, horizon };
      });
      if (epoch !== this.epoch) this.resync({ epoch, position: end }, "restored");
      else if (comparePositions(this.after, horizon) < 0) this.resync({ epoch, position: end }, "past_retention");
      else {
        const sent = this.#sendWhileTaken(page);
        if (sent === page.length && page.length < this.#atOnce) return !this.isClosed;
        this.#atOnce = sent < page.length ? sent : Math.min(entriesAtOnce, this.#atOnce * 2);
      }
      if (writer.unsentBytes > unsentWhileCatchingUp && !(await writer.drained(patienceMs))) writer.end();
      // A read of SQLite does not leave the turn of the event loop, and most entries may be of other tenants.
      await turn();
    }
    return false;
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

  /** Sends entries up to the bound of unsent bytes; returns how many. */
  #sendWhileTaken(entries: readonly TailedEntry[]): number {
    const { writer } = this.parts;
    let frames = "";
    for (const [at, entry] of entries.entries()) {
      frames += this.framesOf([entry]);
      this.#resumePoint = { epoch: this.epoch, position: entry.position };
      if (frames.length + writer.unsentBytes > unsentWhileCatchingUp) {
        writer.write(Buffer.from(frames));
        // The rest is read again when the client has taken this, so that a client which stops reading does not fill the
        // memory.
        return at + 1;
      }
    }
    if (frames !== "") writer.write(Buffer.from(frames));
    return entries.length;
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
