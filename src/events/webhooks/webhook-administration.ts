import { BadParameter, LimitReached, NotFound } from "../../model/errors.ts";
import type { TenantId } from "../../model/ids.ts";
import { limits } from "../../model/limits.ts";
import type { Store, Transaction } from "../../store/seam.ts";
import type { DeliveryRow, DeliveryState, DueDelivery, ListedDelivery } from "../../store/tables/webhook-deliveries.ts";
import type { WebhookRow } from "../../store/tables/webhooks.ts";
import { noDevice } from "./resync.ts";
import { isHeld } from "./sender.ts";
import { newWebhookSecret } from "./signature.ts";
import { secretContext } from "./webhooks.ts";

/** A webhook of any client, with the state of its deliveries. */
export interface WebhookRecord {
  readonly webhook: WebhookRow;
  /** Empty when the key of the address is missing. */
  readonly url: string;
  /** Messages that wait, counted up to `mostCounted`. */
  readonly waiting: number;
  /** The last deliveries, newest first, without their bodies. */
  readonly recent: readonly ListedDelivery[];
  /** The waiting message of which an attempt has failed and that is tried next. It may be older than all recent ones. */
  readonly nextRetry: DueDelivery | undefined;
  /** The newest message that was delivered or has failed for good; not searched for while a message is retried. */
  readonly lastSettled: DueDelivery | undefined;
}

export const mostCounted = 1_000;

/** `12`, `1,000 or more`. */
export function waitingInWords(waiting: number): string {
  return waiting < mostCounted ? String(waiting) : `${mostCounted.toLocaleString("en")} or more`;
}
const recentShown = 20;
/** Messages that are added in one transaction. */
const resentAtOnce = 100;

export interface WebhookQuestion {
  readonly tenantIds?: readonly TenantId[] | undefined;
  readonly clientId?: string | undefined;
  readonly id?: string | undefined;
  readonly only?: "paused" | "failing" | undefined;
  readonly afterId: string;
  readonly limit: number;
}

/** What an administrator does with the webhooks of all clients. */
export interface WebhookAdministration {
  list(question: WebhookQuestion): Promise<readonly WebhookRecord[]>;
  deliveries(
    webhook: WebhookRow,
    filter: {
      readonly state?: DeliveryState | undefined;
      readonly beforeId?: number | undefined;
      readonly limit: number;
    },
  ): Promise<readonly ListedDelivery[]>;
  /** One delivery with its body. */
  delivery(webhook: WebhookRow, deliveryId: number): Promise<DeliveryRow>;
  /**
   * Sends a settled message again; returns the new delivery. A waiting message is tried now: it, or the message of its
   * device that goes before it.
   */
  resend(webhook: WebhookRow, deliveryId: number): Promise<DeliveryRow>;
  /** Tries waiting messages now instead of later, unless the webhook holds them; returns how many. */
  tryWaiting(webhook: WebhookRow): Promise<number>;
  /**
   * Sends all messages again that failed since that time, oldest first, unless they wait or have arrived meanwhile;
   * returns how many. It calls `onResent` with the number so far after each transaction: a later one may fail.
   */
  resendSince(webhook: WebhookRow, sinceMs: number, onResent?: (count: number) => void): Promise<number>;
  /** Sends a message of the type `test`. */
  test(webhook: WebhookRow): Promise<DeliveryRow>;
  /** Its messages wait, within the bounds of every backlog, until `resume`. */
  pause(webhook: WebhookRow): Promise<WebhookRecord>;
  /** What waits is sent now, in order. */
  resume(webhook: WebhookRow): Promise<WebhookRecord>;
  /** Replaces the secret, and returns the new one. The old one ends at once. */
  rotate(webhook: WebhookRow): Promise<string>;
}

export interface WebhookAdministrationParts {
  readonly store: Store<Pick<Transaction, "webhooks" | "deliveries" | "clock">>;
  readonly seal: (secret: string, place: string) => string;
  readonly addressOf: (webhook: WebhookRow) => string;
  readonly wake: () => void;
}

export function webhookAdministrationOn(parts: WebhookAdministrationParts): WebhookAdministration {
  const { store, seal, addressOf, wake } = parts;
  type Tables = Pick<Transaction, "webhooks" | "deliveries" | "clock">;

  async function recordOf(tx: Tables, webhook: WebhookRow): Promise<WebhookRecord> {
    const { messages: waiting } = await tx.deliveries.waitingOf(webhook, mostCounted);
    const recent = await tx.deliveries.listed(webhook, { limit: recentShown });
    const nextRetry = await tx.deliveries.nextRetry(webhook);
    const isOlder = nextRetry === undefined && recent.length === recentShown;
    const lastSettled =
      recent.find(({ state }) => state !== "waiting") ??
      (isOlder ? await tx.deliveries.lastSettled(webhook) : undefined);
    return { webhook, url: addressOrEmpty(webhook, addressOf), waiting, recent, nextRetry, lastSettled };
  }

  /** Adds messages under the webhook's lock, so that they keep their order. */
  const adding = <Result>(webhook: WebhookRow, add: (tx: Tables) => Promise<Result>): Promise<Result> =>
    locked(webhook, async (tx) => {
      await refuseMore(tx, webhook);
      return add(tx);
    });

  async function locked<Result>(webhook: WebhookRow, act: (tx: Tables) => Promise<Result>): Promise<Result> {
    const result = await store.transaction(async (tx) => {
      await tx.webhooks.lockFeed();
      if (!(await tx.webhooks.byKey(webhook))) throw unknown();
      await tx.webhooks.lock(webhook);
      return act(tx);
    });
    wake();
    return result;
  }

  async function refuseMore(tx: Tables, webhook: WebhookRow): Promise<void> {
    const { messages } = await tx.deliveries.waitingOf(webhook, limits.webhookMessagesWaiting);
    if (messages < limits.webhookMessagesWaiting) return;
    const sentence = `${messages} messages wait for this webhook already. Try again when they are delivered.`;
    throw new LimitReached("webhookMessagesWaiting", sentence);
  }

  const change = async (webhook: WebhookRow, act: (tx: Tables) => Promise<void>): Promise<WebhookRecord> => {
    const changed = await store.transaction(async (tx) => {
      await tx.webhooks.lock(webhook);
      if (!(await tx.webhooks.byKey(webhook))) throw unknown();
      await act(tx);
      return recordOf(tx, (await tx.webhooks.byKey(webhook))!);
    });
    wake();
    return changed;
  };

  return {
    list: (question) =>
      store.read(async (tx) => {
        const records: WebhookRecord[] = [];
        for (const webhook of await tx.webhooks.listed(question)) records.push(await recordOf(tx, webhook));
        return records;
      }),
    deliveries: (webhook, filter) => store.read((tx) => tx.deliveries.listed(webhook, filter)),
    async delivery(webhook, deliveryId) {
      const found = await store.read((tx) => tx.deliveries.find(webhook, deliveryId));
      if (!found) throw unknown();
      return found;
    },
    resend: (webhook, deliveryId) =>
      locked(webhook, async (tx) => {
        const delivery = await tx.deliveries.find(webhook, deliveryId);
        if (!delivery) throw unknown();
        if (delivery.state === "waiting") {
          refuseHeld(webhook);
          await tx.deliveries.makeDue(webhook, await tx.clock.nowMs(), delivery.deviceId);
          return (await tx.deliveries.find(webhook, deliveryId))!;
        }
        await refuseMore(tx, webhook);
        return (await tx.deliveries.find(webhook, await tx.deliveries.add({ ...delivery, isResend: true })))!;
      }),
    tryWaiting: (webhook) =>
      locked(webhook, async (tx) => (isHeld(webhook) ? 0 : tx.deliveries.makeDue(webhook, await tx.clock.nowMs()))),
    async resendSince(webhook, sinceMs, onResent) {
      let count = 0;
      // A message that is resent here and fails at once is not resent a second time: its new delivery has a later id.
      let beforeId: number | undefined;
      for (let afterId = 0; ; ) {
        const some = await adding(webhook, async (tx) => {
          const page = { afterId, beforeId, limit: resentAtOnce };
          const failed = await tx.deliveries.failedSince(webhook, sinceMs, page);
          const added: number[] = [];
          for (const delivery of failed) added.push(await tx.deliveries.add({ ...delivery, isResend: true }));
          return { failed, added };
        });
        const last = some.failed.at(-1);
        count += some.failed.length;
        onResent?.(count);
        if (some.failed.length < resentAtOnce || last === undefined) return count;
        afterId = last.id;
        beforeId ??= some.added[0];
      }
    },
    test: (webhook) =>
      adding(webhook, async (tx) => {
        const nowMs = await tx.clock.nowMs();
        const body = JSON.stringify({ type: "test", timestamp: new Date(nowMs).toISOString(), data: {} });
        const { ownerId, id: webhookId, userId } = webhook;
        const message = { messageId: `msg_${webhookId}_test_${nowMs}`, type: "test", body };
        const to = { ownerId, webhookId, userId: userId ?? (0 as DeliveryRow["userId"]), deviceId: noDevice };
        return (await tx.deliveries.find(webhook, await tx.deliveries.add({ ...to, ...message })))!;
      }),
    pause: (webhook) =>
      change(webhook, async (tx) => tx.webhooks.setPaused(webhook, webhook.pausedMs ?? (await tx.clock.nowMs()))),
    resume: (webhook) =>
      change(webhook, async (tx) => {
        await tx.webhooks.setPaused(webhook, null);
        await tx.deliveries.makeDue(webhook, await tx.clock.nowMs());
      }),
    async rotate(webhook) {
      const secret = newWebhookSecret();
      await store.transaction(async (tx) => {
        await tx.webhooks.lock(webhook);
        if (!(await tx.webhooks.byKey(webhook))) throw unknown();
        await tx.webhooks.setSecret(webhook, seal(secret, secretContext(webhook.id)));
      });
      return secret;
    },
  };
}

function addressOrEmpty(webhook: WebhookRow, addressOf: (webhook: WebhookRow) => string): string {
  try {
    return addressOf(webhook);
  } catch {
    return "";
  }
}

/** A held message can't be tried now. */
function refuseHeld(webhook: WebhookRow): void {
  if (webhook.pausedMs !== null) {
    throw new BadParameter("webhook", "The webhook is paused. Resume it, and what waits is sent.");
  }
  if (webhook.suspended !== null) {
    const sentence = `The ${webhook.suspended} of the webhook is suspended. Resume the ${webhook.suspended}, and what waits is sent.`;
    throw new BadParameter("webhook", sentence);
  }
}

function unknown(): NotFound {
  return new NotFound("There is no such webhook or delivery.");
}
