import { ownerIdOf } from "../../../src/model/ids.ts";
import type { WebhookKey, WebhookOwner, WebhookRow } from "../../../src/store/tables/webhooks.ts";
import { standIn } from "../stand-in.ts";
import { feed, lockFeed, removeDeliveries } from "./delivery-rows.ts";
import type { Session, SimulatedTables } from "./memory-tables.ts";
import { exclusive } from "./row-locks.ts";
import type { Draft, Rows } from "./rows.ts";

export function webhooksIn(rows: Rows): WebhookRow[] {
  const all = [...rows.all<WebhookRow>("webhooks").values()];
  return all.sort((a, b) => a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1));
}

/** The table of webhooks in memory. Their clients never lose access. */
export function webhookRows(session: Session): SimulatedTables["webhooks"] {
  const isOwners = (owner: WebhookOwner) => (row: WebhookRow) =>
    owner.kind === "user" && row.userId === owner.userId && row.clientId === owner.clientId;
  const where = (rows: Draft, isMeant: (row: WebhookRow) => boolean) => webhooksIn(rows).filter(isMeant);
  const lock = ({ id }: WebhookKey) =>
    session.run(
      `lock webhook ${id}`,
      () => undefined,
      (rows) => (rows.get("webhooks", id) ? [exclusive("webhooks", id)] : []),
    );
  return standIn<SimulatedTables["webhooks"]>("webhooks", {
    add: (webhook) =>
      session.run(`add webhook ${webhook.id}`, (rows) => {
        const ownerId = ownerIdOf(webhook);
        const unheld = { pausedMs: null, suspended: null };
        rows.set("webhooks", webhook.id, {
          ...webhook,
          ...unheld,
          ownerId,
          isReadable: true,
          createdMs: session.nowMs(),
        });
        return { ownerId, id: webhook.id };
      }),
    ofOwner: (owner) => session.run("webhooks of owner", (rows) => where(rows, isOwners(owner))),
    find: (owner, id) =>
      session.run(`find webhook ${id}`, (rows) => where(rows, isOwners(owner)).find((row) => row.id === id)),
    byKey: ({ id }) => session.run(`webhook ${id}`, (rows) => rows.get<WebhookRow>("webhooks", id)),
    hearing: (userIds) =>
      session.run("webhooks that hear", (rows) =>
        where(rows, ({ userId }) => userId === null || userIds.includes(userId)),
      ),
    isAny: () => session.run("any webhook?", (rows) => rows.all("webhooks").size > 0),
    doAnyHearThings: () => session.run("any things?", (rows) => webhooksIn(rows).some((row) => row.hearsThings)),
    lock,
    async lockAll(keys) {
      for (const key of keys) await lock(key);
    },
    async remove({ id }) {
      await removeDeliveries(session, `of webhook ${id}`, ({ webhookId }) => webhookId === id);
      await session.run(
        `remove webhook ${id}`,
        (rows) => rows.set("webhooks", id, undefined),
        () => [exclusive("webhooks", id)],
      );
    },
    removeDead: async () => 0,
    lockFeed: () => lockFeed(session),
    setFeed: (position) => session.run("move feed", (rows) => rows.set(feed, 1, position)),
  });
}
