import type { DeviceId, UserId } from "../../model/ids.ts";
import type { Transaction } from "../../store/seam.ts";
import type { WebhookRow } from "../../store/tables/webhooks.ts";
import { resyncBody, type WebhookMessage } from "./message.ts";

/** A resync is about no device in particular. Such messages are sent in order among themselves. */
export const noDevice = 0 as DeviceId;
const noUser = 0 as UserId;

/** Not everything that happened was sent. The id tells such messages of one webhook apart. */
export function tooManyWaiting(webhookId: string, id: string, nowMs: number): WebhookMessage {
  return { id: `msg_${webhookId}_resync_${id}`, type: "resync", body: resyncBody("too_many_waiting", nowMs) };
}

/**
 * Adds a resync, which goes out before all that waits. One that was never sent yet already says the same. The caller
 * holds the webhook's lock.
 */
export async function addResync(
  tx: Pick<Transaction, "deliveries">,
  webhook: WebhookRow,
  message: WebhookMessage,
): Promise<void> {
  const { ownerId, id: webhookId, userId } = webhook;
  if (await tx.deliveries.isUnsent(webhook, noDevice)) return;
  const to = { ownerId, webhookId, userId: userId ?? noUser, deviceId: noDevice };
  await tx.deliveries.add({ ...to, messageId: message.id, type: message.type, body: message.body, isUrgent: true });
}
