import type { LinkMessages, MessageReader } from "../../ecosystems/feed.ts";
import type { DeviceId, NodeId } from "../../model/ids.ts";
import { BackgroundTask } from "../../runtime/background-task.ts";
import { type Cancel, outsideRequests, type Runtime } from "../../runtime/runtime.ts";
import type { Store, Transaction } from "../../store/seam.ts";
import type { FeedLease } from "../../store/tables/feed-leases.ts";
import type { LinkKey } from "../link-key.ts";

export type InboxTables = Pick<Transaction, "feedAccounts" | "feedMessages" | "feedLeases">;

export interface FeedInboxParts {
  readonly store: Store<InboxTables>;
  readonly nodeId: NodeId;
  readonly runtime: Runtime;
}

/** A hint or the puller of this node wakes the inbox; this interval covers lost hints. */
const lookEveryMs = 2_000;
/** A feed that gives no answer for longer is silent. An empty pull may take a minute and a half. */
export const silentAfterMs = 180_000;
/** How often a quiet link is confirmed. */
const quietEveryMs = 30_000;
const messagesAtOnce = 100;

/** A link that this node follows, and the reader of its messages. */
interface Reading {
  readonly link: LinkKey;
  readonly reader: MessageReader;
  readonly sinceMs: number;
  /** Whether messages are being handed over. */
  isBusy: boolean;
  /** When the feed gave the answer by which the link was last confirmed as quiet. */
  quietMs: number;
  /** The feed's last answer, and the same time on this node's monotonic clock: the other one may be set back. */
  answered: { readonly timeMs: number; readonly elapsedMs: number };
}

/**
 * Hands the stored messages of feeds to the links that this node follows. A message is removed when its effects are
 * durable, so it survives a crash at any time.
 */
export class FeedInbox {
  readonly #parts: FeedInboxParts;
  readonly #readings = new Map<DeviceId, Reading>();
  readonly #task: BackgroundTask;
  #round: Promise<void> | undefined;
  #isRoundRequested = false;
  #next: Cancel | undefined;
  #isStopped = false;

  constructor(parts: FeedInboxParts) {
    this.#parts = parts;
    const sentence = "messages of a feed could not be read; trying again";
    this.#task = new BackgroundTask("feed_messages", sentence, parts.runtime);
  }

  /** The messages of one link. */
  of(link: LinkKey): LinkMessages {
    const { store, runtime } = this.#parts;
    return {
      state: async () => {
        const [account, lease] = await store.read((tx) =>
          Promise.all([tx.feedAccounts.of(link), tx.feedLeases.find(link.ecosystem)]),
        );
        const isSilent = lease !== undefined && runtime.nowMs() - lease.answeredMs > silentAfterMs;
        return { ...(account !== undefined && { account }), ...(isSilent && { silence: faultOf(lease) }) };
      },
      assign: (account) => store.transaction((tx) => tx.feedAccounts.set(link, link.ecosystem, account)),
      read: (reader) => this.#read(link, reader),
    };
  }

  /** Messages may be waiting. */
  wake(): void {
    if (this.#isStopped || this.#readings.size === 0) return;
    this.#isRoundRequested = true;
    this.#round ??= outsideRequests(this.#parts.runtime, () => this.#rounds());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#next?.();
    await this.#round;
  }

  #read(link: LinkKey, reader: MessageReader): () => void {
    const { nowMs, elapsedMs } = this.#parts.runtime;
    const sinceMs = nowMs();
    const answered = { timeMs: sinceMs, elapsedMs: elapsedMs() };
    const reading: Reading = { link, reader, sinceMs, isBusy: false, quietMs: sinceMs, answered };
    this.#readings.set(link.deviceId, reading);
    this.wake();
    return () => {
      if (this.#readings.get(link.deviceId) === reading) this.#readings.delete(link.deviceId);
    };
  }

  async #rounds(): Promise<void> {
    this.#next?.();
    while (this.#isRoundRequested && !this.#isStopped) {
      this.#isRoundRequested = false;
      try {
        await this.#look();
        this.#task.succeeded();
      } catch (error) {
        this.#task.failed(error);
      }
    }
    this.#round = undefined;
    if (!this.#isStopped) this.#next = this.#parts.runtime.after(lookEveryMs, () => this.wake());
  }

  async #look(): Promise<void> {
    const { store, nodeId } = this.#parts;
    const [waiting, leases] = await store.read((tx) =>
      Promise.all([tx.feedMessages.waiting(nodeId), tx.feedLeases.all()]),
    );
    const withMessages = new Set(waiting.map(({ deviceId }) => deviceId));
    for (const reading of [...this.#readings.values()]) {
      if (withMessages.has(reading.link.deviceId)) void this.#hand(reading);
      else if (!reading.isBusy) this.#reportHealth(reading, leases);
    }
  }

  /** Hands over the messages of one link. Links do not wait for each other. Never rejects. */
  async #hand(reading: Reading): Promise<void> {
    if (reading.isBusy) return;
    reading.isBusy = true;
    const { store, nodeId } = this.#parts;
    const { link, reader } = reading;
    try {
      while (this.#readings.get(link.deviceId) === reading && !this.#isStopped) {
        const messages = await store.read((tx) => tx.feedMessages.of(link, messagesAtOnce));
        if (messages.length === 0) return;
        if (!(await reader.handle(messages.map(({ content }) => content ?? undefined)))) return;
        const ids = messages.map(({ messageId }) => messageId);
        await store.transaction((tx) => tx.feedMessages.remove(link, nodeId, ids));
      }
    } catch (error) {
      this.#task.failed(error, { deviceId: link.deviceId });
    } finally {
      reading.isBusy = false;
    }
  }

  /** No message waits: the link is quiet if the feed answers, and silent if it does not. */
  #reportHealth(reading: Reading, leases: readonly FeedLease[]): void {
    const { link, reader, sinceMs, quietMs } = reading;
    const { runtime } = this.#parts;
    const lease = leases.find(({ ecosystem }) => ecosystem === link.ecosystem);
    const answeredMs = lease?.answeredMs ?? sinceMs;
    const sinceAnswerMs = runtime.nowMs() - answeredMs;
    if (answeredMs !== reading.answered.timeMs) {
      reading.answered = { timeMs: answeredMs, elapsedMs: runtime.elapsedMs() - Math.max(0, sinceAnswerMs) };
    }
    const silentMs = Math.max(sinceAnswerMs, runtime.elapsedMs() - reading.answered.elapsedMs);
    if (silentMs > silentAfterMs) reader.silent(faultOf(lease), silentMs);
    else if (Math.abs(answeredMs - quietMs) >= quietEveryMs) {
      reading.quietMs = answeredMs;
      reader.quiet();
    }
  }
}

function faultOf(lease: FeedLease | undefined): string {
  return lease?.fault ?? "no node of the deployment gets an answer";
}
