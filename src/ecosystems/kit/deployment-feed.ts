import { limits, type OnLimitReached } from "../../model/limits.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { untilAborted } from "./abort.ts";

/** A message of the feed. The ecosystem sends it until it is acknowledged. */
export interface FeedMessage<Content> {
  /** The ecosystem's id of the account. */
  readonly externalUserId: string;
  readonly content: Content;
  /** The ecosystem does not send it again. */
  acknowledge(): void;
  /** The ecosystem sends it again later. */
  giveBack(): void;
}

/**
 * Handles a message of one link; it resolves when the effects are durable. Handlers are idempotent: the ecosystem may
 * send a message twice, and after a later one. Order by timestamp is theirs to keep.
 */
export type MessageHandler<Content> = (content: Content, signal: AbortSignal) => Promise<void>;

export interface FeedParts<Content> {
  readonly runtime: Runtime;
  readonly onLimitReached: OnLimitReached;
  /** Called with an error of a handler; the message is given back. */
  readonly failed: (error: unknown) => void;
  /**
   * Called for an account that has no handler on this node. It resolves with true when it has stored the message durably
   * for the node that follows the link, and with false when no link has this account.
   */
  readonly storeForOtherNode: (externalUserId: string, content: Content, signal: AbortSignal) => Promise<boolean>;
}

export interface FeedCounts {
  readonly handled: number;
  readonly givenBack: number;
  /** Acknowledged, because no link has this account. */
  readonly unknownUsers: number;
}

/**
 * A message is acknowledged or given back within this time, its wait for earlier messages of the link included. This
 * bounds how long a slow link takes up room in the feed; messages of other links do not wait for it at all.
 */
export const longestHoldMs = 30_000;

/** One feed for all accounts of the deployment. It hands each message to the links of its account. */
export class DeploymentFeed<Content> {
  readonly #parts: FeedParts<Content>;
  /** Several users may have linked the same account. */
  readonly #links = new Map<string, Set<LinkQueue<Content>>>();
  /** One controller for each message: thousands of listeners on one signal would take quadratic time. */
  readonly #holding = new Map<Promise<void>, AbortController>();
  #isStopped = false;
  #counts: FeedCounts = { handled: 0, givenBack: 0, unknownUsers: 0 };

  constructor(parts: FeedParts<Content>) {
    this.#parts = parts;
  }

  get counts(): FeedCounts {
    return this.#counts;
  }

  /** Registers a link. The returned function ends it: messages that wait for the link are given back. */
  register(externalUserId: string, handle: MessageHandler<Content>): () => void {
    const link = new LinkQueue(handle);
    const links = this.#links.get(externalUserId) ?? new Set();
    this.#links.set(externalUserId, links.add(link));
    return () => {
      link.end();
      links.delete(link);
      if (links.size === 0 && this.#links.get(externalUserId) === links) this.#links.delete(externalUserId);
    };
  }

  /** Takes a message. Resolves when it was acknowledged or given back; never rejects. */
  take(message: FeedMessage<Content>): Promise<void> {
    const ending = new AbortController();
    const holding = this.#settle(message, ending);
    this.#holding.set(holding, ending);
    return holding.finally(() => this.#holding.delete(holding));
  }

  /** Gives back all messages that are not handled yet. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const ending of this.#holding.values()) ending.abort();
    await Promise.all(this.#holding.keys());
  }

  async #settle(message: FeedMessage<Content>, ending: AbortController): Promise<void> {
    const cancel = this.#parts.runtime.after(longestHoldMs, () => ending.abort());
    const outcome = await this.#deliver(message, ending.signal);
    cancel();
    this.#counts = { ...this.#counts, [outcome]: this.#counts[outcome] + 1 };
    try {
      if (outcome === "givenBack") message.giveBack();
      else message.acknowledge();
    } catch (error) {
      // The connection to the feed is lost: the ecosystem sends the message again.
      this.#parts.failed(error);
    }
  }

  async #deliver({ externalUserId, content }: FeedMessage<Content>, inTime: AbortSignal): Promise<keyof FeedCounts> {
    const { onLimitReached, failed } = this.#parts;
    if (this.#isStopped) return "givenBack";
    if (this.#holding.size >= limits.feedMessages) {
      onLimitReached("feedMessages");
      return "givenBack";
    }
    const links = [...(this.#links.get(externalUserId) ?? [])];
    if (links.some(({ isFull }) => isFull)) {
      onLimitReached("feedMessagesPerLink");
      return "givenBack";
    }
    try {
      if (links.length === 0) return await untilAborted(this.#handOver(externalUserId, content, inTime), inTime);
      await untilAborted(Promise.all(links.map((link) => link.handle(content, inTime))), inTime);
      return "handled";
    } catch (error) {
      if (!inTime.aborted && !(error instanceof LinkEnded)) failed(error);
      return "givenBack";
    }
  }

  /** Hands a message to the node that follows the link, if there is one. */
  async #handOver(externalUserId: string, content: Content, inTime: AbortSignal): Promise<keyof FeedCounts> {
    const isStored = await this.#parts.storeForOtherNode(externalUserId, content, inTime);
    return isStored ? "handled" : "unknownUsers";
  }
}

class LinkEnded extends Error {}

/** Hands one link its messages one after the other, in the order of arrival. */
class LinkQueue<Content> {
  readonly #handle: MessageHandler<Content>;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isEnded = false;

  constructor(handle: MessageHandler<Content>) {
    this.#handle = handle;
  }

  get isFull(): boolean {
    return this.#waiting >= limits.feedMessagesPerLink;
  }

  /** Resolves when the message is durable. Rejects when the handler fails, or when the link or the time has ended. */
  handle(content: Content, signal: AbortSignal): Promise<void> {
    this.#waiting += 1;
    const turn = this.#last.then(async () => {
      if (this.#isEnded) throw new LinkEnded();
      signal.throwIfAborted();
      await this.#handle(content, signal);
    });
    const ended = () => {
      this.#waiting -= 1;
    };
    this.#last = turn.then(ended, ended);
    return turn;
  }

  end(): void {
    this.#isEnded = true;
  }
}
