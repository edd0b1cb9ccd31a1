import type { Reach } from "../model/reach.ts";
import type { Store, Transaction } from "../store/seam.ts";
import { comparePositions, type LogPosition, type TailedEntry } from "../store/tables/log.ts";
import type { EventsOf } from "./client-events.ts";
import { type EventPlace, readEventId, readFrom } from "./event-id.ts";
import { eventFrame, heartbeatFrame, openingFrame, type ResyncReason, resyncFrame } from "./frames.ts";

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
  readonly store: Store<Pick<Transaction, "log">>;
  readonly reach: Reach;
  readonly eventsOf: EventsOf;
  /** Readers of the same reach and filter hear the same, byte for byte. */
  readonly groupKey: string;
  readonly outlet: EventOutlet;
  /** Until when the reader may read, on this node's own unjumping clock. */
  readonly untilMs: number;
}

/** Entries that are read at a time: enough to be quick, few enough to hold up nobody. */
export const entriesAtOnce = 500;
/** More than that unsent, and a live reader is too slow to be one. */
export const unsentLimit = 1_000_000;
/** A reader that catches up is sent no more than that before it has taken it. */
const unsentWhileCatchingUp = 256_000;
const patienceMs = 30_000;

/** Where the last stream broke off, or at the end of the log as it is now. */
export async function beginningAt(
  store: Store<Pick<Transaction, "log" | "clock">>,
  lastEventId: string | undefined,
): Promise<Beginning> {
  const { end, horizon, nowMs } = await store.read(async (tx) => ({
    end: await tx.log.end(),
    horizon: await tx.log.horizon(),
    nowMs: await tx.clock.nowMs(),
  }));
  const anew = (frame: string) => ({ place: { position: end }, frames: openingFrame + frame });
  if (lastEventId === undefined) return anew(heartbeatFrame(end, nowMs));
  const place = readEventId(lastEventId);
  // A place beyond the end is one of another log: of a store that was since brought back from a backup.
  if (!place || comparePositions(place.position, end) > 0) return anew(resyncFrame(end, "unknown_id"));
  if (comparePositions(readFrom(place), horizon) < 0) return anew(resyncFrame(end, "past_retention"));
  return { place, frames: openingFrame };
}

/** One open stream: it catches up at its own pace, then the hub feeds it together with all others. */
export class EventReader {
  readonly parts: ReaderParts;
  #place: EventPlace;

  constructor(parts: ReaderParts, { place, frames }: Beginning) {
    this.parts = parts;
    this.#place = place;
    parts.outlet.write(Buffer.from(frames));
  }

  /** From here on the log must be read for it. */
  get after(): LogPosition {
    return readFrom(this.#place);
  }

  get isClosed(): boolean {
    return this.parts.outlet.closed.aborted;
  }

  /** Reads on until there is next to nothing left that it hasn't been sent. False: it is gone. */
  async catchUp(): Promise<boolean> {
    const { store, outlet } = this.parts;
    while (!this.isClosed) {
      const { page, end, horizon } = await store.read(async (tx) => ({
        page: await tx.log.tail(this.after, entriesAtOnce),
        end: await tx.log.end(),
        horizon: await tx.log.horizon(),
      }));
      if (comparePositions(this.after, horizon) < 0) this.#resync(end, "past_retention");
      else {
        const isAllSent = this.#sendWhileTaken(page);
        if (isAllSent && page.length < entriesAtOnce) return !this.isClosed;
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
      if (order < 0 || told === undefined || !isWithin(this.parts.reach, entry)) continue;
      for (const event of this.parts.eventsOf(entry, told)) frames += eventFrame(event);
    }
    return frames;
  }

  /** It can't be served on: it is told that it misses something, and where it could go on. */
  cutOff(position: LogPosition): void {
    this.#resync(position, "too_slow");
    this.parts.outlet.end();
  }

  #sendWhileTaken(entries: readonly TailedEntry[]): boolean {
    const { outlet } = this.parts;
    let frames = "";
    for (const entry of entries) {
      frames += this.framesOf([entry]);
      this.#place = { position: entry.position };
      if (frames.length + outlet.unsent > unsentWhileCatchingUp) {
        outlet.write(Buffer.from(frames));
        // The rest is read again once this is taken: a client that stops reading must not hold it in our memory.
        return false;
      }
    }
    if (frames !== "") outlet.write(Buffer.from(frames));
    return true;
  }

  #resync(position: LogPosition, reason: ResyncReason): void {
    this.#place = { position };
    this.parts.outlet.write(Buffer.from(resyncFrame(position, reason)));
  }
}

/** The one rule of who hears what: a user their own, a tenant's client what belongs to its users. */
export function isWithin(reach: Reach, { userId, tenantId }: TailedEntry): boolean {
  return reach.kind === "user" ? userId === reach.userId : tenantId === reach.tenantId;
}
