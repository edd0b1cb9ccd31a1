import type { NodeId } from "../model/ids.ts";

/**
 * What may have become so by a transaction of some node: the log has grown, a fan request waits, something was revoked,
 * links are to be had or have changed hands. A hint to look, never the news itself: it may come twice, or not at all.
 */
export type Hint = "log" | "commands" | "revocations" | "links";

/** How nodes that share a store notice each other, beyond what its tables say. */
export interface NodeBus {
  /** Whether hints of other nodes arrive at present; while they don't, only looking tells. */
  readonly areHeard: boolean;
  /** Tells of each transaction that gives a hint: of this node's own at once, of others' soon. Answers how to stop it. */
  hear(heard: (hint: Hint) => void): () => void;
  /**
   * Takes a node's place among the living. The store gives it up by itself as soon as the process or its connection is
   * gone, and all see that; `lost` is told once if that happens to a place that wasn't left.
   */
  takePresenceLock(id: NodeId, lost: () => void): Promise<PresenceLock>;
}

export interface PresenceLock {
  /** Rejects when the place is no longer held, or nobody answers. */
  check(): Promise<void>;
  leave(): Promise<void>;
}

/** Of a store that only one node uses: it hears of everything by itself, and its place is nobody else's to see. */
export const noNodeBus: NodeBus = {
  areHeard: false,
  hear: () => () => undefined,
  takePresenceLock: async () => ({ check: async () => undefined, leave: async () => undefined }),
};
