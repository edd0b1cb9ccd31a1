import { type Cancel, type Surroundings, within } from "../../model/surroundings.ts";
import type { Store, Transaction } from "../../store/seam.ts";
import type { Attempt, DeliveryRow } from "../../store/tables/webhook-deliveries.ts";
import type { WebhookRow } from "../../store/tables/webhooks.ts";
import { type FeedTables, feedWebhooks } from "./feeder.ts";
import type { Post } from "./post.ts";
import { signedHeaders } from "./signature.ts";

export type SenderTables = FeedTables & Pick<Transaction, "clock">;

export interface SenderParts {
  readonly store: Store<SenderTables>;
  readonly surroundings: Surroundings;
  readonly post: Post;
  readonly secretOf: (webhook: WebhookRow) => string;
}

/**
 * How long one attempt may take, for how long a message is one sender's and until when it makes use of that, how long a
 * message is tried, and the longest wait between two attempts.
 */
export const webhookTimes = {
  answerMs: 15_000,
  claimMs: 30_000,
  usedMs: 25_000,
  giveUpMs: 86_400_000,
  longestWaitMs: 3_600_000,
};
const everyMs = 1_000;
/** Who has added to the log feeds webhooks from it at once; others give it that long before they look themselves. */
const othersMs = 250;
/** A receiver that doesn't answer must not keep others waiting. */
const atOnce = { inAll: 100, perWebhook: 5 };

/**
 * Tells webhooks what they asked to be told, at least once and in order for each device: the next message of a device
 * goes out when the one before it was taken, or given up after a day.
 */
export class WebhookSender {
  readonly #parts: SenderParts;
  readonly #stopping = new AbortController();
  readonly #sending = new Map<number, { readonly webhookId: string; readonly done: Promise<void> }>();
  #round: Promise<void> | undefined;
  #isAwaited = false;
  #hasWebhooks = true;
  /** Something urgent has been added to the log and is not on its way yet. */
  #isUrgent = false;
  #next: Cancel | undefined;
  #hinted: Cancel | undefined;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#next = this.#parts.surroundings.after(everyMs, () => {
      this.wake();
      if (!this.#stopping.signal.aborted) this.start();
    });
  }

  /** The log has grown. */
  heard(isUrgent: boolean): void {
    if (!this.#hasWebhooks) return;
    this.#isUrgent ||= isUrgent;
    this.wake();
  }

  /** Some node may have added to the log. */
  hinted(): void {
    if (!this.#hasWebhooks || this.#stopping.signal.aborted) return;
    this.#hinted ??= this.#parts.surroundings.after(othersMs, () => {
      this.#hinted = undefined;
      this.wake();
    });
  }

  /** A message may have become due. */
  wake(): void {
    this.#isAwaited = true;
    this.#round ??= this.#work();
  }

  /** What is under way is given up; whoever comes next sends it again. */
  async stop(): Promise<void> {
    this.#next?.();
    this.#hinted?.();
    this.#stopping.abort();
    await this.#round;
    await Promise.all([...this.#sending.values()].map(({ done }) => done));
  }

  async #work(): Promise<void> {
    const { store, surroundings } = this.#parts;
    try {
      while (this.#isAwaited && !this.#stopping.signal.aborted) {
        this.#isAwaited = false;
        const isUrgent = this.#isUrgent;
        this.#isUrgent = false;
        const fed = await feedWebhooks(store, isUrgent ? { urgent: true } : { soon: true });
        if (fed === "there is more") this.#isUrgent ||= isUrgent;
        this.#hasWebhooks = fed !== "nobody listens";
        if (fed === "there is more") this.#isAwaited = true;
        if (!this.#hasWebhooks) continue;
        const busy = this.#busy();
        const due = await store.read(async (tx) => tx.deliveries.due(await tx.clock.nowMs(), busy, atOnce.inAll), {
          soon: true,
        });
        for (const delivery of due) this.#begin(delivery);
      }
    } catch (error) {
      surroundings.report.warn({ error }, "webhooks could not be looked after");
    } finally {
      this.#round = undefined;
    }
  }

  /** The webhooks for which no more can be sent at once. */
  #busy(): readonly string[] {
    const byWebhook = Map.groupBy(this.#sending.values(), ({ webhookId }) => webhookId);
    return [...byWebhook].filter(([, { length }]) => length >= atOnce.perWebhook).map(([webhookId]) => webhookId);
  }

  #begin(delivery: DeliveryRow): void {
    const { webhookId } = delivery;
    const isFull = this.#sending.size >= atOnce.inAll || this.#busy().includes(webhookId);
    if (isFull || this.#sending.has(delivery.id)) return;
    const done = this.#send(delivery)
      .then(
        // The next of that device may be due now.
        () => true,
        // A store that can't write (a full disk) is asked again by and by, not at once and for ever.
        (error) => {
          this.#parts.surroundings.report.warn({ error }, "a webhook's delivery could not be settled");
          return false;
        },
      )
      .then((isNextDue) => {
        this.#sending.delete(delivery.id);
        if (isNextDue && !this.#stopping.signal.aborted) this.wake();
      });
    this.#sending.set(delivery.id, { webhookId, done });
  }

  async #send(delivery: DeliveryRow): Promise<void> {
    const { store, secretOf, surroundings, post } = this.#parts;
    // What is long due is urgent; the rest stands in line with those whose changes it tells.
    const urgent = delivery.nextMs === 0;
    const untilMs = surroundings.elapsedMs() + webhookTimes.usedMs;
    const claimed = await store.transaction(
      async (tx) => {
        const webhook = await tx.webhooks.byKey({ ownerId: delivery.ownerId, id: delivery.webhookId });
        const nowMs = await tx.clock.nowMs();
        const nextMs = nowMs + webhookTimes.claimMs;
        const isClaimed = webhook && (await tx.deliveries.claim(delivery, nextMs));
        return isClaimed ? { webhook, nowMs, own: { ...delivery, nextMs } } : undefined;
      },
      { urgent },
    );
    // To a node that stood still for too long the message may no longer belong.
    const leftMs = untilMs - surroundings.elapsedMs();
    if (!claimed || leftMs <= 0) return;
    const { webhook, nowMs, own } = claimed;
    const { messageId: id, body } = delivery;
    const headers = signedHeaders(secretOf(webhook), { id, body }, nowMs);
    const limitMs = Math.min(webhookTimes.answerMs, leftMs);
    const attempt = await within(surroundings, limitMs, this.#stopping.signal, (inTime) =>
      post(webhook.url, headers, body, inTime),
    );
    if (this.#stopping.signal.aborted && attempt.status === null) return;
    await store.transaction((tx) => settle(tx, own, attempt, surroundings.random()), { urgent });
  }
}

async function settle(tx: SenderTables, delivery: DeliveryRow, attempt: Attempt, chance: number): Promise<void> {
  await tx.webhooks.lock({ ownerId: delivery.ownerId, id: delivery.webhookId });
  const nowMs = await tx.clock.nowMs();
  if (attempt.text === null) return tx.deliveries.settle(delivery, "delivered", nowMs, attempt);
  const nextMs = nowMs + waitAfter(delivery.attempts + 1, chance);
  if (nextMs > delivery.createdMs + webhookTimes.giveUpMs) {
    return tx.deliveries.settle(delivery, "failed", nowMs, attempt);
  }
  return tx.deliveries.postpone(delivery, nextMs, attempt);
}

/** 5 seconds, then four times as long each time, an hour at most; spread, so that receivers aren't all met at once. */
export function waitAfter(attempts: number, chance: number): number {
  const waitMs = Math.min(webhookTimes.longestWaitMs, 5_000 * 4 ** (attempts - 1));
  return Math.round(waitMs * (0.8 + 0.4 * chance));
}
