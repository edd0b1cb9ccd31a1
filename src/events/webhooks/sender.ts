import type { LimitName, OnLimitReached } from "../../model/limits.ts";
import { type Cancel, outsideRequests, type Runtime, within } from "../../runtime/runtime.ts";
import type { Store } from "../../store/seam.ts";
import { claimMs } from "../../store/tables/delivery-bounds.ts";
import { withTry } from "../../store/tables/delivery-history.ts";
import type { DueDelivery, EndedAttempt } from "../../store/tables/webhook-deliveries.ts";
import type { WebhookRow } from "../../store/tables/webhooks.ts";
import { unreadableReporter } from "../client-events.ts";
import { Backlog } from "./backlog.ts";
import { CompiledFilters } from "./compiled-filters.ts";
import { type DueMessage, DueMessages } from "./due-messages.ts";
import { type FeedParts, type FeedTables, feedWebhooks, unreadableWebhooks } from "./feeder.ts";
import { thingMessageId } from "./message.ts";
import { inTurns, SendingSlots } from "./sending-slots.ts";
import { type AttemptParts, WebhookPoster } from "./webhook-poster.ts";

export type SenderTables = FeedTables;

export interface SenderParts extends AttemptParts {
  readonly store: Store<SenderTables>;
  readonly runtime: Runtime;
  /** Counts messages that wait because of a limit. */
  readonly onLimitReached?: OnLimitReached;
}

/**
 * `answerMs`: time limit of one attempt. `claimMs`: how long a claimed message belongs to one node; `usedMs`: when that
 * node's attempt must have ended, which leaves a margin. `giveUpMs`: how long a message is retried. `longestWaitMs`:
 * maximal back-off. `heldMs`: how long messages of a paused webhook, or of a suspended user or client, wait until a sender
 * looks at them again; a resume makes them due at once.
 */
export const webhookTimes = {
  answerMs: 15_000,
  claimMs,
  usedMs: 25_000,
  giveUpMs: 86_400_000,
  longestWaitMs: 3_600_000,
  heldMs: 600_000,
};
const everyMs = 1_000;
/** The node that appended to the log feeds the webhooks at once; other nodes wait this long before they look. */
const othersMs = 250;
/** Pause before the next read when one read didn't reach all webhooks with waiting messages. */
const lookAgainMs = 100;

/**
 * Delivers messages to webhooks, at least once and in order for each device: the next message of a device is sent when
 * the one before it was delivered, or given up after a day.
 */
export class WebhookSender {
  readonly #parts: SenderParts;
  readonly #stopping = new AbortController();
  readonly #due: DueMessages;
  readonly #slots = new SendingSlots();
  readonly #sending = new Map<number, Promise<void>>();
  readonly #attempts: WebhookPoster;
  readonly #backlog: Backlog;
  readonly #filters: CompiledFilters;
  readonly #unreadable: FeedParts["unreadable"];
  #round: Promise<void> | undefined;
  #isRoundRequested = false;
  #hasWebhooks = true;
  /** An urgent entry was appended to the log and is not fed yet. */
  #isUrgent = false;
  #next: Cancel | undefined;
  #hinted: Cancel | undefined;
  #again: Cancel | undefined;

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.#due = new DueMessages(parts.store, parts.addressOf);
    this.#backlog = new Backlog(parts.onLimitReached ?? (() => undefined));
    this.#attempts = new WebhookPoster(parts, parts.runtime.report);
    this.#filters = new CompiledFilters(unreadableReporter(parts.runtime.report));
    this.#unreadable = unreadableWebhooks(parts.runtime.report);
  }

  start(): void {
    this.#next = this.#parts.runtime.after(everyMs, () => {
      this.wake();
      if (!this.#stopping.signal.aborted) this.start();
    });
  }

  /** Called when the log has grown. */
  afterCommit(isUrgent: boolean): void {
    if (!this.#hasWebhooks) return;
    this.#isUrgent ||= isUrgent;
    this.wake();
  }

  /** Called at a hint: another node may have appended to the log. */
  hinted(): void {
    if (!this.#hasWebhooks || this.#stopping.signal.aborted) return;
    this.#hinted ??= this.#parts.runtime.after(othersMs, () => {
      this.#hinted = undefined;
      this.wake();
    });
  }

  /** Called when a message may have become due. */
  wake(): void {
    this.#isRoundRequested = true;
    this.#round ??= outsideRequests(this.#parts.runtime, () => this.#work());
  }

  /** Aborts running attempts; another node, or the next start, sends these messages again. */
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
      while (this.#isRoundRequested && !this.#stopping.signal.aborted) {
        this.#isRoundRequested = false;
        const isUrgent = this.#isUrgent;
        this.#isUrgent = false;
        const fed = await feedWebhooks(store, isUrgent ? { urgent: true } : { soon: true }, {
          filters: this.#filters,
          backlog: this.#backlog,
          unreadable: this.#unreadable,
        });
        if (fed === "there is more") this.#isUrgent ||= isUrgent;
        this.#hasWebhooks = fed !== "no webhooks";
        if (fed === "there is more") this.#isRoundRequested = true;
        if (!this.#hasWebhooks) continue;
        await this.#beginDue();
      }
    } catch (error) {
      runtime.report.warn({ error }, "webhook messages could not be fed or sent; trying again");
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
    for (const limit of reached) this.#parts.onLimitReached?.(limit);
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
          // Another node has claimed the message, or the webhook was removed.
          if (!isClaimed) this.#due.forget(delivery.webhookId);
          return true;
        },
        // A store that can't write (a full disk) is retried at the next interval, not at once.
        (error) => {
          this.#parts.runtime.report.warn({ error }, "a webhook's delivery could not be settled");
          return false;
        },
      )
      .then((isSlotFree) => {
        this.#sending.delete(delivery.id);
        this.#slots.release(use);
        // The device's next message may be due now, and other messages may wait for the slot.
        if (isSlotFree && !this.#stopping.signal.aborted) this.wake();
      });
    this.#sending.set(delivery.id, done);
  }

  /** Claims and sends a message; false when the claim failed. */
  async #send(delivery: DueDelivery): Promise<boolean> {
    const { store, runtime } = this.#parts;
    // Urgent messages (`nextMs` 0) use urgent transactions; others queue like ordinary writes.
    const urgent = delivery.nextMs === 0;
    const untilMs = runtime.elapsedMs() + webhookTimes.usedMs;
    const claimed = await store.transaction(
      async (tx) => {
        const key = { ownerId: delivery.ownerId, id: delivery.webhookId };
        const [webhook, message] = await Promise.all([tx.webhooks.byKey(key), tx.deliveries.find(key, delivery.id)]);
        const nowMs = await tx.clock.nowMs();
        if (webhook && isHeld(webhook)) {
          // It may have been resumed since it was read: then its messages must not wait.
          await tx.webhooks.lock(key);
          const locked = await tx.webhooks.byKey(key);
          if (locked && isHeld(locked)) await tx.deliveries.hold(key, nowMs, nowMs + webhookTimes.heldMs);
          return "held" as const;
        }
        const nextMs = nowMs + webhookTimes.claimMs;
        const isClaimed = webhook && message && (await tx.deliveries.claim(delivery, nextMs));
        return isClaimed ? { webhook, message, nowMs, own: { ...delivery, nextMs } } : undefined;
      },
      { urgent },
    );
    if (claimed === "held") return true;
    if (!claimed) return false;
    // If this node was suspended for too long, its claim may have ended.
    const startedMs = runtime.elapsedMs();
    const leftMs = untilMs - startedMs;
    if (leftMs <= 0) return true;
    const { webhook, nowMs, own } = claimed;
    const { body, attempts, history: before } = claimed.message;
    const message = { id: delivery.messageId, body };
    const attempt = await within(runtime, Math.min(webhookTimes.answerMs, leftMs), this.#stopping.signal, (inTime) =>
      this.#attempts.make(webhook, message, nowMs, inTime),
    );
    if (this.#stopping.signal.aborted && attempt.status === null) return true;
    const tookMs = Math.round(runtime.elapsedMs() - startedMs);
    const history = withTry(before, { attempt: attempts + 1, timeMs: nowMs, tookMs, ...attempt });
    const ended = { ...attempt, history };
    await store.transaction((tx) => settle(tx, own, ended, runtime.random(), this.#backlog, urgent), { urgent });
    return true;
  }
}

/** Its messages wait, within the bounds of the backlog. */
export function isHeld({ pausedMs, suspended }: WebhookRow): boolean {
  return pausedMs !== null || suspended !== null;
}

async function settle(
  tx: SenderTables,
  delivery: DueDelivery,
  attempt: EndedAttempt,
  random: number,
  backlog: Backlog,
  isUrgent: boolean,
): Promise<void> {
  const webhook = { ownerId: delivery.ownerId, id: delivery.webhookId };
  await tx.webhooks.lock(webhook);
  const nowMs = await tx.clock.nowMs();
  const nextMs = nowMs + waitAfter(delivery.attempts + 1, random);
  const isDelivered = attempt.text === null;
  if (!isDelivered && nextMs <= delivery.createdMs + webhookTimes.giveUpMs) {
    return tx.deliveries.postpone(delivery, nextMs, attempt);
  }
  // The message about things of the same commit is as urgent as the one about attributes.
  const urgentNext = isUrgent ? thingMessageId(delivery.messageId) : undefined;
  await tx.deliveries.settle(delivery, isDelivered ? "delivered" : "failed", nowMs, attempt, urgentNext);
  await backlog.settled(tx, webhook);
}

/** Exponential back-off: 5 seconds, then four times as long each time, at most an hour, with jitter. */
export function waitAfter(attempts: number, random: number): number {
  const waitMs = Math.min(webhookTimes.longestWaitMs, 5_000 * 4 ** (attempts - 1));
  return Math.round(waitMs * (0.8 + 0.4 * random));
}
