import type { DeviceId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { LogKind, TailedEntry } from "../store/tables/log.ts";
import { comparePositions, type LogPosition } from "../store/tables/log-position.ts";
import type { RecentFilter } from "../store/tables/recent-log.ts";
import type { DueDelivery } from "../store/tables/webhook-deliveries.ts";
import { type Chain, chainsOf, isConsequence } from "./chains.ts";
import { writeEventId } from "./event-id.ts";
import { thingMessageId } from "./webhooks/message.ts";

/** Which chains are asked for. A chain matches when one of its entries does. */
export interface RecentQuestion extends RecentFilter {
  readonly deviceId?: DeviceId | undefined;
  readonly kind?: LogKind | undefined;
  readonly before?: LogPosition | undefined;
  readonly limit: number;
}

export interface RecentChains {
  /** Newest first. */
  readonly chains: readonly (Chain & { readonly deliveries: readonly DueDelivery[] })[];
  /** `before` of the next page; undefined when there is nothing older. */
  readonly next: LogPosition | undefined;
  /** How far back was looked, when that was not far enough to fill the page. */
  readonly lookedBackToMs: number | undefined;
}

export interface RecentEvents {
  recent(question: RecentQuestion): Promise<RecentChains>;
}

/** Entries that are looked at, step by step, until a page is full. A page never costs more than their sum. */
const looks = [200, 800, 2_000, 2_000];
/** Webhooks whose deliveries are read, and how many of the last deliveries of each. */
const readLimits = { webhooks: 50, deliveries: 200 };

type Tables = Pick<Transaction, "recentLog" | "logEpoch" | "webhooks" | "deliveries">;

/** What happened last, by cause, with the messages that webhooks got about it. */
export function recentEventsOn(store: Store<Tables>): RecentEvents {
  return {
    async recent({ deviceId, kind, before, limit, ...filter }) {
      const isMeant = ({ steps }: Chain) =>
        (deviceId === undefined || steps.some((step) => step.deviceId === deviceId)) &&
        (kind === undefined || steps.some((step) => step.kind === kind));
      const entries: TailedEntry[] = [];
      let place = before;
      let found: readonly Chain[] = [];
      let lookedAt: { readonly position: LogPosition; readonly timeMs: number } | undefined;
      for (const count of looks) {
        const from = place;
        const read = await store.read((tx) => tx.recentLog.before(from, filter, count));
        entries.push(...read.entries);
        lookedAt = read.lookedAt;
        found = chainsOf(entries).filter(isMeant);
        const oldest = found.at(-1);
        // The oldest one may have begun before.
        const isWhole = oldest === undefined || !isConsequence(oldest.steps[0]!);
        if (!lookedAt || (found.length > limit && isWhole)) break;
        place = lookedAt.position;
      }
      const isFull = found.length > limit;
      const page = isFull ? newest(found, limit) : found;
      return {
        chains: await withDeliveries(store, page),
        next: isFull ? page.at(-1)!.position : lookedAt?.position,
        lookedBackToMs: isFull ? undefined : lookedAt?.timeMs,
      };
    },
  };
}

/**
 * The newest chains, newest first. The next page reads only entries before them. So the later steps of an older chain, such
 * as what became of a command, are a chain of their own here: no other page would have them.
 */
function newest(chains: readonly Chain[], limit: number): readonly Chain[] {
  let page = chains;
  while (page.length > limit) {
    const first = page[limit - 1]!.position;
    page = chains
      .flatMap(({ steps }) => {
        const later = steps.filter(({ position }) => comparePositions(position, first) >= 0);
        return later.length === 0 ? [] : [{ position: later[0]!.position, steps: later }];
      })
      .sort((a, b) => comparePositions(b.position, a.position));
  }
  return page;
}

async function withDeliveries(store: Store<Tables>, chains: readonly Chain[]): Promise<RecentChains["chains"]> {
  const users = [...new Set(chains.flatMap(({ steps }) => steps.flatMap(({ userId }) => userId ?? [])))];
  if (users.length === 0) return chains.map((chain) => ({ ...chain, deliveries: [] }));
  return store.read(async (tx) => {
    const epoch = (await tx.logEpoch.current()).name;
    const webhooks = (await tx.webhooks.hearing(users)).slice(0, readLimits.webhooks);
    const byMessage = new Map<string, DueDelivery>();
    for (const webhook of webhooks) {
      const last = await tx.deliveries.listed(webhook, { limit: readLimits.deliveries });
      // Newest first: of a message that was sent again, the last delivery counts.
      for (const delivery of last) if (!byMessage.has(delivery.messageId)) byMessage.set(delivery.messageId, delivery);
    }
    const about = (position: LogPosition) =>
      webhooks.flatMap(({ id }) => {
        const messageId = `msg_${id}_${writeEventId({ epoch, position })}`;
        return [messageId, thingMessageId(messageId)].flatMap((one) => byMessage.get(one) ?? []);
      });
    return chains.map((chain) => ({ ...chain, deliveries: chain.steps.flatMap(({ position }) => about(position)) }));
  });
}
