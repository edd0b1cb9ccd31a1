import type { AccessScope } from "../model/access-scope.ts";
import type { Store, Transaction } from "../store/seam.ts";
import { comparePositions, type LogPosition, type TailedEntry } from "../store/tables/log.ts";
import type { EventsOf } from "./client-events.ts";
import { type EventPlace, readEventId, readFrom, resumedPlace } from "./event-id.ts";
import { eventFrame, heartbeatFrame, openingFrame, type ResyncReason, resyncFrame } from "./frames.ts";

export type LogTables = Pick<Transaction, "log" | "logEpoch">;

/** Where a reader's bytes go. */
export interface EventOutlet {
  write(bytes: Buffer): void;
  readonly unsent: number;
  taken(withinMs: number): Promise<boolean>;
  end(): void;
  readonly closed: AbortSignal;
}

/** Where a stream begins, and what its reader hears first. */
export interface Beginning {
  readonly place: EventPlace;
  readonly frames: string;
}

export interface ReaderParts {
  readonly store: Store<LogTables>;
  readonly accessScope: AccessScope;
  readonly eventsOf: EventsOf;
  /** Readers of the same reach and filter hear the same, byte for byte. */
  readonly groupKey: string;
  readonly outlet: EventOutlet;
  /** Until when the reader may read, on this node's own unjumping clock. */
  readonly untilMs: number;
  /** The heartbeat interval that the client asked for; undefined for the default interval. */
  readonly heartbeatSeconds?: number | undefined;
}

/** Entries that are read at a time: enough to be quick, few enough to hold up nobody. */
export const entriesAtOnce = 500;
const firstEntriesAtOnce = 50;
/** More than that unsent, and a live reader is too slow to be one. */
export const unsentLimit = 1_000_000;
/** A reader that catches up is sent no more than that before it has taken it. */
const unsentWhileCatchingUp = 256_000;
const patienceMs = 30_000;

/** Where the last stream broke off, or at the end of the log as it is now. */
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
  const here: EventPlace = { epoch: epoch.name, position: end };
  const anew = (frame: string) => ({ place: here, frames: openingFrame + frame });
  if (lastEventId === undefined) return anew(heartbeatFrame(here, nowMs, heartbeatSeconds));
  const place = sent && resumedPlace(sent, { epoch, end, isHeld });
  if (!place) return anew(resyncFrame(here, sent?.epoch === undefined ? "unknown_id" : "restored"));
  if (comparePositions(readFrom(place), horizon) < 0) return anew(resyncFrame(here, "past_retention"));
  return { place, frames: openingFrame };
}

/** One open stream: it catches up at its own pace, then the hub feeds it together with all others. */
export class EventReader {
  readonly parts: ReaderParts;
  #place: EventPlace;
  /** How many entries the next read brings. Few when entries are large: what can't be sent is read again. */
  #atOnce = firstEntriesAtOnce;

  constructor(parts: ReaderParts, { place, frames }: Beginning) {
    this.parts = parts;
    this.#place = place;
    parts.outlet.write(Buffer.from(frames));
  }

  /** From here on the log must be read for it. */
  get after(): LogPosition {
    return readFrom(this.#place);
  }

  /** The epoch of the log that it reads. */
  get epoch(): string {
    return this.#place.epoch;
  }

  get isClosed(): boolean {
    return this.parts.outlet.closed.aborted;
  }

  /** Reads on until there is next to nothing left that it hasn't been sent. False: it is gone. */
  async catchUp(): Promise<boolean> {
    const { store, outlet } = this.parts;
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
      if (outlet.unsent > unsentWhileCatchingUp && !(await outlet.taken(patienceMs))) outlet.end();
    }
    return false;
  }

  /** What of these entries it has not been sent yet, as one piece. */
  framesOf(entries: readonly TailedEntry[]): string {
    let frames = "";
    for (const entry of entries) {
      const order = comparePositions(entry.position, this.#place.position);
      const told = order === 0 ? this.#place.told : 0;
      if (order < 0 || told === undefined || !isWithin(this.parts.accessScope, entry)) continue;
      for (const event of this.parts.eventsOf(entry, this.epoch, told)) frames += eventFrame(event);
    }
    return frames;
  }

  /** It can't be served on: it is told that it misses something, and where it could go on. */
  cutOff(position: LogPosition): void {
    this.resync({ epoch: this.epoch, position }, "too_slow");
    this.parts.outlet.end();
  }

  /** Answers how many of the entries were sent. */
  #sendWhileTaken(entries: readonly TailedEntry[]): number {
    const { outlet } = this.parts;
    let frames = "";
    for (const [at, entry] of entries.entries()) {
      frames += this.framesOf([entry]);
      this.#place = { epoch: this.epoch, position: entry.position };
      if (frames.length + outlet.unsent > unsentWhileCatchingUp) {
        outlet.write(Buffer.from(frames));
        // The rest is read again once this is taken: a client that stops reading must not hold it in our memory.
        return at + 1;
      }
    }
    if (frames !== "") outlet.write(Buffer.from(frames));
    return entries.length;
  }

  /** Tells the client that it misses something and has to read its devices anew; its stream continues from there. */
  resync(place: EventPlace, reason: ResyncReason): void {
    this.#place = place;
    this.parts.outlet.write(Buffer.from(resyncFrame(place, reason)));
  }
}

/** The one rule of who hears what: a user their own, a tenant's client what belongs to its users. */
export function isWithin(accessScope: AccessScope, { userId, tenantId }: TailedEntry): boolean {
  return accessScope.kind === "user" ? userId === accessScope.userId : tenantId === accessScope.tenantId;
}
