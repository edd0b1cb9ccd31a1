import type { LimitName, ReachLimit } from "../../model/limits.ts";
import { type Cancel, type Runtime, within } from "../../runtime/runtime.ts";
import type { Store } from "../../store/seam.ts";
import { claimMs } from "../../store/tables/delivery-bounds.ts";
import type { Attempt, DueDelivery } from "../../store/tables/webhook-deliveries.ts";
import { unreadableIn } from "../client-events.ts";
import { type AttemptParts, Attempts } from "./attempts.ts";
import { Backlog } from "./backlog.ts";
import { CompiledFilters } from "./compiled-filters.ts";
import { type DueMessage, DueMessages } from "./due-messages.ts";
import { type FeedTables, feedWebhooks } from "./feeder.ts";
import { inTurns, SendingSlots } from "./sending-slots.ts";

export type SenderTables = FeedTables;

export interface SenderParts extends AttemptParts {
  readonly store: Store<SenderTables>;
  readonly runtime: Runtime;
  /** A message waits because of a limit. */
  readonly reached?: ReachLimit;
}

/**
 * How long one attempt may take, for how long a message is one sender's and until when it makes use of that, how long a
 * message is tried, and the longest wait between two attempts.
 */
export const webhookTimes = {
  answerMs: 15_000,
  claimMs,
  usedMs: 25_000,
  giveUpMs: 86_400_000,
  longestWaitMs: 3_600_000,
};
const everyMs = 1_000;
/** Who has added to the log feeds webhooks from it at once; others give it that long before they look themselves. */
const othersMs = 250;
/** When one look didn't reach all webhooks with messages waiting, the next follows after this long. */
const lookAgainMs = 100;

/**
 * Tells webhooks what they asked to be told, at least once and in order for each device: the next message of a device
 * goes out when the one before it was taken, or given up after a day.
 */
export class WebhookSender {
  readonly #parts: SenderParts;
  readonly #stopping = new AbortController();
  readonly #due: DueMessages;
  readonly #slots = new SendingSlots();
  readonly #sending = new Map<number, Promise<void>>();
  readonly #attempts: Attempts;
  readonly #backlog: Backlog;
  readonly #filters: CompiledFilters;
  #round: Promise<void> | undefined;
  #isAwaited = false;
  #hasWebhooks = true;
  /** Something urgent has been added to the log and is not on its way yet. */
  #isUrgent = false;
  #next: Cancel | undefined;
  #hinted: Cancel | undefined;
  #again: Cancel | undefined;

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.#due = new DueMessages(parts.store, parts.addressOf);
    this.#backlog = new Backlog(parts.reached ?? (() => undefined));
    this.#attempts = new Attempts(parts, parts.runtime.report);
    this.#filters = new CompiledFilters(unreadableIn(parts.runtime.report));
  }

  start(): void {
    this.#next = this.#parts.runtime.after(everyMs, () => {
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
    this.#hinted ??= this.#parts.runtime.after(othersMs, () => {
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
    this.#again?.();
    await Promise.all(this.#sending.values());
  }

  async #work(): Promise<void> {
    const { store, runtime } = this.#parts;
    try {
      while (this.#isAwaited && !this.#stopping.signal.aborted) {
        this.#isAwaited = false;
        const isUrgent = this.#isUrgent;
        this.#isUrgent = false;
        const fed = await feedWebhooks(store, isUrgent ? { urgent: true } : { soon: true }, {
          filters: this.#filters,
          backlog: this.#backlog,
        });
        if (fed === "there is more") this.#isUrgent ||= isUrgent;
        this.#hasWebhooks = fed !== "nobody listens";
        if (fed === "there is more") this.#isAwaited = true;
        if (!this.#hasWebhooks) continue;
        await this.#beginDue();
      }
    } catch (error) {
      runtime.report.warn({ error }, "webhooks could not be looked after");
    } finally {
      this.#round = undefined;
    }
  }

  async #beginDue(): Promise<void> {
    const { messages, isAll } = await this.#due.look();
    if (this.#stopping.signal.aborted) return;
    const reached = new Set<LimitName>();
    for (const message of inTurns(messages, this.#slots)) {
      if (this.#sending.has(message.delivery.id)) continue;
      const limit = this.#slots.limitFor(message.use);
      if (limit) reached.add(limit);
      else this.#begin(message);
    }
    for (const limit of reached) this.#parts.reached?.(limit);
    if (!isAll) this.#lookAgain();
  }

  #lookAgain(): void {
    if (this.#stopping.signal.aborted) return;
    this.#again ??= this.#parts.runtime.after(lookAgainMs, () => {
      this.#again = undefined;
      this.wake();
    });
  }

  #begin({ delivery, use }: DueMessage): void {
    this.#slots.take(use);
    const done = this.#send(delivery)
      .then(
        (isClaimed) => {
          // Another node was quicker, or the webhook is gone.
          if (!isClaimed) this.#due.forget(delivery.webhookId);
          return true;
        },
        // A store that can't write (a full disk) is asked again by and by, not at once and for ever.
        (error) => {
          this.#parts.runtime.report.warn({ error }, "a webhook's delivery could not be settled");
          return false;
        },
      )
      .then((isSlotFree) => {
        this.#sending.delete(delivery.id);
        this.#slots.release(use);
        // The next message of that device may be due now, and others may have waited for the slot.
        if (isSlotFree && !this.#stopping.signal.aborted) this.wake();
      });
    this.#sending.set(delivery.id, done);
  }

  /** Answers whether the message was this node's to send. */
  async #send(delivery: DueDelivery): Promise<boolean> {
    const { store, runtime } = this.#parts;
    // What is long due is urgent; the rest stands in line with those whose changes it tells.
    const urgent = delivery.nextMs === 0;
    const untilMs = runtime.elapsedMs() + webhookTimes.usedMs;
    const claimed = await store.transaction(
      async (tx) => {
        const key = { ownerId: delivery.ownerId, id: delivery.webhookId };
        const [webhook, message] = await Promise.all([tx.webhooks.byKey(key), tx.deliveries.find(key, delivery.id)]);
        const nowMs = await tx.clock.nowMs();
        const nextMs = nowMs + webhookTimes.claimMs;
        const isClaimed = webhook && message && (await tx.deliveries.claim(delivery, nextMs));
        return isClaimed ? { webhook, body: message.body, nowMs, own: { ...delivery, nextMs } } : undefined;
      },
      { urgent },
    );
    if (!claimed) return false;
    // To a node that stood still for too long the message may no longer belong.
    const leftMs = untilMs - runtime.elapsedMs();
    if (leftMs <= 0) return true;
    const { webhook, body, nowMs, own } = claimed;
    const message = { id: delivery.messageId, body };
    const attempt = await within(runtime, Math.min(webhookTimes.answerMs, leftMs), this.#stopping.signal, (inTime) =>
      this.#attempts.make(webhook, message, nowMs, inTime),
    );
    if (this.#stopping.signal.aborted && attempt.status === null) return true;
    await store.transaction((tx) => settle(tx, own, attempt, runtime.random(), this.#backlog), { urgent });
    return true;
  }
}

async function settle(
  tx: SenderTables,
  delivery: DueDelivery,
  attempt: Attempt,
  chance: number,
  backlog: Backlog,
): Promise<void> {
  const webhook = { ownerId: delivery.ownerId, id: delivery.webhookId };
  await tx.webhooks.lock(webhook);
  const nowMs = await tx.clock.nowMs();
  const nextMs = nowMs + waitAfter(delivery.attempts + 1, chance);
  const isDelivered = attempt.text === null;
  if (!isDelivered && nextMs <= delivery.createdMs + webhookTimes.giveUpMs) {
    return tx.deliveries.postpone(delivery, nextMs, attempt);
  }
  await tx.deliveries.settle(delivery, isDelivered ? "delivered" : "failed", nowMs, attempt);
  await backlog.settled(tx, webhook);
}

/** 5 seconds, then four times as long each time, an hour at most; spread, so that receivers aren't all met at once. */
export function waitAfter(attempts: number, chance: number): number {
  const waitMs = Math.min(webhookTimes.longestWaitMs, 5_000 * 4 ** (attempts - 1));
  return Math.round(waitMs * (0.8 + 0.4 * chance));
}
