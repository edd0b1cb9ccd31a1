import type { DeviceId, OwnerId, UserId } from "../../model/ids.ts";
import { first, type Parameter, type Sql } from "../sql.ts";
import { type DeliveryBounds, deliveryBounds } from "./delivery-bounds.ts";
import type { WebhookKey } from "./webhooks.ts";

/** Something that a webhook is to be told, and what became of that. */
export interface DeliveryRow {
  readonly id: number;
  /** Whose the webhook is. */
  readonly ownerId: OwnerId;
  readonly webhookId: string;
  /** Whose home it tells of. */
  readonly userId: UserId;
  readonly deviceId: DeviceId;
  /** The same each time it is sent: by it the receiver knows what it has heard already. */
  readonly messageId: string;
  readonly type: string;
  readonly body: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** When it is sent next; null while it waits behind another of the same device, or for nothing. */
  readonly nextMs: number | null;
  readonly createdMs: number;
  readonly settledMs: number | null;
  /** The last answer: its HTTP status, or null when there was none; and in words. */
  readonly status: number | null;
  readonly text: string | null;
}

export type DeliveryState = "waiting" | "delivered" | "failed";

export interface Attempt {
  readonly status: number | null;
  readonly text: string | null;
}

/** A delivery without its body, which is read when it is sent. */
export type DueDelivery = Omit<DeliveryRow, "body">;

/** Which webhooks are looked at: so many whose ids follow this one; and how many messages of each. */
export interface DueLook {
  readonly after: string;
  readonly webhooks: number;
  readonly perWebhook: number;
}

export interface DueDeliveries {
  readonly deliveries: readonly DueDelivery[];
  /** The last webhook that was looked at; undefined when no other has messages waiting. */
  readonly lastWebhook: string | undefined;
}

/** The deliveries of webhooks. Of one webhook and device only the oldest that waits is ever sent, so order is kept. */
export interface DeliveryTable extends DeliveryBounds {
  /** Whoever adds one holds the webhook's lock. An urgent one goes before those of other devices. */
  add(
    delivery: Pick<DeliveryRow, "ownerId" | "webhookId" | "userId" | "deviceId" | "messageId" | "type" | "body"> & {
      readonly isUrgent?: boolean;
    },
  ): Promise<number>;
  /** Adds one message to every webhook, ahead of all others; its id is `msg_<webhook>_<suffix>`. */
  addToAll(message: { readonly suffix: string; readonly type: string; readonly body: string }): Promise<void>;
  /** The newest first. */
  ofWebhook(webhook: WebhookKey, limit: number): Promise<DeliveryRow[]>;
  find(webhook: WebhookKey, id: number): Promise<DeliveryRow | undefined>;
  /** What should be sent by now, a few messages of a few webhooks: the cost doesn't grow with what is due. */
  due(nowMs: number, look: DueLook): Promise<DueDeliveries>;
  /** Makes it this sender's for so long; false when somebody else was quicker. */
  claim(delivery: DueDelivery, untilMs: number): Promise<boolean>;
  /** It is tried again then; unless it is somebody else's by now, as its time shows. */
  postpone(delivery: DueDelivery, untilMs: number, attempt: Attempt): Promise<void>;
  /** Its end, whichever; the next of that device is sent at once. Whoever settles one holds the webhook's lock. */
  settle(delivery: DueDelivery, state: "delivered" | "failed", nowMs: number, attempt: Attempt): Promise<void>;
  removeSettled(beforeMs: number, limit: number): Promise<number>;
  /** How many wait, counted up to a limit, and since when the longest due of them has been due. */
  backlog(limit: number): Promise<{ readonly waiting: number; readonly dueMs: number | null }>;
}

const bodiless = `d.id, d.owner_id AS "ownerId", d.webhook_id AS "webhookId", d.user_id AS "userId",
  d.device_id AS "deviceId", d.message_id AS "messageId", d.type, d.state, d.attempts, d.next_ms AS "nextMs",
  d.created_ms AS "createdMs", d.settled_ms AS "settledMs", d.status, d.text`;
const columns = `${bodiless}, d.body`;
/** What has been due since ever is sent first. */
const longDue = 0;
/** A message about no device in particular: no device has this id. */
const noDevice = 0;
const behind = "owner_id = $1 AND webhook_id = $2 AND device_id = $3 AND state = 'waiting'";
/** The oldest waiting delivery of a device: the others of that device have no time yet. */
const isHead = "state = 'waiting' AND next_ms IS NOT NULL";
/**
 * A skip scan over the index of heads: one step to each webhook that has messages waiting, however many these are.
 */
const waitingWebhooks = `WITH RECURSIVE waiting (webhook_id, place) AS (
    SELECT (SELECT MIN(webhook_id) FROM webhook_deliveries WHERE ${isHead} AND webhook_id > $1), 1
    UNION ALL
    SELECT (SELECT MIN(d.webhook_id) FROM webhook_deliveries d WHERE ${isHead} AND d.webhook_id > waiting.webhook_id),
      place + 1 FROM waiting WHERE waiting.webhook_id IS NOT NULL AND place < $2)
  SELECT webhook_id AS id,
    (SELECT MIN(d.next_ms) FROM webhook_deliveries d WHERE ${isHead} AND d.webhook_id = waiting.webhook_id) AS "nextMs"
  FROM waiting WHERE webhook_id IS NOT NULL ORDER BY place`;
/** How many are looked at beyond the webhooks whose turn it is: what has just become due, or is urgent, goes at once. */
const outOfTurn = { urgent: 50, newest: 100 };
const ofWebhook = "d.owner_id = $1 AND d.webhook_id = $2";

export function deliveryTable(sql: Sql): DeliveryTable {
  const rows = (tail: string, parameters: readonly Parameter[]) =>
    sql.all<DeliveryRow>(`SELECT ${columns} FROM webhook_deliveries d ${tail}`, parameters);
  const due = (tail: string, ...[nowMs, limit, ...rest]: readonly [number, number, ...Parameter[]]) =>
    sql.all<DueDelivery>(
      `SELECT ${bodiless} FROM webhook_deliveries d WHERE d.state = 'waiting' AND ${tail} LIMIT $2`,
      [nowMs, limit, ...rest],
    );
  return {
    async add({ ownerId, webhookId, userId, deviceId, messageId, type, body, isUrgent = false }) {
      const nowMs = await sql.nowMs();
      const waiting = `SELECT 1 FROM webhook_deliveries WHERE ${behind} LIMIT 1`;
      const isFirst = (await sql.all(waiting, [ownerId, webhookId, deviceId])).length === 0;
      const nextMs = isFirst ? (isUrgent ? longDue : nowMs) : null;
      const added = await sql.all<{ id: number }>(
        `INSERT INTO webhook_deliveries
           (owner_id, webhook_id, user_id, device_id, message_id, type, body, state, attempts, next_ms, created_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, 'waiting', 0, $8, $9) RETURNING id`,
        [ownerId, webhookId, userId, deviceId, messageId, type, body, nextMs, nowMs],
      );
      return added[0]!.id;
    },
    async addToAll({ suffix, type, body }) {
      await sql.run(
        `INSERT INTO webhook_deliveries
           (owner_id, webhook_id, user_id, device_id, message_id, type, body, state, attempts, next_ms, created_ms)
         SELECT w.owner_id, w.id, CASE WHEN w.owner_id > 0 THEN w.owner_id ELSE 0 END, ${noDevice},
           'msg_' || w.id || '_' || $1, $2, $3, 'waiting', 0, ${longDue}, $4 FROM webhooks w`,
        [suffix, type, body, await sql.nowMs()],
      );
    },
    ofWebhook: ({ ownerId, id: webhookId }, limit) =>
      rows(`WHERE ${ofWebhook} ORDER BY d.id DESC LIMIT $3`, [ownerId, webhookId, limit]),
    find: ({ ownerId, id: webhookId }, id) => first(rows(`WHERE ${ofWebhook} AND d.id = $3`, [ownerId, webhookId, id])),
    async due(nowMs, { after, webhooks, perWebhook }) {
      const found = await sql.all<{ id: string; nextMs: number }>(waitingWebhooks, [after, webhooks]);
      const isLast = found.length < webhooks;
      const looks = found
        .filter(({ nextMs }) => nextMs <= nowMs)
        .map(({ id }) => due("d.webhook_id = $3 AND d.next_ms <= $1 ORDER BY d.next_ms, d.id", nowMs, perWebhook, id));
      if (!isLast || after !== "") {
        looks.push(
          due("d.next_ms = $1 ORDER BY d.id DESC", longDue, outOfTurn.urgent),
          due("d.next_ms <= $1 ORDER BY d.next_ms DESC, d.id DESC", nowMs, outOfTurn.newest),
        );
      }
      const deliveries = new Map((await Promise.all(looks)).flat().map((delivery) => [delivery.id, delivery]));
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
    async postpone({ ownerId, id, nextMs }, untilMs, { status, text }) {
      await sql.run(
        `UPDATE webhook_deliveries SET next_ms = $4, status = $5, text = $6
         WHERE owner_id = $1 AND id = $2 AND state = 'waiting' AND next_ms = $3`,
        [ownerId, id, nextMs, untilMs, status, text],
      );
    },
    // A restored store may have given the delivery's id to another message.
    async settle({ ownerId, id, webhookId, deviceId, messageId }, state, nowMs, { status, text }) {
      await sql.run(
        `UPDATE webhook_deliveries SET state = $3, next_ms = NULL, settled_ms = $4, status = $5, text = $6
         WHERE owner_id = $1 AND id = $2 AND message_id = $7`,
        [ownerId, id, state, nowMs, status, text, messageId],
      );
      await sql.run(
        `UPDATE webhook_deliveries SET next_ms = $4
         WHERE owner_id = $1 AND id = (SELECT MIN(id) FROM webhook_deliveries WHERE ${behind}) AND next_ms IS NULL`,
        [ownerId, webhookId, deviceId, nowMs],
      );
    },
    ...deliveryBounds(sql),
    async backlog(limit) {
      const [found] = await sql.all<{ waiting: number; dueMs: number | null }>(
        `SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM webhook_deliveries WHERE state = 'waiting' LIMIT $1) AS counted)
             AS waiting,
           (SELECT MIN(next_ms) FROM webhook_deliveries WHERE state = 'waiting') AS "dueMs"`,
        [limit],
      );
      return found!;
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
