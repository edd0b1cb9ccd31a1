import type { Traits } from "../home/catalogue.ts";
import type { RateLimit } from "./kit/call-window.ts";

/**
 * One feed with the events of all accounts of a deployment, for an ecosystem that has no connection for each account.
 * One node pulls it. Each message is stored for every link of its account before it is acknowledged, and the owner of
 * the link reads it from there.
 */
export interface Feed {
  /** Pulls, stores and acknowledges until the signal aborts. Never throws. */
  pull(receiver: FeedReceiver, signal: AbortSignal): Promise<void>;
}

export interface FeedMessage {
  /** The ecosystem's id: a message that is sent again has the same one. */
  readonly id: string;
  /** The ecosystem's id of the account. */
  readonly account: string;
  readonly content: string;
}

export interface FeedReceiver {
  /** Stores messages durably for all links of their accounts. If it rejects, none of them may be acknowledged. */
  store(messages: readonly FeedMessage[]): Promise<void>;
  /** The feed has answered, and everything that it sent is stored. */
  answered(): void;
  /** The feed gives no usable answer. The reason is shown to operators and never holds a secret. */
  failed(reason: string): void;
  /** Counts messages that name no account. They are acknowledged, because they would come again for ever. */
  unreadable(count: number): void;
}

/** What a connector can ask the service about the link that it follows. */
export interface FollowedLink {
  /** The access that is valid now. It changes when the credential is renewed. */
  access(): string;
  /** The link's things as they are stored, by key, with everything that the connector has reported of the link. */
  storedThings(): Promise<ReadonlyMap<string, KnownThing>>;
  readonly messages: LinkMessages;
  readonly calls: AccountCalls;
}

/** The calls of an account that its ecosystem limits. All links of the account share them, on all nodes. */
export interface AccountCalls {
  /** Takes calls. Returns 0, or how long to wait when the limits allow no more; undefined: the link has no account yet. */
  take(calls: number, limits: readonly RateLimit[]): Promise<number | undefined>;
  /** Counts calls that were made before the account was assigned to the link. */
  count(calls: number, limits: readonly RateLimit[]): Promise<void>;
}

/** A thing as it was last reported. */
export interface KnownThing {
  readonly name: string | null;
  readonly traits: Traits;
}

/** The messages of the feed that are stored for one link. */
export interface LinkMessages {
  /** `account`: whose messages are stored for the link. `silence`: why the feed gives no answer at present. */
  state(): Promise<{ readonly account?: string; readonly silence?: string }>;
  /** From now on messages of this account are stored for the link. Resolves when that is durable. */
  assign(account: string): Promise<void>;
  /** Hands the messages to the reader until the returned function is called. */
  read(reader: MessageReader): () => void;
}

export interface MessageReader {
  /**
   * Takes messages in the order in which they were stored; undefined stands for messages that were dropped because too
   * many waited. Resolves with true when the effects are durable: then the messages are removed. Otherwise they are
   * handed over again. Handlers are idempotent: a message may come twice, and after a later one.
   */
  handle(contents: readonly (string | undefined)[]): Promise<boolean>;
  /** The feed has answered lately, and no message of this link was waiting. */
  quiet(): void;
  /** The feed has given no usable answer for this long. */
  silent(reason: string, silentMs: number): void;
}
