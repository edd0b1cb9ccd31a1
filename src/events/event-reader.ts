import type { Runtime } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { TailedEntry } from "../store/tables/log.ts";
import { comparePositions, type LogPosition } from "../store/tables/log-position.ts";
import { type BeatParts, CatchUpBeats } from "./catch-up-beats.ts";
import type { EventsOf } from "./client-events.ts";
import { type ResumePoint, readEventId, readFrom, resumePointOf } from "./event-id.ts";
import { type EventScope, isWithin } from "./event-scope.ts";
import { eventFrame, heartbeatFrame, openingFrame, type ResyncReason, resyncFrame } from "./frames.ts";
import type { ReadTurns } from "./read-turns.ts";

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

export interface ReaderParts extends BeatParts {
  readonly store: Store<LogTables>;
  readonly accessScope: EventScope;
  readonly eventsOf: EventsOf;
  /** Readers with the same key (access scope, filter and interval) get the same bytes. */
  readonly groupKey: string;
  readonly writer: EventWriter;
  readonly runtime: BeatParts["runtime"] & Pick<Runtime, "elapsedMs">;
  /** Lets the event loop serve others. */
  readonly turn: () => Promise<void>;
  /** The streams of this node that catch up share their reads. */
  readonly readTurns: Pick<ReadTurns, "run">;
  /** Resolves when this node has read which access has ended; nothing is sent before that. */
  readonly revocationsRead: () => Promise<void>;
  /** When the reader's access ends, on this node's monotonic clock. */
  readonly untilMs: number;
}

interface LogPage {
  readonly epoch: string;
  readonly page: readonly TailedEntry[];
  readonly end: LogPosition;
  readonly horizon: LogPosition;
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
        const read = await this.#readNext();
        if (read.page.length > 0) await this.parts.revocationsRead();
        if (this.#endIfExpired()) return false;
        if (this.#send(read)) return !this.isClosed;
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

  /** The first few entries are read at once: most streams miss no more. */
  #readNext(): Promise<LogPage> {
    const { accessScope, readTurns, store } = this.parts;
    const read = () =>
      store.read(async (tx) => {
        const [epoch, page, end, horizon] = await Promise.all([
          tx.logEpoch.current(),
          tx.log.tail(this.after, this.#atOnce),
          tx.log.end(),
          tx.log.horizon(),
        ]);
        return { epoch: epoch.name, page, end, horizon };
      });
    return this.isBehind ? readTurns.run(ownerOf(accessScope), read) : read();
  }

  /** Sends what was read; returns whether almost nothing is left. */
  #send({ epoch, page, end, horizon }: LogPage): boolean {
    if (epoch !== this.epoch) this.resync({ epoch, position: end }, "restored");
    else if (comparePositions(this.after, horizon) < 0) this.resync({ epoch, position: end }, "past_retention");
    else {
      const isAll = page.length < this.#atOnce;
      // Before the first old event, so that no client takes it for a sign that it is current.
      if (!isAll && !this.isBehind) this.#beats.announce(page[0]!.timeMs, this.#resumePoint);
      const sent = this.#sendWhileTaken(page);
      if (isAll && sent === page.length) return true;
      this.#atOnce = sent < page.length ? sent : Math.min(entriesAtOnce, this.#atOnce * 2);
    }
    return false;
  }

  async #drain(): Promise<void> {
    const { writer, turn } = this.parts;
    if (writer.unsentBytes > unsentWhileCatchingUp && !(await writer.drained(patienceMs))) writer.end();
    // A read of SQLite does not leave the turn of the event loop, and most entries may be of other tenants.
    await turn();
  }

  #endIfExpired(): boolean {
    const { runtime, untilMs, writer } = this.parts;
    if (runtime.elapsedMs() < untilMs) return false;
    writer.end();
    return true;
  }

  /** Sends entries up to the bound of unsent bytes; returns how many. */
  #sendWhileTaken(entries: readonly TailedEntry[]): number {
    const { writer } = this.parts;
    let frames = "";
    for (const [at, entry] of entries.entries()) {
      frames += this.framesOf([entry]);
      this.#resumePoint = { epoch: this.epoch, position: entry.position };
      this.#beats.reached(entry.timeMs);
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

function ownerOf(accessScope: EventScope): string {
  switch (accessScope.kind) {
    case "user":
      return `user ${accessScope.userId}`;
    case "enterprise":
      return `tenant ${accessScope.tenantId}`;
    case "operator":
      return "operators";
  }
}
