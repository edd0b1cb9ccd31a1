import type { DeviceId, UserId } from "../../model/ids.ts";
import type { Transaction } from "../../store/seam.ts";
import { noLinkedDevice } from "../../store/tables/delivery-bounds.ts";
import type { WebhookRow } from "../../store/tables/webhooks.ts";
import { resyncBody, type WebhookMessage } from "./message.ts";

/** The device id of a resync, which belongs to no device. Such messages are ordered among themselves. */
export const noDevice = 0 as DeviceId;
const noUser = 0 as UserId;

export { noLinkedDevice };

/** A resync because messages were dropped. The id makes it unique within a webhook. */
export function tooManyWaiting(webhookId: string, id: string, nowMs: number): WebhookMessage {
  return { id: `msg_${webhookId}_resync_${id}`, type: "resync", body: resyncBody("too_many_waiting", nowMs) };
}

/**
 * Adds a resync, which is sent before all waiting messages. If an unsent one exists, it suffices. The caller holds the
 * webhook's lock.
 */
export async function addResync(
  tx: Pick<Transaction, "deliveries">,
  webhook: WebhookRow,
  message: WebhookMessage,
): Promise<void> {
  const { ownerId, id: webhookId, userId } = webhook;
  if (await tx.deliveries.isUnsent(webhook, noDevice, message.type)) return;
  const to = { ownerId, webhookId, userId: userId ?? noUser, deviceId: noDevice };
  await tx.deliveries.add({ ...to, messageId: message.id, type: message.type, body: message.body, isUrgent: true });
}
