import type { DeviceId, OwnerId, UserId } from "../../model/ids.ts";
import { first, type Parameter, type Sql } from "../sql.ts";
import { type DeliveryBounds, deliveryBounds } from "./delivery-bounds.ts";
import { type DeliveryHistory, historyFromText, historyToText } from "./delivery-history.ts";
import type { WebhookKey } from "./webhooks.ts";

/** A message to a webhook, and the outcome of its delivery. */
export interface DeliveryRow {
  readonly id: number;
  /** The owner of the webhook. */
  readonly ownerId: OwnerId;
  readonly webhookId: string;
  /** The user of the device that the message is about. */
  readonly userId: UserId;
  readonly deviceId: DeviceId;
  /** The same at each attempt, so that the receiver can recognise duplicates. */
  readonly messageId: string;
  readonly type: string;
  readonly body: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** When it is sent next. Null while an older message of the same device waits, and when the delivery is settled. */
  readonly nextMs: number | null;
  readonly createdMs: number;
  readonly settledMs: number | null;
  /** The outcome of the last attempt: the HTTP status, null when there was no answer; and a text. */
  readonly status: number | null;
  readonly text: string | null;
  /** Null before the first attempt ends, and when nodes of older versions have made all attempts. */
  readonly history: DeliveryHistory | null;
}

export type DeliveryState = "waiting" | "delivered" | "failed";

export interface Attempt {
  readonly status: number | null;
  readonly text: string | null;
}

/** An attempt that has ended. Without a history, the stored one stays. */
export interface EndedAttempt extends Attempt {
  readonly history?: DeliveryHistory;
}

/** A delivery without its body and history, which are read only when it is sent. */
export type DueDelivery = Omit<DeliveryRow, "body" | "history">;

export type ListedDelivery = Omit<DeliveryRow, "body">;

export interface ListedDeliveryFilter {
  /** `failed`: also waiting messages whose last attempt has failed. */
  readonly state?: DeliveryState | undefined;
  readonly beforeId?: number | undefined;
  readonly limit: number;
}

/** A page of webhooks: those whose ids follow `after`, and how many messages of each. */
export interface DuePage {
  readonly after: string;
  readonly webhooks: number;
  readonly perWebhook: number;
}

export interface DueDeliveries {
  readonly deliveries: readonly DueDelivery[];
  /** The last webhook of this page; undefined when no further webhook has waiting messages. */
  readonly lastWebhook: string | undefined;
}

export type NewDelivery = Pick<
  DeliveryRow,
  "ownerId" | "webhookId" | "userId" | "deviceId" | "messageId" | "type" | "body"
> & { readonly isUrgent?: boolean };

/** The deliveries of webhooks. For each webhook and device only the oldest waiting message is sent, to keep the order. */
export interface DeliveryTable extends DeliveryBounds {
  /** The caller holds the webhook's lock. An urgent message is sent before those of other devices. */
  add(delivery: NewDelivery & { /** The message was sent before. */ readonly isResend?: boolean }): Promise<number>;
  /** Adds messages in this order, as `add` does, with one statement. */
  addAll(deliveries: readonly NewDelivery[]): Promise<void>;
  /** Adds one message to every webhook, ahead of all others; its id is `msg_<webhook>_<suffix>`. */
  addToAll(message: { readonly suffix: string; readonly type: string; readonly body: string }): Promise<void>;
  /** The newest first. */
  ofWebhook(webhook: WebhookKey, limit: number): Promise<DeliveryRow[]>;
  find(webhook: WebhookKey, id: number): Promise<DeliveryRow | undefined>;
  /** Deliveries of a webhook without their bodies, newest first, before the given one. */
  listed(webhook: WebhookKey, filter: ListedDeliveryFilter): Promise<ListedDelivery[]>;
  /** Of the waiting messages of which an attempt has failed, the one that is tried next. */
  nextRetry(webhook: WebhookKey): Promise<DueDelivery | undefined>;
  /** The newest message that was delivered or has failed for good. It passes over all newer messages, which wait. */
  lastSettled(webhook: WebhookKey): Promise<DueDelivery | undefined>;
  /**
   * The last delivery of each message that failed at that time or later, oldest first, with an id after one and before another.
   * Messages of which a delivery waits or has arrived are left out.
   */
  failedSince(
    webhook: WebhookKey,
    sinceMs: number,
    page: { readonly afterId: number; readonly beforeId?: number | undefined; readonly limit: number },
  ): Promise<DeliveryRow[]>;
  /** A few due messages of a few webhooks. The cost does not grow with the number of due messages. */
  due(nowMs: number, page: DuePage): Promise<DueDeliveries>;
  /** Claims the delivery for this sender until `untilMs`; false when another sender has claimed it. */
  claim(delivery: DueDelivery, untilMs: number): Promise<boolean>;
  /** Schedules the next attempt, unless another sender has claimed the delivery meanwhile (its `nextMs` differs). */
  postpone(delivery: DueDelivery, untilMs: number, attempt: EndedAttempt): Promise<void>;
  /**
   * Records the final outcome. The next message of that device becomes due, before all others if its message id is
   * `urgentNext`. The caller holds the webhook's lock.
   */
  settle(
    delivery: DueDelivery,
    state: "delivered" | "failed",
    nowMs: number,
    attempt: EndedAttempt,
    urgentNext?: string,
  ): Promise<void>;
  removeSettled(beforeMs: number, limit: number): Promise<number>;
  /** How many messages wait, counted up to `limit`, and the earliest time at which one was due. */
  backlog(limit: number): Promise<{ readonly waiting: number; readonly dueMs: number | null }>;
}

const columnsWithoutBody = `d.id, d.owner_id AS "ownerId", d.webhook_id AS "webhookId", d.user_id AS "userId",
  d.device_id AS "deviceId", d.message_id AS "messageId", d.type, d.state, d.attempts, d.next_ms AS "nextMs",
  d.created_ms AS "createdMs", d.settled_ms AS "settledMs", d.status, d.text`;
const listedColumns = `${columnsWithoutBody}, d.history`;
const columns = `${listedColumns}, d.body`;
/** A due time before all others: such messages are sent first. */
const dueFirst = 0;
/** The device id of a message about no device. No device has this id. */
const noDevice = 0;
const isWaitingForDevice = "owner_id = $1 AND webhook_id = $2 AND device_id = $3 AND state = 'waiting'";
/** A head is the oldest waiting delivery of a device. The others of that device have no due time yet. */
const isHead = "state = 'waiting' AND next_ms IS NOT NULL";
/** True of a waiting message `d` of which an attempt has failed. */
const hasFailed = "(d.attempts > 1 OR d.status IS NOT NULL OR d.text IS NOT NULL)";
/** A skip scan over the index of heads: one step for each webhook with waiting messages, however many they are. */
const waitingWebhooks = `WITH RECURSIVE waiting (webhook_id, place) AS (
    SELECT (SELECT MIN(webhook_id) FROM webhook_deliveries WHERE ${isHead} AND webhook_id > $1), 1
    UNION ALL
    SELECT (SELECT MIN(d.webhook_id) FROM webhook_deliveries d WHERE ${isHead} AND d.webhook_id > waiting.webhook_id),
      place + 1 FROM waiting WHERE waiting.webhook_id IS NOT NULL AND place < $2)
  SELECT webhook_id AS id,
    (SELECT MIN(d.next_ms) FROM webhook_deliveries d WHERE ${isHead} AND d.webhook_id = waiting.webhook_id) AS "nextMs",
    (SELECT MAX(d.next_ms) FROM webhook_deliveries d WHERE ${isHead} AND d.webhook_id = waiting.webhook_id) AS "lastMs"
  FROM waiting WHERE webhook_id IS NOT NULL ORDER BY place`;
/** No message waits that long for its next attempt: a later time is of a clock that was ahead, and the message is due. */
const longestWaitMs = 7_200_000;
/** How many urgent and newly due messages of webhooks outside the page are read too, so that they are sent at once. */
const outOfTurn = { urgent: 50, newest: 100 };
const ofWebhook = "d.owner_id = $1 AND d.webhook_id = $2";

type Stored<Row extends ListedDelivery> = Omit<Row, "history"> & { readonly history: string | null };

export function deliveryTable(sql: Sql): DeliveryTable {
  const rows = async (tail: string, parameters: readonly Parameter[]): Promise<DeliveryRow[]> =>
    (await sql.all<Stored<DeliveryRow>>(`SELECT ${columns} FROM webhook_deliveries d ${tail}`, parameters)).map(
      (row) => ({ ...row, history: historyFromText(row.history) }),
    );
  const due = (tail: string, ...[nowMs, limit, ...rest]: readonly [number, number, ...Parameter[]]) =>
    sql.all<DueDelivery>(
      `SELECT ${columnsWithoutBody} FROM webhook_deliveries d WHERE d.state = 'waiting' AND ${tail} LIMIT $2`,
      [nowMs, limit, ...rest],
    );
  return {
    async add({ ownerId, webhookId, userId, deviceId, messageId, type, body, isUrgent = false, isResend = false }) {
      const nowMs = await sql.nowMs();
      const waiting = `SELECT 1 FROM webhook_deliveries WHERE ${isWaitingForDevice} LIMIT 1`;
      const isFirst = (await sql.all(waiting, [ownerId, webhookId, deviceId])).length === 0;
      const nextMs = isFirst ? (isUrgent ? dueFirst : nowMs) : null;
      const history = isResend ? historyToText({ isResend, tries: [] }) : null;
      const added = await sql.all<{ id: number }>(
        `INSERT INTO webhook_deliveries (owner_id, webhook_id, user_id, device_id, message_id, type, body, state, attempts,
           next_ms, created_ms, history)
         VALUES ($1, $2, $3, $4, $5, $6, $7, 'waiting', 0, $8, $9, $10) RETURNING id`,
        [ownerId, webhookId, userId, deviceId, messageId, type, body, nextMs, nowMs, history],
      );
      return added[0]!.id;
    },
    async addAll(deliveries) {
      if (deliveries.length === 0) return;
      const nowMs = await sql.nowMs();
      const seen = new Set<string>();
      const rows = deliveries.map(
        ({ ownerId, webhookId, userId, deviceId, messageId, type, body, isUrgent = false }) => {
          const queue = `${ownerId} ${webhookId} ${deviceId}`;
          const nextMs = seen.has(queue) ? null : isUrgent ? dueFirst : nowMs;
          seen.add(queue);
          return [ownerId, webhookId, userId, deviceId, messageId, type, body, nextMs];
        },
      );
      const integer = (place: number) => `CAST(r.value->>${place} AS INTEGER)`;
      await sql.run(
        `INSERT INTO webhook_deliveries (owner_id, webhook_id, user_id, device_id, message_id, type, body, state, attempts,
           next_ms, created_ms)
         SELECT ${integer(0)}, r.value->>1, ${integer(2)}, ${integer(3)}, r.value->>4, r.value->>5, r.value->>6, 'waiting', 0,
           CASE WHEN NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.owner_id = ${integer(0)}
             AND d.webhook_id = r.value->>1 AND d.device_id = ${integer(3)} AND d.state = 'waiting')
             THEN CAST(r.value->>7 AS BIGINT) END, $2
         FROM ${sql.dialect === "postgres" ? "json_array_elements($1::json) WITH ORDINALITY AS r (value, key)" : "json_each($1) AS r"}
         ORDER BY r.key`,
        [JSON.stringify(rows), nowMs],
      );
    },
    async addToAll({ suffix, type, body }) {
      await sql.run(
        `INSERT INTO webhook_deliveries
           (owner_id, webhook_id, user_id, device_id, message_id, type, body, state, attempts, next_ms, created_ms)
         SELECT w.owner_id, w.id, CASE WHEN w.owner_id > 0 THEN w.owner_id ELSE 0 END, ${noDevice},
           'msg_' || w.id || '_' || $1, $2, $3, 'waiting', 0, ${dueFirst}, $4 FROM webhooks w`,
        [suffix, type, body, await sql.nowMs()],
      );
    },
    ofWebhook: ({ ownerId, id: webhookId }, limit) =>
      rows(`WHERE ${ofWebhook} ORDER BY d.id DESC LIMIT $3`, [ownerId, webhookId, limit]),
    find: ({ ownerId, id: webhookId }, id) => first(rows(`WHERE ${ofWebhook} AND d.id = $3`, [ownerId, webhookId, id])),
    async listed({ ownerId, id: webhookId }, { state, beforeId, limit }) {
      const parameters: Parameter[] = [ownerId, webhookId, limit];
      const orRetried = state === "failed" ? `OR (d.state = 'waiting' AND ${hasFailed})` : "";
      const ofState = state === undefined ? "" : `AND (d.state = $${parameters.push(state)} ${orRetried})`;
      const before = beforeId === undefined ? "" : `AND d.id < $${parameters.push(beforeId)}`;
      const found = await sql.all<Stored<ListedDelivery>>(
        `SELECT ${listedColumns} FROM webhook_deliveries d WHERE ${ofWebhook} ${ofState} ${before}
         ORDER BY d.id DESC LIMIT $3`,
        parameters,
      );
      return found.map((row) => ({ ...row, history: historyFromText(row.history) }));
    },
    nextRetry: ({ ownerId, id: webhookId }) =>
      first(
        sql.all<DueDelivery>(
          `SELECT ${columnsWithoutBody} FROM webhook_deliveries d
           WHERE ${ofWebhook} AND ${isHead} AND ${hasFailed}
           ORDER BY d.next_ms, d.id LIMIT 1`,
          [ownerId, webhookId],
        ),
      ),
    lastSettled: ({ ownerId, id: webhookId }) =>
      first(
        sql.all<DueDelivery>(
          `SELECT ${columnsWithoutBody} FROM webhook_deliveries d
           WHERE ${ofWebhook} AND d.state <> 'waiting' ORDER BY d.id DESC LIMIT 1`,
          [ownerId, webhookId],
        ),
      ),
    // One pass over the deliveries of the webhook, whose number is limited.
    failedSince({ ownerId, id: webhookId }, sinceMs, { afterId, beforeId, limit }) {
      const parameters: Parameter[] = [ownerId, webhookId, sinceMs, afterId, limit];
      const before = beforeId === undefined ? "" : `AND d.id < $${parameters.push(beforeId)}`;
      return rows(
        `WHERE d.owner_id = $1 AND d.id IN
           (SELECT MAX(o.id) FROM webhook_deliveries o WHERE o.owner_id = $1 AND o.webhook_id = $2 GROUP BY o.message_id
            HAVING MAX(CASE WHEN o.state = 'failed' THEN 0 ELSE 1 END) = 0 AND MAX(o.settled_ms) >= $3)
         AND d.id > $4 ${before} ORDER BY d.id LIMIT $5`,
        parameters,
      );
    },
    async due(nowMs, { after, webhooks, perWebhook }) {
      const found = await sql.all<{ id: string; nextMs: number; lastMs: number }>(waitingWebhooks, [after, webhooks]);
      const aheadMs = nowMs + longestWaitMs;
      const isLast = found.length < webhooks;
      const queries = found
        .filter(({ nextMs }) => nextMs <= nowMs)
        .map(({ id }) => due("d.webhook_id = $3 AND d.next_ms <= $1 ORDER BY d.next_ms, d.id", nowMs, perWebhook, id));
      const ahead = found.filter(({ lastMs }) => lastMs > aheadMs);
      for (const { id } of ahead) {
        queries.push(due("d.webhook_id = $3 AND d.next_ms > $1 ORDER BY d.next_ms, d.id", aheadMs, perWebhook, id));
      }
      if (!isLast || after !== "") {
        queries.push(
          due("d.next_ms = $1 ORDER BY d.id DESC", dueFirst, outOfTurn.urgent),
          due("d.next_ms <= $1 ORDER BY d.next_ms DESC, d.id DESC", nowMs, outOfTurn.newest),
        );
      }
      const deliveries = new Map((await Promise.all(queries)).flat().map((delivery) => [delivery.id, delivery]));
      return { deliveries: [...deliveries.values()], lastWebhook: isLast ? undefined : found.at(-1)?.id };
    },
    async claim({ ownerId, id, nextMs }, untilMs) {
      const touched = await sql.run(
        `UPDATE webhook_deliveries SET next_ms = $4, attempts = attempts + 1
         WHERE owner_id = $1 AND id = $2 AND state = 'waiting' AND next_ms = $3`,
        [ownerId, id, nextMs, untilMs],
      );
      return touched > 0;
    },
    async postpone({ ownerId, id, nextMs }, untilMs, { status, text, history }) {
      await sql.run(
        `UPDATE webhook_deliveries SET next_ms = $4, status = $5, text = $6, history = COALESCE($7, history)
         WHERE owner_id = $1 AND id = $2 AND state = 'waiting' AND next_ms = $3`,
        [ownerId, id, nextMs, untilMs, status, text, history ? historyToText(history) : null],
      );
    },
    // The message id is compared too: after a restore, the delivery's id may belong to another message.
    async settle({ ownerId, id, webhookId, deviceId, messageId }, state, nowMs, attempt, urgentNext) {
      const { status, text, history } = attempt;
      await sql.run(
        `UPDATE webhook_deliveries SET state = $3, next_ms = NULL, settled_ms = $4, status = $5, text = $6,
           history = COALESCE($8, history)
         WHERE owner_id = $1 AND id = $2 AND message_id = $7`,
        [ownerId, id, state, nowMs, status, text, messageId, history ? historyToText(history) : null],
      );
      await sql.run(
        `UPDATE webhook_deliveries SET next_ms = CASE WHEN message_id = $5 THEN ${dueFirst} ELSE CAST($4 AS BIGINT) END
         WHERE owner_id = $1 AND id = (SELECT MIN(id) FROM webhook_deliveries WHERE ${isWaitingForDevice}) AND next_ms IS NULL`,
        [ownerId, webhookId, deviceId, nowMs, urgentNext ?? null],
      );
    },
    ...deliveryBounds(sql),
    async backlog(limit) {
      const [found] = await sql.all<{ waiting: number; urgentMs: number | null; ordinaryMs: number | null }>(
        `SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM webhook_deliveries WHERE state = 'waiting' LIMIT $1) AS counted)
             AS waiting,
           (SELECT MIN(created_ms) FROM webhook_deliveries WHERE state = 'waiting' AND next_ms = ${dueFirst}) AS "urgentMs",
           (SELECT MIN(next_ms) FROM webhook_deliveries WHERE state = 'waiting' AND next_ms > ${dueFirst}) AS "ordinaryMs"`,
        [limit],
      );
      const { waiting, urgentMs, ordinaryMs } = found!;
      return { waiting, dueMs: earliest(urgentMs, ordinaryMs) };
    },
    removeSettled: (beforeMs, limit) =>
      sql.run(
        `DELETE FROM webhook_deliveries WHERE (owner_id, id) IN
           (SELECT owner_id, id FROM webhook_deliveries WHERE state <> 'waiting' AND settled_ms < $1
            ORDER BY settled_ms LIMIT $2)`,
        [beforeMs, limit],
      ),
  };
}

function earliest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}
