import type { AccessScope } from "../model/access-scope.ts";
import type { Cancel, Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import { comparePositions, type LogPosition, type TailedEntry } from "../store/tables/log.ts";
import type { EventsOf } from "./client-events.ts";
import { type EventReader, entriesAtOnce, type LogTables, unsentLimit } from "./event-reader.ts";
import { eventFrame, heartbeatFrame, waitingFrame } from "./frames.ts";

export interface HubParts {
  readonly store: Store<LogTables>;
  readonly runtime: Runtime;
  /** Whether the hub is told at present when another node has added to the log. */
  readonly isTold?: () => boolean;
  /** Resolves when those whose access has ended are gone; until then nobody is told anything. */
  readonly readersKnown?: () => Promise<void>;
}

export const hubTimes = { heartbeatMs: 15_000, pollMs: 250, toldPollMs: 1_000, eagerMs: 20 };
/** How often the log is looked at in haste after a commit of ours that another's transaction still hides. */
const eagerLooks = 5;
/** About so many bytes go to every reader before connections get their turn to take them. */
const sliceCharacters = 256_000;

/** Readers that hear the same: their bytes are made once and written to each. */
interface Group {
  readonly accessScope: AccessScope;
  readonly eventsOf: EventsOf;
  readonly readers: Set<EventReader>;
  /** The heartbeat interval that these readers asked for; undefined for the default interval. */
  readonly heartbeatSeconds: number | undefined;
  nextBeat: Cancel;
}

/**
 * The one tail of the log in this node. Whoever has caught up is fed from here: what became visible since the last look
 * goes to all of them at once, in the log's order. It looks when a commit of this node is durable, when it is told that
 * others wrote, and every now and then in case it wasn't; while nobody listens it doesn't look at all.
 */
export class EventHub {
  readonly #parts: HubParts;
  readonly #groups = new Map<string, Group>();
  /** Caught up but for what has come since; they become part of their groups between two looks. */
  #joining: EventReader[] = [];
  /** All that is before it has been written to every reader of every group; undefined while there is none. */
  #position: LogPosition | undefined;
  /** The epoch that the position belongs to. */
  #epoch: string | undefined;
  #round: Promise<void> | undefined;
  #isAwaited = false;
  #eager = 0;
  #seenMs = 0;
  #nextLook: Cancel | undefined;
  #isStopped = false;

  constructor(parts: HubParts) {
    this.#parts = parts;
  }

  /** How many streams are fed here. */
  get readers(): number {
    return this.#joining.length + [...this.#groups.values()].reduce((sum, { readers }) => sum + readers.size, 0);
  }

  /** Feeds a reader for as long as it stays, once it has caught up. */
  async serve(reader: EventReader): Promise<void> {
    if (!(await reader.catchUp()) || this.#isStopped) return;
    this.#joining.push(reader);
    reader.parts.outlet.closed.addEventListener("abort", () => this.#leave(reader), { once: true });
    this.wake();
  }

  /** Something may have been added to the log. */
  wake(): void {
    if (this.#isStopped || (this.#groups.size === 0 && this.#joining.length === 0)) return;
    this.#isAwaited = true;
    this.#eager = this.#parts.store.isShared ? eagerLooks : 0;
    this.#nextLook?.();
    this.#round ??= this.#work();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#nextLook?.();
    for (const { nextBeat } of this.#groups.values()) nextBeat();
    await this.#round;
  }

  async #work(): Promise<void> {
    while (this.#isAwaited && !this.#isStopped) {
      // The changes of one tick go out together.
      await this.#turn();
      this.#isAwaited = false;
      try {
        if (await this.#look()) this.#isAwaited = true;
        this.#seenMs = this.#parts.runtime.elapsedMs();
      } catch (error) {
        this.#parts.runtime.report.warn({ error }, "the log could not be read for those who follow it");
        break;
      }
    }
    this.#round = undefined;
    this.#forgetIfAlone();
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isStopped || (this.#groups.size === 0 && this.#joining.length === 0)) return;
    const pollMs = this.#parts.isTold?.() ? hubTimes.toldPollMs : hubTimes.pollMs;
    const delayMs = this.#eager > 0 ? hubTimes.eagerMs : pollMs;
    this.#eager = Math.max(0, this.#eager - 1);
    this.#nextLook = this.#parts.runtime.after(delayMs, () => {
      this.#isAwaited = true;
      this.#round ??= this.#work();
    });
  }

  /** Reads on and passes on; answers whether there is more to read at once. */
  async #look(): Promise<boolean> {
    const joining = this.#joining;
    this.#joining = [];
    const from = earliest([...(this.#position ? [this.#position] : []), ...joining.map(({ after }) => after)]);
    if (!from) return false;
    let page: TailedEntry[];
    try {
      const { epoch, entries } = await this.#read(from);
      await this.#parts.readersKnown?.();
      const isOther = (one: string | undefined) => one !== undefined && one !== epoch;
      if (isOther(this.#epoch) || joining.some((reader) => isOther(reader.epoch))) {
        await this.#startOver(joining);
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
    // Where nobody was fed yet, those who join begin.
    this.#position ??= from;
    const position = this.#position;
    await this.#passOn(page.filter((entry) => comparePositions(entry.position, position) > 0));
    // Behind a whole page there is nothing yet: not even before the place at which somebody joins.
    if (isWhole) this.#position = latest([this.#position, ...joining.map(({ after }) => after)]);
    for (const reader of joining) this.#admit(reader, page, isWhole, reached);
    return !isWhole;
  }

  #read(from: LogPosition): Promise<{ readonly epoch: string; readonly entries: TailedEntry[] }> {
    const body = async (tx: LogTables) => {
      const [epoch, entries] = await Promise.all([tx.logEpoch.current(), tx.log.tail(from, entriesAtOnce)]);
      return { epoch: epoch.name, entries };
    };
    return this.#parts.store.read(body, { soon: true });
  }

  /** The store was restored or promoted: readers miss what the old history had, and continue at the end of the new one. */
  async #startOver(joining: readonly EventReader[]): Promise<void> {
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
      // It fell far behind while it waited.
      void this.serve(reader).catch(() => reader.parts.outlet.end());
      return;
    }
    this.#send(reader, Buffer.from(reader.framesOf(page)), position);
    const { groupKey, heartbeatSeconds } = reader.parts;
    const group = this.#groups.get(groupKey) ?? this.#newGroup(reader);
    group.readers.add(reader);
    // A stream that is taken up again has no opening heartbeat, and its client must learn the interval at once.
    if (heartbeatSeconds !== undefined) this.#send(reader, this.#heartbeat(position, heartbeatSeconds), position);
  }

  /** To every group what concerns it, slice by slice, so that connections can take one before the next is made. */
  async #passOn(entries: readonly TailedEntry[]): Promise<void> {
    let slice: TailedEntry[] = [];
    let characters = 0;
    for (const [i, entry] of entries.entries()) {
      slice.push(entry);
      characters += entry.body.length;
      const isLast = i === entries.length - 1;
      if (characters < sliceCharacters && !isLast) continue;
      this.#passOnSlice(slice, entry.position);
      slice = [];
      characters = 0;
      if (!isLast) await this.#turn();
    }
  }

  #passOnSlice(entries: readonly TailedEntry[], position: LogPosition): void {
    const byUser = Map.groupBy(entries, ({ userId }) => userId as number | null);
    const byTenant = Map.groupBy(entries, ({ tenantId }) => tenantId as number | null);
    for (const { accessScope, eventsOf, readers } of this.#groups.values()) {
      const own = accessScope.kind === "user" ? byUser.get(accessScope.userId) : byTenant.get(accessScope.tenantId);
      if (!own) continue;
      const frames = own.flatMap((entry) => eventsOf(entry, this.#epoch!).map(eventFrame)).join("");
      if (frames === "") continue;
      const bytes = Buffer.from(frames);
      for (const reader of readers) this.#send(reader, bytes, this.#position!);
    }
    this.#position = position;
  }

  /** `position`: where the reader could go on if it didn't get this. */
  #send(reader: EventReader, bytes: Buffer, position: LogPosition): void {
    const { outlet, untilMs } = reader.parts;
    if (this.#parts.runtime.elapsedMs() >= untilMs) {
      outlet.end();
      this.#leave(reader);
    } else if (outlet.unsent > unsentLimit) {
      reader.cutOff(position);
      this.#leave(reader);
    } else if (bytes.length > 0) outlet.write(bytes);
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
    const isCurrent = this.#parts.runtime.elapsedMs() - this.#seenMs < intervalMs(group);
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
    this.#forgetIfAlone();
  }

  /** Nobody is fed: the next reader begins where it wants to. A look that is under way still needs its place. */
  #forgetIfAlone(): void {
    if (this.#groups.size > 0 || this.#round) return;
    this.#position = undefined;
    this.#epoch = undefined;
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => this.#parts.runtime.after(0, resolve));
  }
}

function intervalMs({ heartbeatSeconds }: Pick<Group, "heartbeatSeconds">): number {
  return heartbeatSeconds === undefined ? hubTimes.heartbeatMs : heartbeatSeconds * 1_000;
}

function earliest(positions: readonly LogPosition[]): LogPosition | undefined {
  return positions.toSorted(comparePositions)[0];
}

function latest(positions: readonly LogPosition[]): LogPosition {
  return positions.toSorted(comparePositions).at(-1)!;
}
