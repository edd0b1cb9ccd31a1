import { StoreUnavailable } from "../model/errors.ts";
import type { NodeId } from "../model/ids.ts";
import { BackgroundTask } from "../runtime/background-task.ts";
import type { Cancel, Runtime } from "../runtime/runtime.ts";
import { type NodeBus, noNodeBus, type PresenceLock } from "../store/node-bus.ts";
import type { Store, Transaction } from "../store/seam.ts";
import { StoreClock } from "./store-clock.ts";

export const heartbeat = { everyMs: 1_500, leaseMs: 6_000, forgetAfterMs: 3_600_000 };
/** How soon a node that has lost its place tries to take it again. */
const retryMs = 300;
/**
 * When a database loses all its connections at once, all places are empty until everybody is back. So the empty place
 * of another says something only to a node that has held its own for that long.
 */
const believedAfterMs = 2_000;

type NodeTables = Pick<Transaction, "nodes">;
type HeartbeatTables = NodeTables & Pick<Transaction, "logEpoch">;

/** Who is there, by the store's clock. */
export interface Census {
  readonly living: readonly NodeId[];
  /** False just after the store has started: then nobody may be held for dead. */
  readonly isSettled: boolean;
}

/**
 * This node among the living. On a shared store it holds its place there with a connection of its own, and says every
 * 1.5 s on the store's clock that it lives: a node that died leaves its place at once, one that was not heard of for a
 * lease is dead to the others all the same. On SQLite there is only one, alive as long as it runs.
 */
export class Membership {
  readonly id: NodeId;
  readonly #store: Store<HeartbeatTables>;
  readonly #runtime: Runtime;
  readonly #takePresenceLock: NodeBus["takePresenceLock"];
  readonly #keyIds: () => readonly string[] | undefined;
  readonly #storeClock: StoreClock;
  readonly #task: BackgroundTask;
  #place: PresenceLock | undefined;
  /** On this node's own unjumping clock, as are all times here. */
  #inPlaceSinceMs = 0;
  #lastHeardMs: number | undefined;
  #life = 0;
  #beating: Promise<void> | undefined;
  #next: Cancel | undefined;
  #stopping: Promise<void> | undefined;
  /** The epoch of the store's log at the last heartbeat. */
  #epoch: string | undefined;
  #replaced: () => void = () => undefined;

  constructor(
    id: NodeId,
    store: Store<HeartbeatTables>,
    runtime: Runtime,
    { takePresenceLock }: Pick<NodeBus, "takePresenceLock"> = noNodeBus,
    /** The keys of this node's key file, the one that seals first. */
    keyIds: () => readonly string[] | undefined = () => undefined,
  ) {
    this.id = id;
    this.#store = store;
    this.#runtime = runtime;
    this.#takePresenceLock = takePresenceLock;
    this.#keyIds = keyIds;
    this.#storeClock = new StoreClock(runtime.elapsedMs);
    const sentence = "a heartbeat did not reach the store; trying again";
    this.#task = new BackgroundTask("heartbeat", sentence, runtime);
  }

  async start(): Promise<void> {
    if (this.#store.isShared) await this.#keepBeating();
  }

  /**
   * Whether this node may still act as an owner, by its own clock alone: it counts from before its last heartbeat was
   * sent, the others from after it arrived, so it stops before they take over. Without its place it may not either.
   */
  get isAlive(): boolean {
    if (!this.#store.isShared || this.#stopping) return !this.#stopping;
    if (!this.#place || this.#lastHeardMs === undefined) return false;
    return this.#runtime.elapsedMs() - this.#lastHeardMs < heartbeat.leaseMs;
  }

  /**
   * The time for whatever one node notes and another reads: the store's, and never ahead of it, so that nothing is held
   * for newer than it is. Before the first heartbeat it is this node's own.
   */
  nowMs(): number {
    return this.#storeClock.nowMs ?? this.#runtime.nowMs();
  }

  /** By how much that time may be behind the store's. */
  get unsureMs(): number {
    return this.#storeClock.unsureMs;
  }

  /** Another number each time that it comes back from the dead: until then others may have taken what was its own. */
  get life(): number {
    return this.#life;
  }

  /** All nodes that are alive by the store's clock, this one included. */
  async living(tx: NodeTables): Promise<readonly NodeId[]> {
    if (!this.#store.isShared) return [this.id];
    const inPlaceMs = this.#place ? this.#runtime.elapsedMs() - this.#inPlaceSinceMs : 0;
    const living = await tx.nodes.alive(heartbeat.leaseMs, inPlaceMs >= believedAfterMs);
    return living.includes(this.id) || this.#stopping ? living : [...living, this.id];
  }

  async census(tx: NodeTables): Promise<Census> {
    if (!this.#store.isShared) return { living: [this.id], isSettled: true };
    return { living: await this.living(tx), isSettled: await tx.nodes.isSettled(heartbeat.leaseMs) };
  }

  /** Runs `act` each time the store was restored or promoted: what this node remembers of it may be wrong. */
  onStoreReplaced(act: () => void): void {
    this.#replaced = act;
  }

  /** Leaves the others, who take over at once what was this node's. */
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
      // Without its place the others hold it for dead, whether or not it could say that it leaves.
      await this.#place?.release();
    }
  }

  #keepBeating(): Promise<void> {
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = undefined;
      this.#schedule(this.#place ? heartbeat.everyMs : retryMs);
    });
    return this.#beating;
  }

  async #beat(): Promise<void> {
    const sentMs = this.#runtime.elapsedMs();
    try {
      this.#place ??= await this.#settleIn();
      const beat = this.#store.transaction(
        async (tx) => {
          const askedMs = this.#runtime.elapsedMs();
          const saidMs = await tx.nodes.beat(this.id, this.#keyIds());
          const heardMs = this.#runtime.elapsedMs();
          const [epoch] = await Promise.all([tx.logEpoch.current(), tx.nodes.forget(heartbeat.forgetAfterMs)]);
          return { askedMs, saidMs, heardMs, epoch: epoch.name };
        },
        { urgent: true },
      );
      const [look] = await Promise.all([beat, this.#place.check()]);
      this.#storeClock.seen(look);
      if (!this.isAlive) this.#life += 1;
      this.#lastHeardMs = sentMs;
      this.#task.succeeded();
      this.#noteEpoch(look.epoch);
    } catch (error) {
      this.#task.failed(error, { node: this.id });
    }
  }

  #noteEpoch(epoch: string): void {
    const before = this.#epoch;
    this.#epoch = epoch;
    if (before === undefined || before === epoch) return;
    const { report } = this.#runtime;
    report.warn({ node: this.id, epoch }, "the store was restored, or a standby was promoted: starting over from it");
    this.#replaced();
  }

  async #settleIn(): Promise<PresenceLock> {
    let taken: PresenceLock | undefined;
    let isLost = false;
    const lost = () => {
      isLost = true;
      if (!taken || this.#place !== taken) return;
      this.#place = undefined;
      this.#lastHeardMs = undefined;
      this.#schedule(0);
    };
    const place = await this.#takePresenceLock(this.id, lost);
    taken = place;
    // Before we even knew that we had it: nobody would tell us again.
    if (isLost) throw new StoreUnavailable("This node's place was lost as soon as it was taken.");
    this.#inPlaceSinceMs = this.#runtime.elapsedMs();
    return place;
  }

  #schedule(delayMs: number): void {
    this.#next?.();
    if (!this.#stopping) this.#next = this.#runtime.after(delayMs, () => void this.#keepBeating());
  }
}
