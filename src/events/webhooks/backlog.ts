import { limits, type OnLimitReached } from "../../model/limits.ts";
import type { Transaction } from "../../store/seam.ts";
import type { WebhookKey, WebhookRow } from "../../store/tables/webhooks.ts";
import { addResync, tooManyWaiting } from "./resync.ts";

type BacklogTables = Pick<Transaction, "deliveries" | "clock">;

/** A webhook's backlog is counted after this growth: counting it for each message would cost too much. */
const countedAfter = { messages: 500, bytes: 1_048_576, settled: 200 };
/** The share of the bound that is kept when it is exceeded, so that the next message doesn't exceed it again. */
const keptShare = 0.75;
const maximalWebhooks = 10_000;

interface Growth {
  messages: number;
  bytes: number;
}

/**
 * Bounds the stored messages of each webhook. Beyond the bound the oldest waiting messages are replaced by one
 * `resync`, which tells the receiver that messages are missing; of settled messages the newest are kept. Each node
 * counts its own additions, so the bound can be exceeded by what all nodes add between two counts.
 */
export class Backlog {
  readonly #onLimitReached: OnLimitReached;
  readonly #added = new Map<string, Growth>();
  readonly #settled = new Map<string, Growth>();

  constructor(onLimitReached: OnLimitReached) {
    this.#onLimitReached = onLimitReached;
  }

  /**
   * Called when messages were added to a webhook. The caller holds the webhook's lock; `id` is the event id of this
   * point of the log.
   */
  async added(tx: BacklogTables, webhook: WebhookRow, added: Growth, id: string): Promise<void> {
    const grown = grow(this.#added, webhook.id, added);
    if (grown.messages < countedAfter.messages && grown.bytes < countedAfter.bytes) return;
    this.#added.delete(webhook.id);
    const { webhookMessagesWaiting: messages, webhookBytesWaiting: bytes } = limits;
    const waiting = await tx.deliveries.waitingOf(webhook, 2 * messages);
    if (waiting.messages <= messages && waiting.bytes <= bytes) return;
    const kept = { messages: messages * keptShare, bytes: bytes * keptShare };
    const nowMs = await tx.clock.nowMs();
    await tx.deliveries.removeOldest(webhook, kept, nowMs);
    await addResync(tx, webhook, tooManyWaiting(webhook.id, id, nowMs));
    this.#onLimitReached(waiting.messages > messages ? "webhookMessagesWaiting" : "webhookBytesWaiting");
  }

  /** Called when a message to this webhook was settled. */
  async settled(tx: BacklogTables, webhook: WebhookKey): Promise<void> {
    const grown = grow(this.#settled, webhook.id, { messages: 1, bytes: 0 });
    if (grown.messages < countedAfter.settled) return;
    this.#settled.delete(webhook.id);
    await tx.deliveries.keepSettled(webhook, limits.webhookMessagesKept);
  }
}

function grow(counts: Map<string, Growth>, webhookId: string, by: Growth): Growth {
  const before = counts.get(webhookId);
  const grown = { messages: (before?.messages ?? 0) + by.messages, bytes: (before?.bytes ?? 0) + by.bytes };
  counts.set(webhookId, grown);
  if (counts.size > maximalWebhooks) counts.delete(counts.keys().next().value!);
  return grown;
}
