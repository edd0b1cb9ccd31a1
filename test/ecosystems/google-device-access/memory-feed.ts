import type { Connector } from "../../../src/ecosystems/connector.ts";
import type { FeedMessage, LinkMessages, MessageReader } from "../../../src/ecosystems/feed.ts";

interface Inbox {
  account?: string;
  readonly messages: FeedMessage[];
  reader?: MessageReader;
}

/** The feed of a connector without a store: messages wait in memory for the links of their accounts. */
export class MemoryFeed {
  readonly #connector: Connector;
  readonly #inboxes = new Set<Inbox>();
  readonly #stopping = new AbortController();
  #pulling: Promise<void> = Promise.resolve();
  /** Faults of the feed, in order. */
  readonly faults: string[] = [];
  unreadable = 0;
  /** Messages can't be stored. */
  isStoreDown = false;
  /** Messages of accounts without a link. */
  unknown = 0;

  constructor(connector: Connector) {
    this.#connector = connector;
  }

  start(): void {
    const receiver = {
      store: async (messages: readonly FeedMessage[]) => this.#store(messages),
      answered: () => undefined,
      failed: (reason: string) => void this.faults.push(reason),
      unreadable: (count: number) => {
        this.unreadable += count;
      },
    };
    this.#pulling = this.#connector.feed!.pull(receiver, this.#stopping.signal);
  }

  /** The feed has answered, and no message waits. */
  quiet(): void {
    for (const { reader } of this.#inboxes) reader?.quiet();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#pulling;
  }

  /** The connector with links whose messages come from this feed. `silentAfterMs`: the feed stops to answer. */
  connector({ silentAfterMs }: { readonly silentAfterMs?: number } = {}): Connector {
    const connector = this.#connector;
    return {
      ...connector,
      follow: (token, listener, signal) => {
        const messages = this.#messages(silentAfterMs);
        const calls = { take: async () => undefined, count: async () => undefined };
        const link = { access: () => token, storedThings: async () => new Map(), messages, calls };
        return connector.follow(token, { ...listener, link }, signal);
      },
    };
  }

  #messages(silentAfterMs: number | undefined): LinkMessages {
    const inbox: Inbox = { messages: [] };
    this.#inboxes.add(inbox);
    return {
      state: async () => (inbox.account === undefined ? {} : { account: inbox.account }),
      assign: async (account) => {
        inbox.account = account;
      },
      read: (reader) => {
        inbox.reader = reader;
        void this.#deliver(inbox);
        const silence = silentAfterMs && setTimeout(() => reader.silent("no answer", silentAfterMs), silentAfterMs);
        return () => {
          clearTimeout(silence || undefined);
          this.#inboxes.delete(inbox);
        };
      },
    };
  }

  #store(messages: readonly FeedMessage[]): void {
    if (this.isStoreDown) throw new Error("the store is down");
    for (const message of messages) {
      const inboxes = [...this.#inboxes].filter(({ account }) => account === message.account);
      if (inboxes.length === 0) this.unknown += 1;
      for (const inbox of inboxes) {
        inbox.messages.push(message);
        void this.#deliver(inbox);
      }
    }
  }

  async #deliver(inbox: Inbox): Promise<void> {
    if (!inbox.reader || inbox.messages.length === 0) return;
    const contents = inbox.messages.splice(0).map(({ content }) => content);
    await inbox.reader.handle(contents);
  }
}
