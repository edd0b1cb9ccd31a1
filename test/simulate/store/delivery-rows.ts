import { logStart } from "../../../src/store/tables/log-position.ts";
import type { DeliveryRow, NewDelivery } from "../../../src/store/tables/webhook-deliveries.ts";
import type { FeedPosition } from "../../../src/store/tables/webhooks.ts";
import { standIn } from "../stand-in.ts";
import type { Session, SimulatedTables } from "./memory-tables.ts";
import { exclusive } from "./row-locks.ts";
import type { Draft, Rows } from "./rows.ts";

const table = "deliveries";
export const feed = "webhook feed";

/** All deliveries of webhooks, the oldest first. */
export function deliveriesIn(rows: Rows): DeliveryRow[] {
  return [...rows.all<DeliveryRow>(table).values()].sort((a, b) => a.id - b.id);
}

/** The table of deliveries in memory. */
export function deliveryRows(session: Session): SimulatedTables["deliveries"] {
  const change = (what: string, id: number, act: (row: DeliveryRow) => Partial<DeliveryRow> | undefined) =>
    session.run(
      `${what} delivery ${id}`,
      (rows) => {
        const row = rows.get<DeliveryRow>(table, id);
        const changed = row && act(row);
        if (changed) rows.set(table, id, { ...row, ...changed });
        return changed !== undefined;
      },
      () => [exclusive(table, id)],
    );
  const waiting = (rows: Draft, webhookId: string, deviceId: number) =>
    deliveriesIn(rows).filter(
      (row) => row.webhookId === webhookId && row.deviceId === deviceId && row.state === "waiting",
    );
  const add = ({ ownerId, webhookId, userId, deviceId, messageId, type, body }: NewDelivery) =>
    session.run(`add delivery ${messageId}`, (rows) => {
      const id = session.nextId();
      const nowMs = session.nowMs();
      const nextMs = waiting(rows, webhookId, deviceId).length === 0 ? nowMs : null;
      const delivery = { ownerId, webhookId, userId, deviceId, messageId, type, body };
      const unsent = { state: "waiting", attempts: 0, settledMs: null, status: null, text: null, history: null };
      rows.set(table, id, { id, ...delivery, ...unsent, nextMs, createdMs: nowMs });
      return id;
    });
  return standIn<SimulatedTables["deliveries"]>("deliveries", {
    add,
    async addAll(deliveries) {
      for (const delivery of deliveries) await add(delivery);
    },
    find: (webhook, id) =>
      session.run(`delivery ${id}`, (rows) => {
        const row = rows.get<DeliveryRow>(table, id);
        return row?.webhookId === webhook.id ? row : undefined;
      }),
    // All due deliveries in one query: there are few webhooks here.
    due: (nowMs) =>
      session.run("due deliveries", (rows) => {
        const deliveries = deliveriesIn(rows)
          .filter(({ state, nextMs }) => state === "waiting" && nextMs !== null && nextMs <= nowMs)
          .sort((a, b) => a.nextMs! - b.nextMs! || a.id - b.id);
        return { deliveries, lastWebhook: undefined };
      }),
    claim: ({ id, nextMs }, untilMs) =>
      change("claim", id, (row) =>
        row.state === "waiting" && row.nextMs === nextMs ? { nextMs: untilMs, attempts: row.attempts + 1 } : undefined,
      ),
    postpone: async ({ id, nextMs }, untilMs, attempt) =>
      void (await change("postpone", id, (row) =>
        row.state === "waiting" && row.nextMs === nextMs ? { nextMs: untilMs, ...attempt } : undefined,
      )),
    async settle({ id, webhookId, deviceId }, state, nowMs, attempt) {
      await change(state, id, () => ({ state, nextMs: null, settledMs: nowMs, ...attempt }));
      const next = (rows: Draft) => waiting(rows, webhookId, deviceId)[0];
      await session.run(
        `next delivery of ${deviceId}`,
        (rows) => {
          const row = next(rows);
          if (row?.nextMs === null) rows.set(table, row.id, { ...row, nextMs: nowMs });
        },
        (rows) => {
          const row = next(rows);
          return row ? [exclusive(table, row.id)] : [];
        },
      );
    },
    // A run never reaches the limits on waiting and kept messages.
    waitingOf: async () => ({ messages: 0, bytes: 0 }),
    keepSettled: async () => 0,
    removeSettled: (beforeMs, limit) =>
      session.run("remove settled deliveries", (rows) => {
        const old = deliveriesIn(rows).filter(({ settledMs }) => settledMs !== null && settledMs < beforeMs);
        for (const { id } of old.slice(0, limit)) rows.set(table, id, undefined);
        return Math.min(limit, old.length);
      }),
  });
}

/** The position up to which log entries have become deliveries. */
export function lockFeed(session: Session): Promise<FeedPosition> {
  return session.run(
    "lock feed",
    (rows) => rows.get<FeedPosition>(feed, 1) ?? { ...logStart, things: logStart, epoch: "" },
    () => [exclusive(feed, 1)],
  );
}

export function removeDeliveries(
  session: Session,
  what: string,
  isMeant: (row: DeliveryRow) => boolean,
): Promise<void> {
  return session.run(
    `remove deliveries ${what}`,
    (rows) => {
      for (const row of deliveriesIn(rows)) if (isMeant(row)) rows.set(table, row.id, undefined);
    },
    (rows) =>
      deliveriesIn(rows)
        .filter(isMeant)
        .map(({ id }) => exclusive(table, id)),
  );
}
