import type { NodeId } from "../model/ids.ts";
import type { Cancel, Surroundings } from "../model/surroundings.ts";
import type { Store, Transaction } from "../store/seam.ts";

export const heartbeat = { everyMs: 1_500, leaseMs: 6_000, forgetAfterMs: 3_600_000 };

/**
 * This node among the living. On a shared store it says so every 1.5 s on the store's clock; a node that has not been
 * heard of for a lease is dead to the others. On SQLite there is only one, alive as long as it runs.
 */
export class Membership {
  readonly id: NodeId;
  readonly #store: Store<Pick<Transaction, "nodes">>;
  readonly #surroundings: Surroundings;
  #next: Cancel | undefined;
  /** On this node's own unjumping clock. */
  #lastHeardMs: number | undefined;
  #isStopped = false;

  constructor(id: NodeId, store: Store<Pick<Transaction, "nodes">>, surroundings: Surroundings) {
    this.id = id;
    this.#store = store;
    this.#surroundings = surroundings;
  }

  async start(): Promise<void> {
    if (this.#store.isShared) await this.#beat();
  }

  /**
   * Whether this node may still act as an owner, by its own clock alone: it counts from before its last heartbeat was
   * sent, the others from after it arrived, so it stops before they take over.
   */
  get isAlive(): boolean {
    if (!this.#store.isShared) return !this.#isStopped;
    return this.#lastHeardMs !== undefined && this.#surroundings.elapsedMs() - this.#lastHeardMs < heartbeat.leaseMs;
  }

  /** All nodes that are alive by the store's clock, this one included. */
  async living(): Promise<readonly NodeId[]> {
    if (!this.#store.isShared) return [this.id];
    const living = await this.#store.read((tx) => tx.nodes.alive(heartbeat.leaseMs));
    return living.includes(this.id) ? living : [...living, this.id];
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#next?.();
    if (this.#store.isShared) await this.#store.transaction((tx) => tx.nodes.leave(this.id));
  }

  async #beat(): Promise<void> {
    const sentMs = this.#surroundings.elapsedMs();
    try {
      await this.#store.transaction(
        async (tx) => {
          await tx.nodes.beat(this.id);
          await tx.nodes.forget(heartbeat.forgetAfterMs);
        },
        { urgent: true },
      );
      this.#lastHeardMs = sentMs;
    } catch (error) {
      this.#surroundings.report.warn({ node: this.id, error }, "a heartbeat did not reach the store");
    }
    if (!this.#isStopped) this.#next = this.#surroundings.after(heartbeat.everyMs, () => void this.#beat());
  }
}
