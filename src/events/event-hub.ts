import { type Cancel, outsideRequests, type Runtime } from "../runtime/runtime.ts";
import { sliceMs } from "../runtime/time-slices.ts";
import type { Store } from "../store/seam.ts";
import type { TailedEntry } from "../store/tables/log.ts";
import { comparePositions, type LogPosition } from "../store/tables/log-position.ts";
import type { EventsOf } from "./client-events.ts";
import { type EventReader, entriesAtOnce, unsentLimit } from "./event-reader.ts";
import { type EventScope, isWithin } from "./event-scope.ts";
import { eventFrame, heartbeatFrame, waitingFrame } from "./frames.ts";
import type { LogTables } from "./log-page.ts";

export interface HubParts {
  readonly store: Store<LogTables>;
  readonly runtime: Runtime;
  /** Whether this node receives hints at present when another node has appended to the log. */
  readonly receivesHints?: () => boolean;
  /** Resolves when this node has read which access has ended; nothing is sent before that. */
  readonly revocationsRead?: () => Promise<void>;
}

const hubTimes = { heartbeatMs: 15_000, pollMs: 250, hintedPollMs: 1_000, eagerMs: 20 };
/** Number of quick polls after an own commit that another open transaction still hides. */
const eagerPolls = 5;
/** Approximate size of a slice: connections get a turn to send between two slices. */
const sliceCharacters = 256_000;

/** Readers with equal access scope and filter: their bytes are made once and written to each. */
interface Group {
  readonly accessScope: EventScope;
  readonly eventsOf: EventsOf;
  readonly readers: Set<EventReader>;
  /** The heartbeat interval that these readers asked for; undefined for the default interval. */
  readonly heartbeatSeconds: number | undefined;
  nextBeat: Cancel;
}

/**
 * The one tail of the log in this node. It feeds all readers that have caught up: new entries go to all of them at
 * once, in the log's order. It reads the log after a commit of this node, after a hint from another node, and at
 * intervals in case a hint was lost. Without readers it does not read.
 */
export class EventHub {
  readonly #parts: HubParts;
  readonly #groups = new Map<string, Group>();
  /** Readers that have caught up except for the newest entries. They join their groups between two reads. */
  #joining: EventReader[] = [];
  /** Every entry up to this position was written to all readers in groups; undefined without readers. */
  #position: LogPosition | undefined;
  /** The epoch that the position belongs to. */
  #epoch: string | undefined;
  #round: Promise<void> | undefined;
  #isReadRequested = false;
  #eager = 0;
  #lastReadMs = 0;
  #nextPoll: Cancel | undefined;
  #isStopped = false;

  constructor(parts: HubParts) {
    this.#parts = parts;
  }

  /** Number of streams that this hub feeds. */
  get readers(): number {
    return this.#joining.length + [...this.#groups.values()].reduce((sum, { readers }) => sum + readers.size, 0);
  }

  /** Lets a reader catch up, then feeds it until it leaves. */
  async serve(reader: EventReader): Promise<void> {
    if (!(await reader.catchUp()) || this.#isStopped) return;
    this.#joining.push(reader);
    reader.parts.writer.closed.addEventListener("abort", () => this.#leave(reader), { once: true });
    this.wake();
  }

  /** Called when the log may have new entries. */
  wake(): void {
    if (this.#isStopped || (this.#groups.size === 0 && this.#joining.length === 0)) return;
    this.#isReadRequested = true;
    this.#eager = this.#parts.store.isShared ? eagerPolls : 0;
    this.#nextPoll?.();
    this.#round ??= outsideRequests(this.#parts.runtime, () => this.#work());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#nextPoll?.();
    for (const { nextBeat } of this.#groups.values()) nextBeat();
    await this.#round;
  }

  async #work(): Promise<void> {
    while (this.#isReadRequested && !this.#isStopped) {
      // Wait one turn, so that the changes of one tick are sent together.
      await this.#turn();
      this.#isReadRequested = false;
      try {
        if (await this.#readAndSend()) this.#isReadRequested = true;
        this.#lastReadMs = this.#parts.runtime.elapsedMs();
      } catch (error) {
        this.#parts.runtime.report.warn({ error }, "the log could not be read for event streams");
        break;
      }
    }
    this.#round = undefined;
    this.#resetIfUnused();
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isStopped || (this.#groups.size === 0 && this.#joining.length === 0)) return;
    const pollMs = this.#parts.receivesHints?.() ? hubTimes.hintedPollMs : hubTimes.pollMs;
    const delayMs = this.#eager > 0 ? hubTimes.eagerMs : pollMs;
    this.#eager = Math.max(0, this.#eager - 1);
    this.#nextPoll = this.#parts.runtime.after(delayMs, () => {
      this.#isReadRequested = true;
      this.#round ??= outsideRequests(this.#parts.runtime, () => this.#work());
    });
  }

  /** Reads new entries and sends them; returns whether there is more to read at once. */
  async #readAndSend(): Promise<boolean> {
    const joining = this.#joining;
    this.#joining = [];
    const from = earliest([...(this.#position ? [this.#position] : []), ...joining.map(({ after }) => after)]);
    if (!from) return false;
    let page: TailedEntry[];
    try {
      const { epoch, entries } = await this.#read(from);
      await this.#parts.revocationsRead?.();
      const isOther = (one: string | undefined) => one !== undefined && one !== epoch;
      if (isOther(this.#epoch) || joining.some((reader) => isOther(reader.epoch))) {
        await this.#resyncAll(joining);
        this.#joining.unshift(...joining);
        return true;
      }
      this.#epoch = epoch;
      page = entries;
    } catch (error) {
      this.#joining.unshift(...joining);
      throw error;
    }
    const isWhole = page.length < entriesAtOnce;
    const reached = page.at(-1)?.position ?? from;
    // Without readers in groups, the position starts at the first joining reader.
    this.#position ??= from;
    const position = this.#position;
    await this.#sendToGroups(page.filter((entry) => comparePositions(entry.position, position) > 0));
    // A page that is not full reaches the end of the log: no entry is left before the positions of joining readers
    // either, so the hub's position can advance to them.
    if (isWhole) this.#position = latest([this.#position, ...joining.map(({ after }) => after)]);
    await this.#inSlices(joining, (reader) => this.#admit(reader, page, isWhole, reached));
    return !isWhole;
  }

  #read(from: LogPosition): Promise<{ readonly epoch: string; readonly entries: TailedEntry[] }> {
    const body = async (tx: LogTables) => {
      const [epoch, entries] = await Promise.all([tx.logEpoch.current(), tx.log.tail(from, entriesAtOnce)]);
      return { epoch: epoch.name, entries };
    };
    return this.#parts.store.read(body, { soon: true });
  }

  /** After the store was restored or promoted: all readers get a resync and continue at the end of the new log. */
  async #resyncAll(joining: readonly EventReader[]): Promise<void> {
    const { epoch, end } = await this.#parts.store.read(async (tx) => {
      const [epoch, end] = await Promise.all([tx.logEpoch.current(), tx.log.end()]);
      return { epoch: epoch.name, end };
    });
    this.#epoch = epoch;
    if (this.#position) this.#position = end;
    for (const reader of [...[...this.#groups.values()].flatMap(({ readers }) => [...readers]), ...joining]) {
      if (reader.epoch !== epoch && !reader.isClosed) reader.resync({ epoch, position: end }, "restored");
    }
  }

  #admit(reader: EventReader, page: readonly TailedEntry[], isWhole: boolean, reached: LogPosition): void {
    if (reader.isClosed) return;
    const position = this.#position!;
    if (!isWhole && comparePositions(reader.after, position) > 0) {
      this.#joining.push(reader);
      return;
    }
    if (!isWhole && comparePositions(reached, position) < 0) {
      // The reader fell far behind while it waited: it must catch up again.
      void this.serve(reader).catch(() => reader.parts.writer.end());
      return;
    }
    this.#send(reader, Buffer.from(reader.framesOf(page)), position);
    const { groupKey, heartbeatSeconds } = reader.parts;
    const group = this.#groups.get(groupKey) ?? this.#newGroup(reader);
    group.readers.add(reader);
    // A resumed stream has no opening heartbeat, but its client must learn at once the interval and that it is current.
    if (heartbeatSeconds !== undefined || reader.isBehind) {
      this.#send(reader, this.#heartbeat(position, heartbeatSeconds), position);
    }
    reader.caughtUp();
  }

  /** Sends entries to the groups slice by slice, so that connections can send one slice before the next is made. */
  async #sendToGroups(entries: readonly TailedEntry[]): Promise<void> {
    let slice: TailedEntry[] = [];
    let characters = 0;
    for (const [i, entry] of entries.entries()) {
      slice.push(entry);
      characters += entry.body.length;
      const isLast = i === entries.length - 1;
      if (characters < sliceCharacters && !isLast) continue;
      this.#sendSlice(slice, entry.position);
      slice = [];
      characters = 0;
      if (!isLast) await this.#turn();
    }
  }

  #sendSlice(entries: readonly TailedEntry[], position: LogPosition): void {
    const byUser = Map.groupBy(entries, ({ userId }) => userId as number | null);
    const byTenant = Map.groupBy(entries, ({ tenantId }) => tenantId as number | null);
    for (const { accessScope, eventsOf, readers } of this.#groups.values()) {
      const own =
        accessScope.kind === "user"
          ? byUser.get(accessScope.userId)
          : accessScope.kind === "enterprise"
            ? byTenant.get(accessScope.tenantId)
            : entries.filter((entry) => isWithin(accessScope, entry));
      if (!own) continue;
      const frames = own.flatMap((entry) => eventsOf(entry, this.#epoch!).map(eventFrame)).join("");
      if (frames === "") continue;
      const bytes = Buffer.from(frames);
      for (const reader of readers) this.#send(reader, bytes, this.#position!);
    }
    this.#position = position;
  }

  /** `position`: where the reader can resume if it doesn't get these bytes. */
  #send(reader: EventReader, bytes: Buffer, position: LogPosition): void {
    const { writer, hasExpired } = reader.parts;
    if (hasExpired()) {
      writer.end();
      this.#leave(reader);
    } else if (writer.unsentBytes > unsentLimit) {
      reader.cutOff(position);
      this.#leave(reader);
    } else if (bytes.length > 0) writer.write(bytes);
  }

  #newGroup({ parts: { groupKey, accessScope, eventsOf, heartbeatSeconds } }: EventReader): Group {
    const group: Group = { accessScope, eventsOf, readers: new Set(), heartbeatSeconds, nextBeat: () => undefined };
    this.#groups.set(groupKey, group);
    this.#scheduleBeat(group);
    return group;
  }

  #scheduleBeat(group: Group): void {
    const { after } = this.#parts.runtime;
    group.nextBeat = after(intervalMs(group), () => this.#beat(group));
  }

  #beat(group: Group): void {
    const isCurrent = this.#parts.runtime.elapsedMs() - this.#lastReadMs < intervalMs(group);
    const position = this.#position;
    if (position) {
      const bytes = isCurrent ? this.#heartbeat(position, group.heartbeatSeconds) : Buffer.from(waitingFrame);
      for (const reader of group.readers) this.#send(reader, bytes, position);
    }
    if (!this.#isStopped && group.readers.size > 0) this.#scheduleBeat(group);
  }

  #heartbeat(position: LogPosition, everySeconds: number | undefined): Buffer {
    return Buffer.from(heartbeatFrame({ epoch: this.#epoch!, position }, this.#parts.runtime.nowMs(), everySeconds));
  }

  #leave(reader: EventReader): void {
    const { groupKey } = reader.parts;
    const group = this.#groups.get(groupKey);
    group?.readers.delete(reader);
    if (group?.readers.size === 0) {
      group.nextBeat();
      this.#groups.delete(groupKey);
    }
    this.#joining = this.#joining.filter((one) => one !== reader);
    this.#resetIfUnused();
  }

  /**
   * Resets the position when there is no reader, so that the next reader chooses where to begin. A running read still
   * needs it.
   */
  #resetIfUnused(): void {
    if (this.#groups.size > 0 || this.#round) return;
    this.#position = undefined;
    this.#epoch = undefined;
  }

  /** Thousands of streams may join after the same read: others have a turn after each time slice. */
  async #inSlices(readers: readonly EventReader[], act: (reader: EventReader) => void): Promise<void> {
    const { elapsedMs } = this.#parts.runtime;
    let endMs = elapsedMs() + sliceMs;
    for (const reader of readers) {
      if (elapsedMs() >= endMs) {
        await this.#turn();
        endMs = elapsedMs() + sliceMs;
      }
      act(reader);
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => this.#parts.runtime.after(0, resolve));
  }
}

/** The interval of a stream's heartbeats. */
export function intervalMs({ heartbeatSeconds }: Pick<Group, "heartbeatSeconds">): number {
  return heartbeatSeconds === undefined ? hubTimes.heartbeatMs : heartbeatSeconds * 1_000;
}

function earliest(positions: readonly LogPosition[]): LogPosition | undefined {
  return positions.toSorted(comparePositions)[0];
}

function latest(positions: readonly LogPosition[]): LogPosition {
  return positions.toSorted(comparePositions).at(-1)!;
}
