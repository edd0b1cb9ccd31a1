import type { Feed, FeedMessage, FeedReceiver } from "../../ecosystems/feed.ts";
import { limits, type OnLimitReached } from "../../model/limits.ts";
import type { Membership } from "../../nodes/membership.ts";
import { BackgroundTask } from "../../runtime/background-task.ts";
import type { Cancel, Runtime } from "../../runtime/runtime.ts";
import type { Store, Transaction } from "../../store/seam.ts";

export type PullerTables = Pick<Transaction, "feedMessages" | "feedLeases" | "nodes" | "clock">;

/** What became of the messages of a feed. `unknown`: no link has the account. */
export type FeedOutcome = "stored" | "unknown" | "unreadable" | "dropped";

export interface FeedPullerParts {
  readonly ecosystem: string;
  readonly feed: Feed;
  readonly store: Store<PullerTables>;
  readonly membership: Membership;
  readonly runtime: Runtime;
  /** Called when messages are stored. */
  readonly stored: () => void;
  readonly count: (outcome: FeedOutcome, messages: number) => void;
  readonly onLimitReached: OnLimitReached;
}

const lookEveryMs = 1_000;
/** Messages of links that no node follows are kept for this long. A link that is followed again begins with a list. */
const keptMs = 24 * 3_600_000;
const sweepEveryMs = 600_000;

/**
 * Pulls the feed of one ecosystem while this node holds its lease. The lease saves calls; correctness does not depend on
 * it: two nodes that pull get different messages, and both store them for all links.
 */
export class FeedPuller {
  readonly #parts: FeedPullerParts;
  readonly #task: BackgroundTask;
  #pulling: { readonly stopping: AbortController; readonly ended: Promise<void> } | undefined;
  #health: { answeredMs: number; fault: string | null } = { answeredMs: 0, fault: null };
  #next: Cancel | undefined;
  #round: Promise<void> = Promise.resolve();
  #sweptMs = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  constructor(parts: FeedPullerParts) {
    this.#parts = parts;
    const sentence = "the lease of a feed could not be taken or renewed; trying again";
    this.#task = new BackgroundTask("feed_lease", sentence, parts.runtime);
  }

  /** Resolves after the first try to take the lease. */
  start(): Promise<void> {
    this.#round = this.#look().finally(() => {
      if (!this.#isStopped) this.#next = this.#parts.runtime.after(lookEveryMs, () => void this.start());
    });
    return this.#round;
  }

  /** Ends the pull and releases the lease, so that another node takes it at once. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#next?.();
    await this.#round;
    const wasPulling = this.#pulling !== undefined;
    await this.#end();
    if (!wasPulling) return;
    const { store, ecosystem, membership } = this.#parts;
    await store
      .transaction((tx) => tx.feedLeases.release(ecosystem, membership.id), { soon: true })
      .catch((error) => this.#task.failed(error));
  }

  async #look(): Promise<void> {
    const { membership } = this.#parts;
    try {
      const holds = membership.isAlive && (await this.#hold());
      if (holds && !this.#pulling && !this.#isStopped) this.#begin();
      if (!holds) await this.#end();
      if (holds) await this.#sweep();
      this.#task.succeeded();
    } catch (error) {
      // While the store is unavailable this node keeps its lease: messages that can't be stored are given back.
      this.#task.failed(error);
    }
  }

  #hold(): Promise<boolean> {
    const { store, ecosystem, membership, runtime } = this.#parts;
    return store.transaction(
      async (tx) => {
        if (this.#pulling) return tx.feedLeases.renew(ecosystem, membership.id, this.#health);
        const { living, isCertain } = await membership.census(tx);
        const others = isCertain ? living.filter((id) => id !== membership.id) : undefined;
        return tx.feedLeases.take(ecosystem, membership.id, others, runtime.nowMs());
      },
      { soon: true },
    );
  }

  #begin(): void {
    const { feed, runtime } = this.#parts;
    const stopping = new AbortController();
    this.#health = { answeredMs: runtime.nowMs(), fault: null };
    const ended = feed.pull(this.#receiver(), stopping.signal).catch((error) => this.#task.failed(error));
    this.#pulling = { stopping, ended };
  }

  async #end(): Promise<void> {
    const pulling = this.#pulling;
    this.#pulling = undefined;
    pulling?.stopping.abort();
    await pulling?.ended;
  }

  #receiver(): FeedReceiver {
    const { runtime, count } = this.#parts;
    return {
      store: (messages) => this.#store(messages),
      answered: () => {
        this.#health = { answeredMs: runtime.nowMs(), fault: null };
      },
      failed: (reason) => {
        this.#health = { ...this.#health, fault: reason };
      },
      unreadable: (messages) => count("unreadable", messages),
    };
  }

  async #store(messages: readonly FeedMessage[]): Promise<void> {
    const { store, ecosystem, stored, count, onLimitReached } = this.#parts;
    const { links, dropped } = await store.transaction(async (tx) => {
      const nowMs = await tx.clock.nowMs();
      const links = await tx.feedMessages.add(ecosystem, messages, nowMs);
      const dropped = links.length > 0 ? await tx.feedMessages.drop(links, limits.feedMessagesPerLink, nowMs) : [];
      return { links, dropped };
    });
    const accounts = new Set(links.map(({ account }) => account));
    const known = messages.filter(({ account }) => accounts.has(account)).length;
    count("stored", known);
    count("unknown", messages.length - known);
    for (const _ of dropped) {
      count("dropped", limits.feedMessagesPerLink);
      onLimitReached("feedMessagesPerLink");
    }
    if (known > 0) stored();
  }

  async #sweep(): Promise<void> {
    const { store, runtime } = this.#parts;
    if (runtime.elapsedMs() - this.#sweptMs < sweepEveryMs) return;
    this.#sweptMs = runtime.elapsedMs();
    await store.transaction((tx) => tx.feedMessages.removeBefore(runtime.nowMs() - keptMs), { background: true });
  }
}
