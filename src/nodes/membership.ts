import { StoreUnavailable } from "../model/errors.ts";
import type { NodeId } from "../model/ids.ts";
import { nodeName } from "../model/node-name.ts";
import { BackgroundTask } from "../runtime/background-task.ts";
import type { Cancel, Runtime } from "../runtime/runtime.ts";
import { type NodeBus, noNodeBus, type PresenceLock } from "../store/node-bus.ts";
import type { Store, Transaction } from "../store/seam.ts";
import { type ClockReading, StoreClock } from "./store-clock.ts";

export const heartbeat = { everyMs: 1_500, leaseMs: 6_000, forgetAfterMs: 3_600_000 };
/** How soon a node that has lost its presence lock tries to take it again. */
const retryMs = 300;
/**
 * When the database loses all connections at once, all presence locks are free until the nodes are back. So a node
 * trusts the missing lock of another node only after it has held its own for this long.
 */
const trustLocksAfterMs = 2_000;
/** A smaller step of the store's clock makes no lease expire: heartbeats come much more often than leases expire. */
const noticedStepMs = 2_000;

type NodeTables = Pick<Transaction, "nodes">;
type CensusTables = NodeTables & Pick<Transaction, "clock">;
type HeartbeatTables = NodeTables & Pick<Transaction, "logEpoch">;

/** The live nodes, by the store's clock. */
export interface Census {
  /** All listed nodes while it is not settled: any of them may be alive. */
  readonly living: readonly NodeId[];
  /**
   * False just after the store has started, its clock was set, or this node could reach it again: then no node may be
   * declared dead.
   */
  readonly isCertain: boolean;
}

/**
 * This node's membership among the live nodes. On a shared store the node holds a presence lock on a connection of its
 * own, and renews its lease every 1.5 s on the store's clock. Other nodes declare it dead when the lock is free or the
 * lease has expired. On SQLite there is one node, which is alive while it runs.
 */
export class Membership {
  readonly id: NodeId;
  readonly #store: Store<HeartbeatTables>;
  readonly #runtime: Runtime;
  readonly #takePresenceLock: NodeBus["takePresenceLock"];
  readonly #keyIds: () => readonly string[] | undefined;
  readonly #storeClock: StoreClock;
  readonly #task: BackgroundTask;
  #presenceLock: PresenceLock | undefined;
  /** On this node's monotonic clock, as all times here. */
  #lockedSinceMs = 0;
  /** When the last heartbeat that succeeded was sent. */
  #lastBeatMs: number | undefined;
  #life = 0;
  /** From then on a missing heartbeat counts again; undefined until it has ceased to count for the first time. */
  #silenceCountsFromMs: number | undefined;
  #beating: Promise<void> | undefined;
  #next: Cancel | undefined;
  #stopping: Promise<void> | undefined;
  /** At the last heartbeat. */
  #liveNodes = 1;
  /** The epoch of the store's log at the last heartbeat. */
  #epoch: string | undefined;
  #onStoreReplaced: () => void = () => undefined;

  constructor(
    id: NodeId,
    store: Store<HeartbeatTables>,
    runtime: Runtime,
    { takePresenceLock }: Pick<NodeBus, "takePresenceLock"> = noNodeBus,
    /** The ids of the keys in this node's key file; the key that seals comes first. */
    keyIds: () => readonly string[] | undefined = () => undefined,
  ) {
    this.id = id;
    this.#store = store;
    this.#runtime = runtime;
    this.#takePresenceLock = takePresenceLock;
    this.#keyIds = keyIds;
    this.#storeClock = new StoreClock(runtime);
    const sentence = "a heartbeat did not reach the store; trying again";
    this.#task = new BackgroundTask("heartbeat", sentence, runtime);
  }

  async start(): Promise<void> {
    if (this.#store.isShared) await this.#keepBeating();
  }

  /**
   * Whether this node may act as an owner of links, judged by its own clock alone. It counts its lease from before its
   * last heartbeat was sent; other nodes count it from when the heartbeat arrived. So it stops before they take over.
   * Without its presence lock it may not act either.
   */
  get isAlive(): boolean {
    if (!this.#store.isShared || this.#stopping) return !this.#stopping;
    if (!this.#presenceLock || this.#lastBeatMs === undefined) return false;
    return this.#runtime.elapsedMs() - this.#lastBeatMs < heartbeat.leaseMs;
  }

  /**
   * The store's time, for times that one node writes and another reads. It is never ahead of the store's clock, so that
   * no value seems newer than it is, unless this machine's wall clock was set forward since the last heartbeat. Before the first heartbeat it is this node's own time.
   */
  nowMs(): number {
    return this.#storeClock.nowMs ?? this.#runtime.nowMs();
  }

  /** How many nodes were alive at the last heartbeat, this one included. */
  get liveNodes(): number {
    return this.#liveNodes;
  }

  /** By how much `nowMs` may be behind the store's clock. */
  get uncertaintyMs(): number {
    return this.#storeClock.uncertaintyMs;
  }

  /** Rises each time that this node becomes alive again. Meanwhile other nodes may have claimed its links. */
  get life(): number {
    return this.#life;
  }

  /** All live nodes by the store's clock, this one included. */
  async living(tx: NodeTables): Promise<readonly NodeId[]> {
    if (!this.#store.isShared) return [this.id];
    const lockedMs = this.#presenceLock ? this.#runtime.elapsedMs() - this.#lockedSinceMs : 0;
    const living = await tx.nodes.alive(heartbeat.leaseMs, lockedMs >= trustLocksAfterMs);
    return living.includes(this.id) || this.#stopping ? living : [...living, this.id];
  }

  async census(tx: CensusTables): Promise<Census> {
    if (!this.#store.isShared) return { living: [this.id], isCertain: true };
    const sentMs = this.#runtime.elapsedMs();
    const [living, isStoreSettled, storeMs] = await Promise.all([
      this.living(tx),
      tx.nodes.isSettled(heartbeat.leaseMs),
      tx.clock.nowMs(),
    ]);
    // After the reads: a heartbeat that ended meanwhile may have noticed that the store's clock was set.
    const isSteady = isStoreSettled && !this.#isClockSet({ sentMs, storeMs, receivedMs: this.#runtime.elapsedMs() });
    const trust = isSteady ? this.#trustInSilence() : "none";
    if (trust === "full") return { living, isCertain: true };
    const listed = await tx.nodes.alive(Number.POSITIVE_INFINITY);
    const isNoneSilent = listed.every((id) => living.includes(id));
    if (trust === "unknown" && isNoneSilent) return { living, isCertain: true };
    return { living: [...new Set([...living, ...listed])], isCertain: false };
  }

  /**
   * Whether a missing heartbeat means that a node is dead. When all nodes were cut off from the store, or its clock was
   * set forward, all leases have expired, and the first node with a heartbeat must not take the links of the others. So
   * it waits for a lease. At its start a node does not know how long the others were cut off, and a shorter wait is
   * enough.
   */
  #trustInSilence(): "full" | "unknown" | "none" {
    const nowMs = this.#runtime.elapsedMs();
    if (this.#life > 0 && !this.isAlive) return "none";
    if (this.#silenceCountsFromMs !== undefined) return nowMs >= this.#silenceCountsFromMs ? "full" : "none";
    return this.#presenceLock && nowMs - this.#lockedSinceMs >= trustLocksAfterMs ? "full" : "unknown";
  }

  /** Whether the store's clock was set since the last heartbeat. */
  #isClockSet(reading: ClockReading): boolean {
    return this.#storeClock.stepMs(reading) >= noticedStepMs;
  }

  /** Runs `act` each time that the store was restored or promoted: values in memory may be wrong then. */
  onStoreReplaced(act: () => void): void {
    this.#onStoreReplaced = act;
  }

  /** Leaves the other nodes, which can claim this node's links at once. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#next?.();
    await this.#beating;
    if (!this.#store.isShared) return;
    try {
      await this.#store.transaction((tx) => tx.nodes.leave(this.id), { urgent: true });
    } finally {
      // Without its presence lock the node is dead to the others, also when the store could not be told that it leaves.
      await this.#presenceLock?.release();
    }
  }

  #keepBeating(): Promise<void> {
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = undefined;
      this.#schedule(this.#presenceLock ? heartbeat.everyMs : retryMs);
    });
    return this.#beating;
  }

  async #beat(): Promise<void> {
    const sentMs = this.#runtime.elapsedMs();
    try {
      this.#presenceLock ??= await this.#takeLock();
      const beat = this.#store.transaction(
        async (tx) => {
          const sentMs = this.#runtime.elapsedMs();
          const storeMs = await tx.nodes.beat(this.id, this.#keyIds());
          const reading = { sentMs, storeMs, receivedMs: this.#runtime.elapsedMs() };
          const isClockSet = this.#isClockSet(reading);
          // Otherwise a clock that was set forward would make this node forget nodes that are alive.
          const mayForget = !isClockSet && this.#trustInSilence() === "full";
          const forgotten = mayForget ? tx.nodes.forget(heartbeat.forgetAfterMs) : undefined;
          const [epoch, living] = await Promise.all([tx.logEpoch.current(), this.living(tx), forgotten]);
          return { reading, isClockSet, epoch: epoch.name, liveNodes: living.length };
        },
        { urgent: true },
      );
      const [{ reading, isClockSet, epoch, liveNodes }] = await Promise.all([beat, this.#presenceLock.check()]);
      this.#storeClock.update(reading);
      this.#liveNodes = liveNodes;
      const isBack = !this.isAlive && this.#life > 0;
      if (!this.isAlive) this.#life += 1;
      if (isBack || isClockSet) this.#silenceCountsFromMs = this.#runtime.elapsedMs() + heartbeat.leaseMs;
      this.#lastBeatMs = sentMs;
      this.#task.succeeded();
      this.#checkEpoch(epoch);
    } catch (error) {
      this.#task.failed(error, { node: this.id, nodeName: nodeName(this.id) });
    }
  }

  #checkEpoch(epoch: string): void {
    const before = this.#epoch;
    this.#epoch = epoch;
    if (before === undefined || before === epoch) return;
    const { report } = this.#runtime;
    report.warn(
      { node: this.id, nodeName: nodeName(this.id), epoch },
      "the store was restored, or a standby was promoted: starting over from it",
    );
    this.#onStoreReplaced();
  }

  async #takeLock(): Promise<PresenceLock> {
    let taken: PresenceLock | undefined;
    let isLost = false;
    const onLost = () => {
      isLost = true;
      if (!taken || this.#presenceLock !== taken) return;
      this.#presenceLock = undefined;
      this.#lastBeatMs = undefined;
      this.#schedule(0);
    };
    const presenceLock = await this.#takePresenceLock(this.id, onLost);
    taken = presenceLock;
    // The lock was lost before this line. `lost` is not called again.
    if (isLost) throw new StoreUnavailable("This node's presence lock was lost as soon as it was taken.");
    this.#lockedSinceMs = this.#runtime.elapsedMs();
    return presenceLock;
  }

  #schedule(delayMs: number): void {
    this.#next?.();
    if (!this.#stopping) this.#next = this.#runtime.after(delayMs, () => void this.#keepBeating());
  }
}
