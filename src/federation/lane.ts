import type { AttributeChange, Commit, DeviceUpdate } from "../devices/commit.ts";
import type { Home } from "../home/home.ts";
import { sameAlarms, sameTransitions } from "../home/transitions.ts";
import { NotFound, OwnershipLost, StoreUnavailable } from "../model/errors.ts";
import { LeakyBucket } from "../runtime/leaky-bucket.ts";
import { pause, type Runtime } from "../runtime/runtime.ts";
import {
  type AttributeValues,
  type Change,
  mirrorChanges,
  type PackedValues,
  packValues,
  unpackValues,
} from "../virtual-device/attribute-values.ts";
import { assignIndexes, type Eviction, type IndexMap } from "../virtual-device/index-map.ts";
import { mirror } from "../virtual-device/mirror.ts";
import { encodeIndexMap } from "../virtual-device/stored-index-map.ts";
import { isUrgent } from "../virtual-device/urgent-changes.ts";
import { disableAlertsOn } from "./alerts-on-lost-slots.ts";
import type { Restatement } from "./commands/awaited-fans.ts";
import type { LinkKey } from "./link-key.ts";
import { encodeNotices } from "./notices.ts";
import type { SampleTurns } from "./sample-turns.ts";
import { type ThingIdOf, type ThingMarks, thingUpdate } from "./thing-marks.ts";
import { WaitingSamples } from "./waiting-samples.ts";

/** What the store holds, cached by the lane: only the owner of the link's epoch writes it. */
export interface Mirrored {
  readonly indexMap: IndexMap;
  readonly notices: string;
  readonly values: PackedValues;
  readonly things: ThingMarks;
  /** The snapshot that this was made from, as long as its connector keeps it. */
  readonly home?: WeakRef<Home>;
}

export interface LaneParts {
  readonly link: LinkKey;
  readonly commit: Commit;
  /** Reads the stored state; rejects with OwnershipLost when this node no longer owns the link. */
  readonly load: () => Promise<Mirrored>;
  readonly thingIdOf: ThingIdOf;
  /** Which values a snapshot confirms without changing them. */
  readonly restated?: (receivedMs: number, readValues: () => AttributeValues) => Restatement | undefined;
  /** Called when the account is stored; `hasChanged`: it differed from what was stored before. */
  readonly stored: (home: Home, hasChanged: boolean) => void;
  /**
   * Called when a snapshot was dropped because too many waited for a slow store. `sinceMs`: the snapshot was offered
   * since then.
   */
  readonly snapshotDropped: (sinceMs: number) => void;
  /** Called when another node owns the link, or the link was removed: the lane has ended. */
  readonly lost: () => void;
  /** Called when a snapshot can't be mirrored or stored although the store is available: the lane has ended. */
  readonly failed: (error: unknown) => void;
  /** Shared by all lanes of the node. */
  readonly sampleTurns: SampleTurns;
  readonly runtime: Runtime;
}

interface Outcome {
  /** What the store holds now. */
  readonly mirrored: Mirrored;
  readonly isCommitted: boolean;
  /** Whether the snapshot differed in more than small changes of samples. */
  readonly hasChanged: boolean;
}

/**
 * Bound of the queue. Several snapshots wait so that a short emergency is not lost while the store is slow; the bound
 * protects the memory.
 */
const maximalWaiting = 16;
const retry = { fromMs: 100, toMs: 2_000 };
const maximalTries = 5;
/** Commits of one account that change levels alone, such as a brightness. A home that changes more often is coalesced. */
const levelCommits = { perSecond: 10, atOnce: 20 };
/** Estimated CPU time of a commit, and of each thing and attribute in it. */
const commitCost = { ms: 0.7, perChangeMs: 0.05 };

/**
 * The queue in which the snapshots of one account are committed, one at a time and in order. Accounts never wait for
 * each other. A newer snapshot replaces a waiting one only if no transition is lost.
 */
export class Lane {
  readonly #parts: LaneParts;
  readonly #waiting: Home[] = [];
  /** When each snapshot was offered, on this node's monotonic clock. */
  readonly #offered = new WeakMap<Home, number>();
  #mirrored: Mirrored | undefined;
  /**
   * The last waiting snapshot whose alarm states differ from the one before it: until it is stored, all commits are
   * urgent.
   */
  #alarming: Home | undefined;
  /** Makes the commit in progress urgent. */
  #becomesUrgent: AbortController | undefined;
  #run: Promise<void> | undefined;
  /** How many snapshots were dropped. */
  #drops = 0;
  #lastOfferedMs = 0;
  readonly #samples: WaitingSamples;
  /** The snapshot that is committed again only for its samples. */
  #repeated: Home | undefined;
  readonly #levelCommits = new LeakyBucket(levelCommits);
  /** Ends the pause before a commit that changes levels alone. */
  #endPause: AbortController | undefined;
  #costMs = 0;

  constructor(parts: LaneParts, mirrored?: Mirrored) {
    this.#parts = parts;
    this.#mirrored = mirrored;
    const { runtime, sampleTurns: turns } = parts;
    this.#samples = new WaitingSamples({ runtime, turns, commitAgain: this.#commitAgain });
  }

  /** Queues a snapshot; never blocks. */
  offer(home: Home, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#offered.set(home, this.#parts.runtime.elapsedMs());
    const last = this.#waiting.at(-1);
    if (last && !sameAlarms(last, home)) {
      this.#alarming = home;
      this.#becomesUrgent?.abort();
    }
    if (last && sameTransitions(last, home)) this.#replaceLast(home);
    else if (this.#waiting.length < maximalWaiting) this.#waiting.push(home);
    else {
      this.#replaceLast(home);
      this.#drops += 1;
      // Logged at the 1st, 2nd, 4th, 8th drop and so on: a hostile home could drop thousands a second.
      const fields = { ...this.#parts.link, drops: this.#drops };
      if ((this.#drops & (this.#drops - 1)) === 0) {
        this.#report.warn(fields, "the store is too slow: a snapshot was dropped");
      }
      this.#parts.snapshotDropped(this.#lastOfferedMs);
    }
    if (this.#waiting.length > 1 || this.#alarming) this.#endPause?.abort();
    this.#lastOfferedMs = this.#parts.runtime.nowMs();
    this.#begin(signal);
  }

  /** Whether every offered snapshot is committed or dropped. */
  get isIdle(): boolean {
    return this.#run === undefined;
  }

  /** Resolves when every offered snapshot is committed or dropped; with true when none was dropped meanwhile. */
  async idle(): Promise<boolean> {
    const dropsBefore = this.#drops;
    await this.#run;
    return this.#drops === dropsBefore;
  }

  /** The CPU time since the last call that comparing and committing snapshots took, in part estimated. */
  takeCostMs(): number {
    const costMs = this.#costMs;
    this.#costMs = 0;
    return costMs;
  }

  /**
   * Ends the lane after its signal was aborted: the transaction in progress is finished, a commit that waits for costly
   * patterns is given up, and waiting samples are dropped.
   */
  async stop(): Promise<void> {
    this.#samples.drop();
    this.#endPause?.abort();
    await this.#run;
  }

  #begin(signal: AbortSignal): void {
    this.#run ??= this.#work(signal).catch((error) => this.#fail(error));
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let failures = 0; this.#waiting.length > 0 && !signal.aborted; ) {
      const pauseMs = this.#levelPauseMs();
      if (pauseMs > 0) {
        this.#endPause = new AbortController();
        await pause(this.#parts.runtime, pauseMs, this.#endPause.signal);
        continue;
      }
      const home = this.#waiting[0]!;
      let outcome: Outcome;
      try {
        outcome = await this.#attempt(home, signal);
        this.#mirrored = outcome.mirrored;
        failures = 0;
      } catch (error) {
        // A failed commit may still have taken effect: the stored state must be read again.
        this.#mirrored = undefined;
        if (error instanceof OwnershipLost || error instanceof NotFound) {
          this.#dropAll();
          this.#run = undefined;
          return this.#parts.lost();
        }
        // The next owner of the link reads the account again.
        if (signal.aborted) break;
        this.#warn(error, failures);
        failures += 1;
        // A snapshot that always fails must not block those behind it; an unavailable store may.
        if (!(error instanceof StoreUnavailable) && failures > maximalTries) {
          this.#waiting.shift();
          this.#drops += 1;
          this.#parts.snapshotDropped(this.#lastOfferedMs);
          if (this.#waiting.length === 0) throw error;
          failures = 0;
        }
        await pause(this.#parts.runtime, this.#retryMs(failures), signal);
        continue;
      }
      // A newer snapshot may have replaced it meanwhile; then that one is next.
      if (this.#waiting[0] === home) this.#waiting.shift();
      if (this.#alarming === home) this.#alarming = undefined;
      if (outcome.isCommitted) this.#samples.committed();
      else this.#samples.wait(signal);
      if (this.#repeated !== home) this.#parts.stored(home, outcome.hasChanged);
      this.#repeated = undefined;
    }
    if (signal.aborted) this.#dropAll();
    this.#alarming = undefined;
    // In the same turn of the event loop as the last check of the queue, so that a later offer starts a new run.
    this.#run = undefined;
  }

  /** How long the only waiting snapshot should wait for newer ones, because the last commits changed levels alone too often. */
  #levelPauseMs(): number {
    const previous = this.#mirrored?.home?.deref();
    const [home] = this.#waiting;
    if (this.#waiting.length !== 1 || this.#alarming || !previous || !sameTransitions(previous, home!)) return 0;
    return this.#levelCommits.add(0, this.#parts.runtime.elapsedMs());
  }

  async #attempt(home: Home, signal: AbortSignal): Promise<Outcome> {
    try {
      return await this.#store(home, this.#mirrored ?? (await this.#parts.load()), signal);
    } finally {
      this.#samples.endTurn();
    }
  }

  /** Commits a snapshot, unless the store holds all of it already, or all but samples that wait. */
  async #store(home: Home, before: Mirrored, signal: AbortSignal): Promise<Outcome> {
    const { link, commit, runtime } = this.#parts;
    const startedMs = runtime.elapsedMs();
    const receivedMs = this.#offered.get(home) ?? 0;
    const previous = before.home?.deref();
    const { changes, evicted, readValues, ...mirrored } =
      previous && showSameDevices(previous, home) ? unchangedMirror(before) : changedMirror(before, home);
    const things = thingUpdate(home, before.things, link, this.#parts.thingIdOf, previous);
    const isMapNew = mirrored.indexMap !== before.indexMap || mirrored.notices !== before.notices;
    const restated = this.#parts.restated?.(receivedMs, readValues);
    const isMoreThanSamples = changes.length > 0 || isMapNew || things.weight === "change";
    this.#costMs += runtime.elapsedMs() - startedMs;
    const hasChanged = isMoreThanSamples || (things.weight === "jump" && !this.#samples.hasJump);
    this.#samples.compared(home, things.weight);
    if (!isMoreThanSamples && !restated && !this.#samples.takeTurn()) {
      return { mirrored: before, isCommitted: false, hasChanged };
    }
    this.#becomesUrgent = new AbortController();
    const update: DeviceUpdate = {
      deviceId: link.deviceId,
      changes: changes.map(toAttributeChange),
      things: things.writes,
    };
    await commit({
      userId: link.userId,
      cause: { by: "ecosystem" },
      // Alerts are disabled before values are written: the values of a slot's new device must not fire alerts that were
      // made for the old one.
      updates:
        evicted.length === 0 && !restated
          ? [update]
          : async (tx) => {
              if (evicted.length > 0) await disableAlertsOn(tx, link, evicted);
              return withRestated(update, await restated?.changes(tx));
            },
      urgent: isUrgent(changes) || things.isUrgent || this.#alarming !== undefined,
      becomesUrgent: this.#becomesUrgent.signal,
      // The hand-back of the links must not wait for costly patterns of one user.
      abandoned: signal,
      ownership: { deviceId: link.deviceId, ...link.ownership },
      receivedMs,
      also: async (tx) => {
        if (isMapNew)
          await tx.links.setIndexMap(link.userId, link.deviceId, encodeIndexMap(mirrored.indexMap), mirrored.notices);
      },
    });
    restated?.stored();
    this.#costMs += commitCost.ms + commitCost.perChangeMs * (changes.length + things.writes.length);
    if (previous && sameTransitions(previous, home)) this.#levelCommits.add(1, runtime.elapsedMs());
    return { mirrored: { ...mirrored, things: things.marks, home: new WeakRef(home) }, isCommitted: true, hasChanged };
  }

  /** Commits the last snapshot for its samples; returns false when the lane is busy and will take them along. */
  readonly #commitAgain = (home: Home, signal: AbortSignal): boolean => {
    if (this.#waiting.length > 0) return false;
    this.#repeated = home;
    this.#waiting.push(home);
    this.#begin(signal);
    return true;
  };

  #replaceLast(home: Home): void {
    const last = this.#waiting.pop();
    this.#waiting.push(home);
    if (last === this.#alarming) this.#alarming = home;
  }

  #dropAll(): void {
    this.#drops += this.#waiting.length;
    this.#waiting.length = 0;
    this.#samples.drop();
  }

  #fail(error: unknown): void {
    this.#dropAll();
    this.#mirrored = undefined;
    this.#alarming = undefined;
    this.#run = undefined;
    this.#parts.failed(error);
  }

  #warn(error: unknown, failures: number): void {
    if (error instanceof StoreUnavailable && failures > 0) return;
    this.#report.warn({ ...this.#parts.link, error }, "a snapshot could not be stored; trying again");
  }

  #retryMs(failures: number): number {
    const longest = Math.min(retry.toMs, retry.fromMs * 2 ** failures);
    return longest * (0.5 + this.#parts.runtime.random() / 2);
  }

  get #report() {
    return this.#parts.runtime.report;
  }
}

/** Adds restated values, except those that change anyway. */
function withRestated(update: DeviceUpdate, restated: readonly AttributeChange[] = []): readonly DeviceUpdate[] {
  const changed = new Set(update.changes.map(({ key }) => key));
  return [{ ...update, changes: [...update.changes, ...restated.filter(({ key }) => !changed.has(key))] }];
}

/** The attributes after a snapshot. */
interface MirrorUpdate extends Pick<Mirrored, "indexMap" | "notices" | "values"> {
  readonly changes: readonly Change[];
  readonly evicted: readonly Eviction[];
  readonly readValues: () => AttributeValues;
}

/** Computes what the store should hold after a snapshot. */
function changedMirror(before: Mirrored, home: Home): MirrorUpdate {
  const shown = unpackValues(before.values);
  const { map: indexMap, overLimit, evicted } = assignIndexes(before.indexMap, home);
  const values = mirror(home, indexMap, shown);
  const notices = encodeNotices(overLimit, home, indexMap);
  const changes = mirrorChanges(shown, values);
  return { indexMap, notices, values: packValues(values), evicted, changes, readValues: () => values };
}

function unchangedMirror({ indexMap, notices, values }: Mirrored): MirrorUpdate {
  return { indexMap, notices, values, evicted: [], changes: [], readValues: () => unpackValues(values) };
}

/** Whether two snapshots have the same attributes and notices: the objects behind them are the same. */
function showSameDevices(previous: Home, home: Home): boolean {
  const [before, after] = [previous.oddities, home.oddities];
  return (
    previous.structures === home.structures &&
    previous.thermostats === home.thermostats &&
    previous.alarms === home.alarms &&
    previous.speaksOfAlarms === home.speaksOfAlarms &&
    previous.others?.byId.size === home.others?.byId.size &&
    before.incomplete === after.incomplete &&
    before.unknownAlarmStates === after.unknownAlarmStates &&
    before.unknownAwayStates === after.unknownAwayStates
  );
}

export function toAttributeChange(change: {
  readonly attribute: number;
  readonly value: string | null;
}): AttributeChange {
  return { key: change.attribute, value: change.value };
}
