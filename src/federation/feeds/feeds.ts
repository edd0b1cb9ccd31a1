import type { Connector } from "../../ecosystems/connector.ts";
import type { AccountCalls, LinkMessages } from "../../ecosystems/feed.ts";
import type { OnLimitReached } from "../../model/limits.ts";
import type { Membership } from "../../nodes/membership.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { Store } from "../../store/seam.ts";
import type { FedLink } from "../../store/tables/feed-accounts.ts";
import type { LinkKey } from "../link-key.ts";
import { accountCalls } from "./account-calls.ts";
import { FeedInbox, type InboxTables } from "./feed-inbox.ts";
import { type FeedOutcome, FeedPuller, type PullerTables } from "./feed-puller.ts";

export interface FeedsParts {
  readonly store: Store<InboxTables & PullerTables>;
  readonly membership: Membership;
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly runtime: Runtime;
  readonly count: (outcome: FeedOutcome, messages: number) => void;
  readonly onLimitReached: OnLimitReached;
}

/** The feeds of all ecosystems that have one. */
export interface Feeds {
  /** The messages of a link, from the feed of its ecosystem. */
  messagesOf(link: LinkKey): LinkMessages;
  /** The calls of a link's account. */
  callsOf(link: LinkKey): AccountCalls;
  /** The ecosystem's id of a link's account; undefined before the first list. */
  accountOf(link: FedLink): Promise<string | undefined>;
  /** Whether another link has the same account. */
  isAccountShared(link: FedLink): Promise<boolean>;
  /** A hint: messages may be waiting. */
  wake(): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function feedsOn(parts: FeedsParts): Feeds {
  const { store, membership, connectors, runtime, count, onLimitReached } = parts;
  const inbox = new FeedInbox({ store, nodeId: membership.id, runtime });
  const pullers = [...connectors.values()].flatMap(({ name: ecosystem, feed }) => {
    if (!feed) return [];
    const stored = () => inbox.wake();
    return [new FeedPuller({ ecosystem, feed, store, membership, runtime, stored, count, onLimitReached })];
  });
  return {
    messagesOf: (link) => inbox.of(link),
    callsOf: (link) => accountCalls(store, link),
    accountOf: (link) => store.read((tx) => tx.feedAccounts.of(link)),
    isAccountShared: (link) => store.read((tx) => tx.feedAccounts.isShared(link)),
    wake: () => inbox.wake(),
    async start() {
      await Promise.all(pullers.map((puller) => puller.start()));
    },
    async stop() {
      await Promise.all([...pullers.map((puller) => puller.stop()), inbox.stop()]);
    },
  };
}
