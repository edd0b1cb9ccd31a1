import { type AttributeBody, readAttributeBody } from "../../devices/log-entries.ts";
import { isUrgent } from "../../model/transitions.ts";
import type { Priority, Store, Transaction } from "../../store/seam.ts";
import { comparePositions, type TailedEntry } from "../../store/tables/log.ts";
import type { FeedPlace, WebhookRow } from "../../store/tables/webhooks.ts";
import { messageOf, resyncBody } from "./message.ts";

export type FeedTables = Pick<Transaction, "log" | "logEpoch" | "webhooks" | "deliveries" | "clock">;

/** One step may turn so many entries into so many deliveries, and a few more: everybody waits while it does. */
const atOnce = { entries: 500, deliveries: 200 };

/**
 * Turns what the log has gained into deliveries, each exactly once whichever node does it: the place up to which that
 * has been done is locked, and moves on in the same transaction.
 */
export async function feedWebhooks(
  store: Store<FeedTables>,
  priority: Priority,
): Promise<"nobody listens" | "there is more" | "done"> {
  if (!(await store.read((tx) => tx.webhooks.isAny(), { soon: true }))) return "nobody listens";
  return store.transaction(async (tx) => {
    const feed = await tx.webhooks.lockFeed();
    const epoch = (await tx.logEpoch.current()).name;
    if (feed.epoch !== epoch) await enterEpoch(tx, feed, epoch);
    const entries = await tx.log.tail(feed, atOnce.entries);
    if (entries.length === 0) return "done";
    const users = [...new Set(entries.flatMap(({ userId }) => (userId === null ? [] : [userId])))];
    const webhooks = await tx.webhooks.hearing(users);
    for (const webhook of webhooks) await tx.webhooks.lock(webhook);
    let deliveries = 0;
    let fed = 0;
    for (const entry of entries) {
      for (const webhook of webhooks) if (await deliver(tx, webhook, entry, epoch)) deliveries += 1;
      fed += 1;
      if (deliveries >= atOnce.deliveries) break;
    }
    await tx.webhooks.setFeed({ ...entries[fed - 1]!.position, epoch });
    return fed < entries.length || fed === atOnce.entries ? "there is more" : "done";
  }, priority);
}

/**
 * The store was restored or promoted: some messages that receivers have taken may be gone from it. Every webhook is sent
 * a resync, once. Webhooks from before epochs existed miss nothing.
 */
async function enterEpoch(tx: FeedTables, feed: FeedPlace, epoch: string): Promise<void> {
  if (feed.epoch !== "") {
    const body = resyncBody("restored", await tx.clock.nowMs());
    await tx.deliveries.addToAll({ suffix: epoch, type: "resync", body });
  }
  await tx.webhooks.setFeed({ ...feed, epoch });
}

/** Answers whether the webhook is to be told of it. */
async function deliver(tx: FeedTables, webhook: WebhookRow, entry: TailedEntry, epoch: string): Promise<boolean> {
  const { userId, deviceId } = entry;
  const isIts = webhook.userId === null ? entry.tenantId === webhook.tenantId : userId === webhook.userId;
  if (!isIts || userId === null || deviceId === null) return false;
  if (comparePositions(entry.position, webhook.from) <= 0) return false;
  const message = messageOf(webhook.id, webhook, entry, epoch);
  if (!message) return false;
  await tx.deliveries.add({
    ownerId: webhook.ownerId,
    webhookId: webhook.id,
    userId,
    deviceId,
    messageId: message.id,
    type: message.type,
    body: message.body,
    isUrgent: tellsOfAlarm(entry),
  });
  return true;
}

/** An alarm that began or ceased to sound, an alert that fired, and what it wrote: they overtake other devices' news. */
function tellsOfAlarm(entry: TailedEntry): boolean {
  if (entry.kind !== "attribute") return entry.kind === "alert";
  const { cause, changes }: AttributeBody = readAttributeBody(entry);
  if (cause.by === "alert") return true;
  return isUrgent(changes.flatMap(([key, value]) => (typeof key === "number" ? [{ attribute: key, value }] : [])));
}
