import type { Store, Transaction } from "../../store/seam.ts";
import { comparePositions, type TailedEntry } from "../../store/tables/log.ts";
import type { WebhookRow } from "../../store/tables/webhooks.ts";
import { messageOf } from "./message.ts";

export type FeedTables = Pick<Transaction, "log" | "webhooks" | "deliveries">;

const entriesAtOnce = 50;

/**
 * Turns what the log has gained into deliveries, each exactly once whichever node does it: the place up to which that
 * has been done is locked, and moves on in the same transaction.
 */
export async function feedWebhooks(store: Store<FeedTables>): Promise<"nobody listens" | "there is more" | "done"> {
  if (!(await store.read((tx) => tx.webhooks.isAny()))) return "nobody listens";
  return store.transaction(async (tx) => {
    const entries = await tx.log.tail(await tx.webhooks.lockFeed(), entriesAtOnce);
    const last = entries.at(-1);
    if (!last) return "done";
    const users = [...new Set(entries.flatMap(({ userId }) => (userId === null ? [] : [userId])))];
    for (const webhook of await tx.webhooks.hearing(users)) {
      await tx.webhooks.lock(webhook.id);
      for (const entry of entries) await deliver(tx, webhook, entry);
    }
    await tx.webhooks.setFeed(last.position);
    return entries.length === entriesAtOnce ? "there is more" : "done";
  });
}

async function deliver(tx: FeedTables, webhook: WebhookRow, entry: TailedEntry): Promise<void> {
  const { userId, deviceId } = entry;
  const isIts = webhook.userId === null ? entry.tenantId === webhook.tenantId : userId === webhook.userId;
  if (!isIts || userId === null || deviceId === null || comparePositions(entry.position, webhook.from) <= 0) return;
  const message = messageOf(webhook.id, webhook, entry);
  if (!message) return;
  await tx.deliveries.add({
    webhookId: webhook.id,
    userId,
    deviceId,
    messageId: message.id,
    type: message.type,
    body: message.body,
  });
}
