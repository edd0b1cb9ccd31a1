import type { AttributeBody, ThingBody } from "../../devices/log-entries.ts";
import { isUrgentThing } from "../../devices/urgent-things.ts";
import { type OwnerId, ownerIdOf, type UserId } from "../../model/ids.ts";
import type { Logger } from "../../runtime/runtime.ts";
import type { Priority, Store, Transaction } from "../../store/seam.ts";
import type { EntryOfUser, TailedEntry } from "../../store/tables/log.ts";
import { comparePositions, type LogPosition } from "../../store/tables/log-position.ts";
import type { NewDelivery } from "../../store/tables/webhook-deliveries.ts";
import type { FeedPosition, WebhookRow } from "../../store/tables/webhooks.ts";
import { isUrgent } from "../../virtual-device/urgent-changes.ts";
import { isAboutThings } from "../client-events.ts";
import { writeEventId } from "../event-id.ts";
import type { Backlog } from "./backlog.ts";
import type { CompiledFilters } from "./compiled-filters.ts";
import { messagesOf, resyncBody, type WebhookMessage } from "./message.ts";
import { noLinkedDevice } from "./resync.ts";

export type FeedTables = Pick<Transaction, "log" | "logEpoch" | "webhooks" | "deliveries" | "clock">;

export interface FeedParts {
  readonly filters: CompiledFilters;
  readonly backlog: Backlog;
  /** Called for each webhook whose filter can't be read. It gets no messages; all others do. */
  readonly unreadable: (webhook: WebhookRow) => void;
}

const mostReported = 1_000;

/** Bound of one step, in entries and deliveries (slightly exceeded), because others wait during it. */
const atOnce = { entries: 500, deliveries: 200 };
/** Entries that no webhook hears, which a step that is behind skips by their users. */
const skippedAtOnce = 5_000;

/**
 * Turns new log entries into deliveries, exactly once over all nodes: the position of the feed is locked and advances
 * in the same transaction. Messages about things have a position of their own: a node of a version without things leaves
 * it behind, and the next node that knows things makes up for it.
 */
export async function feedWebhooks(
  store: Store<FeedTables>,
  priority: Priority,
  { filters, backlog, unreadable }: FeedParts,
): Promise<"no webhooks" | "there is more" | "done"> {
  if (!(await store.read((tx) => tx.webhooks.isAny(), { soon: true }))) return "no webhooks";
  return store.transaction(async (tx) => {
    const feed = await tx.webhooks.lockFeed();
    const epoch = (await tx.logEpoch.current()).name;
    if (feed.epoch !== epoch) await enterEpoch(tx, feed, epoch);
    const from = await startOf(tx, feed);
    const entries = await tx.log.tail(from, atOnce.entries);
    if (entries.length === 0) return "done";
    const hearing = await tx.webhooks.hearing(usersOf(entries));
    const webhooks = hearing.filter(({ isReadable }) => isReadable);
    for (const webhook of hearing) if (!webhook.isReadable) unreadable(webhook);
    const byOwner = Map.groupBy(webhooks, ({ ownerId }) => ownerId);
    const planned: Planned[] = [];
    let fed = 0;
    for (const entry of entries) {
      const isFed = from !== feed && comparePositions(entry.position, feed) <= 0;
      planned.push(...plan(byOwner, entry, filters, epoch).filter((one) => !isFed || isOfThings(one)));
      fed += 1;
      if (planned.length >= atOnce.deliveries) break;
    }
    const byWebhook = Map.groupBy(planned, ({ webhook }) => webhook);
    // Lock only webhooks that get messages, always in the same order.
    await tx.webhooks.lockAll(webhooks.filter((webhook) => byWebhook.has(webhook)));
    await tx.deliveries.addAll(planned.map(deliveryOf));
    for (const [webhook, added] of byWebhook) {
      const bytes = added.reduce((sum, { message }) => sum + Buffer.byteLength(message.body), 0);
      await backlog.added(
        tx,
        webhook,
        { messages: added.length, bytes },
        writeEventId({ epoch, position: entries[fed - 1]!.position }),
      );
    }
    const isBehind = fed === atOnce.entries;
    const reached = isBehind ? await lastUnheard(tx, entries[fed - 1]!.position) : entries[fed - 1]!.position;
    await tx.webhooks.setFeed({ ...(from === feed ? reached : latest(reached, feed)), things: reached, epoch });
    return fed < entries.length || isBehind ? "there is more" : "done";
  }, priority);
}

/**
 * The position of the last entry before one that a webhook hears. Thousands of homes that no webhook hears must not delay
 * the alarm of another one.
 */
async function lastUnheard(tx: FeedTables, from: LogPosition): Promise<LogPosition> {
  const entries = await tx.log.tailUsers(from, skippedAtOnce);
  const owners = new Set((await tx.webhooks.hearing(usersOf(entries))).map(({ ownerId }) => ownerId));
  const heard = entries.findIndex((entry) => ownersOf(entry).some((ownerId) => owners.has(ownerId)));
  const unheard = heard === -1 ? entries : entries.slice(0, heard);
  return unheard.at(-1)?.position ?? from;
}

function usersOf(entries: readonly EntryOfUser[]): readonly UserId[] {
  return [...new Set(entries.flatMap(({ userId }) => (userId === null ? [] : [userId])))];
}

/** Those whose webhooks hear the entry: its user and the tenant. */
function ownersOf({ userId, tenantId }: EntryOfUser): readonly OwnerId[] {
  return userId === null ? [] : [userId, ownerIdOf({ userId: null, tenantId })];
}

/** Reports each webhook that can't be read once, and a bounded number of them. */
export function unreadableWebhooks(report: Logger): FeedParts["unreadable"] {
  const reported = new Set<string>();
  return ({ id, ownerId }) => {
    if (reported.has(id) || reported.size >= mostReported) return;
    reported.add(id);
    report.error(
      { webhook: id, owner: ownerId },
      "a webhook gets no messages, since its filter can't be read; its client must remove it and add it again",
    );
  };
}

/** Whether only nodes that know things make this message. */
function isOfThings({ entry, message }: Planned): boolean {
  return message.type === "thing" || isAboutThings(entry.kind);
}

/** The position from which entries are read. Without webhooks that receive things, none of them waits. */
async function startOf(tx: FeedTables, feed: FeedPosition): Promise<LogPosition> {
  const isBehind = comparePositions(feed.things, feed) < 0;
  return isBehind && (await tx.webhooks.doAnyHearThings()) ? feed.things : feed;
}

function latest(one: LogPosition, other: LogPosition): LogPosition {
  const { transaction, id } = comparePositions(one, other) < 0 ? other : one;
  return { transaction, id };
}

/**
 * After the store was restored or promoted: some messages that receivers have got may be missing from it, so every
 * webhook is sent one resync. Webhooks from before epochs existed miss nothing.
 */
async function enterEpoch(tx: FeedTables, feed: FeedPosition, epoch: string): Promise<void> {
  if (feed.epoch !== "") {
    const body = resyncBody("restored", await tx.clock.nowMs());
    await tx.deliveries.addToAll({ suffix: epoch, type: "resync", body });
  }
  await tx.webhooks.setFeed({ ...feed, epoch });
}

/** A message of one entry for one webhook. */
interface Planned {
  readonly webhook: WebhookRow;
  readonly entry: TailedEntry;
  readonly message: WebhookMessage;
}

function plan(
  webhooks: ReadonlyMap<OwnerId, readonly WebhookRow[]>,
  entry: TailedEntry,
  filters: CompiledFilters,
  epoch: string,
): readonly Planned[] {
  const { userId, deviceId, position } = entry;
  if (userId === null || (deviceId === null && entry.kind !== "linkSession")) return [];
  return ownersOf(entry)
    .flatMap((ownerId) => webhooks.get(ownerId) ?? [])
    .flatMap((webhook) => {
      if (comparePositions(position, webhook.from) <= 0) return [];
      const messages = messagesOf(webhook.id, filters.of(webhook), entry, epoch);
      return messages.map((message) => ({ webhook, entry, message }));
    });
}

function deliveryOf({ webhook, entry, message }: Planned): NewDelivery {
  return {
    ownerId: webhook.ownerId,
    webhookId: webhook.id,
    userId: entry.userId!,
    deviceId: entry.deviceId ?? noLinkedDevice,
    messageId: message.id,
    type: message.type,
    body: message.body,
    isUrgent: isUrgentEntry(entry, webhook.hearsThings),
  };
}

/**
 * Whether a message is urgent: an alarm started or stopped sounding, or an alert fired or wrote. Urgent messages go
 * before those of other devices. For a webhook that receives things, their alarms make both messages of a commit urgent:
 * the message about things waits for the other one.
 */
function isUrgentEntry(entry: TailedEntry, hearsThings: boolean): boolean {
  if (entry.kind === "alert" || entry.kind === "thingAlert") return true;
  if (entry.kind !== "attribute" && entry.kind !== "thing") return false;
  const body = JSON.parse(entry.body) as Partial<AttributeBody> & Partial<ThingBody>;
  const { cause, changes = [], things = [] } = body;
  if (cause?.by === "alert") return true;
  const attributes = changes.flatMap(([key, value]) => (typeof key === "number" ? [{ attribute: key, value }] : []));
  return isUrgent(attributes) || (hearsThings && things.some((thing) => isUrgentThing(thing, cause)));
}
