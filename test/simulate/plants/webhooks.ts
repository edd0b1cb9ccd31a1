import type { FeedTables } from "../../../src/events/webhooks/feeder.ts";
import type { SenderParts } from "../../../src/events/webhooks/sender.ts";
import type { WebhookPoster } from "../../../src/events/webhooks/webhook-poster.ts";
import type { LogPosition } from "../../../src/store/tables/log-position.ts";
import { type TableChanges, withTables } from "./changed-parts.ts";
import { plant, replace } from "./plant.ts";

const feeder = () => import("../../../src/events/webhooks/feeder.ts");
const entriesAtOnce = 500;

function sendingOn(change: (tx: FeedTables) => TableChanges<FeedTables>) {
  return replace(() => import("../../../src/events/webhooks/sender.ts"), {
    WebhookSender: (original) =>
      class extends original {
        constructor(parts: SenderParts) {
          super({ ...parts, store: withTables(parts.store, change) });
        }
      },
  });
}

export const webhookPlants = [
  plant(
    "settled-before-sent",
    "a delivery counts as taken before it is sent",
    replace(() => import("../../../src/events/webhooks/webhook-poster.ts"), {
      WebhookPoster: (original) =>
        class extends original {
          override async make(...given: Parameters<WebhookPoster["make"]>) {
            super.make(...given).catch(() => undefined);
            return { status: 200, text: null };
          }
        },
    }),
  ),
  plant(
    "retried-at-the-end",
    "a delivery that was not taken is tried again behind those that came after it",
    sendingOn((tx) => ({
      deliveries: {
        async postpone(delivery, _, attempt) {
          const webhook = { ownerId: delivery.ownerId, id: delivery.webhookId };
          await tx.deliveries.settle(delivery, "failed", await tx.clock.nowMs(), attempt);
          await tx.deliveries.add((await tx.deliveries.find(webhook, delivery.id))!);
        },
      },
    })),
  ),
  plant(
    "unclaimed",
    "a delivery is sent by every node that finds it due",
    sendingOn((tx) => ({
      deliveries: {
        async claim(delivery) {
          await tx.deliveries.claim(delivery, await tx.clock.nowMs());
          return true;
        },
      },
    })),
  ),
  plant(
    "fed-before-stored",
    "the place up to which the log has become deliveries moves on before they are stored",
    replace(feeder, {
      feedWebhooks:
        (original) =>
        async (store, ...rest) => {
          const entries = await store.transaction(async (tx) => {
            const feed = await tx.webhooks.lockFeed();
            const found = await tx.log.tail(feed, entriesAtOnce);
            const reached = found.at(-1);
            if (reached) await tx.webhooks.setFeed({ ...feed, ...reached.position, things: reached.position });
            return found;
          });
          const later = withTables(store, () => ({
            log: { tail: async () => entries },
            webhooks: { setFeed: async () => undefined },
          }));
          return original(later, ...rest);
        },
    }),
  ),
  plant(
    "fed-by-both",
    "two nodes may turn the same entries of the log into deliveries",
    replace(feeder, {
      feedWebhooks: (original) => {
        const own = new WeakMap<object, LogPosition>();
        return (store, ...rest) => {
          const tail: FeedTables["log"]["tail"] = (_, limit) =>
            store.read(async (tx) => {
              const entries = await tx.log.tail(own.get(store) ?? { transaction: 0, id: 0 }, limit);
              const reached = entries.at(-1);
              if (reached) own.set(store, reached.position);
              return entries;
            });
          return original(
            withTables(store, () => ({ log: { tail } })),
            ...rest,
          );
        };
      },
    }),
  ),
];
