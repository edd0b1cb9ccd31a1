import type { NodeId } from "../model/ids.ts";

/**
 * What a transaction may have changed: the log has grown, a fan request is queued, a token was revoked, links have no
 * owner or another one, messages of a feed wait, a node asks the others something, or quotas were set. A hint only makes a node look sooner:
 * it may arrive twice, or not at all.
 */
export type Hint = "log" | "commands" | "revocations" | "links" | "feed" | "questions" | "quotas";

/** Messages and liveness between the nodes that share a store. */
export interface NodeBus {
  /** Whether hints of other nodes arrive at present. While they don't, nodes must poll. */
  readonly receivesHints: boolean;
  /** Calls the listener after each transaction with a hint, of this node or another. Returns how to unsubscribe. */
  onHint(listener: (hint: Hint) => void): () => void;
  /**
   * Takes the lock that shows that this node is alive. The store releases it as soon as the process or its connection
   * ends, and all nodes see that. `onLost` is called once if the lock is lost without `release`.
   */
  takePresenceLock(id: NodeId, onLost: () => void): Promise<PresenceLock>;
}

export interface PresenceLock {
  /** Rejects when the lock was lost, or the store doesn't answer. */
  check(): Promise<void>;
  release(): Promise<void>;
}

/** For SQLite, where there are no other nodes. */
export const noNodeBus: NodeBus = {
  receivesHints: false,
  onHint: () => () => undefined,
  takePresenceLock: async () => ({ check: async () => undefined, release: async () => undefined }),
};
