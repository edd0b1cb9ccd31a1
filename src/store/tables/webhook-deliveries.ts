import type { DeviceId, UserId } from "../../model/ids.ts";
import { first, type Parameter, type Sql } from "../sql.ts";

/** Something that a webhook is to be told, and what became of that. */
export interface DeliveryRow {
  readonly id: number;
  readonly webhookId: string;
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

/** The deliveries of webhooks. Of one webhook and device only the oldest that waits is ever sent, so order is kept. */
export interface DeliveryTable {
  /** Whoever adds one holds the webhook's lock. An urgent one goes before those of other devices. */
  add(
    delivery: Pick<DeliveryRow, "webhookId" | "userId" | "deviceId" | "messageId" | "type" | "body"> & {
      readonly isUrgent?: boolean;
    },
  ): Promise<number>;
  /** The newest first. */
  ofWebhook(webhookId: string, limit: number): Promise<DeliveryRow[]>;
  find(webhookId: string, id: number): Promise<DeliveryRow | undefined>;
  /** What should be sent by now to any but these webhooks, the longest due first. */
  due(nowMs: number, exceptWebhooks: readonly string[], limit: number): Promise<DeliveryRow[]>;
  /** Makes it this sender's for so long; false when somebody else was quicker. */
  claim(delivery: DeliveryRow, untilMs: number): Promise<boolean>;
  /** It is tried again then; unless it is somebody else's by now, as its time shows. */
  postpone(delivery: DeliveryRow, untilMs: number, attempt: Attempt): Promise<void>;
  /** Its end, whichever; the next of that device is sent at once. Whoever settles one holds the webhook's lock. */
  settle(delivery: DeliveryRow, state: "delivered" | "failed", nowMs: number, attempt: Attempt): Promise<void>;
  removeSettled(beforeMs: number, limit: number): Promise<number>;
}

const columns = `d.id, d.webhook_id AS "webhookId", d.user_id AS "userId", d.device_id AS "deviceId",
  d.message_id AS "messageId", d.type, d.body, d.state, d.attempts, d.next_ms AS "nextMs", d.created_ms AS "createdMs",
  d.settled_ms AS "settledMs", d.status, d.text`;
/** What has been due since ever is sent first. */
const longDue = 0;
const behind = "webhook_id = $1 AND device_id = $2 AND state = 'waiting'";

export function deliveryTable(sql: Sql): DeliveryTable {
  const rows = (tail: string, parameters: readonly Parameter[]) =>
    sql.all<DeliveryRow>(`SELECT ${columns} FROM webhook_deliveries d ${tail}`, parameters);
  const noneOf = sql.dialect === "postgres" ? "<> ALL($2::text[])" : "NOT IN (SELECT value FROM json_each($2))";
  return {
    async add({ webhookId, userId, deviceId, messageId, type, body, isUrgent = false }) {
      const nowMs = await sql.nowMs();
      const ahead = (await sql.all(`SELECT 1 FROM webhook_deliveries WHERE ${behind} LIMIT 1`, [webhookId, deviceId]))
        .length;
      const added = await sql.all<{ id: number }>(
        `INSERT INTO webhook_deliveries
           (webhook_id, user_id, device_id, message_id, type, body, state, attempts, next_ms, created_ms)
         VALUES ($1, $2, $3, $4, $5, $6, 'waiting', 0, $7, $8) RETURNING id`,
        [webhookId, userId, deviceId, messageId, type, body, ahead > 0 ? null : isUrgent ? longDue : nowMs, nowMs],
      );
      return added[0]!.id;
    },
    ofWebhook: (webhookId, limit) => rows("WHERE d.webhook_id = $1 ORDER BY d.id DESC LIMIT $2", [webhookId, limit]),
    find: (webhookId, id) => first(rows("WHERE d.webhook_id = $1 AND d.id = $2", [webhookId, id])),
    due: (nowMs, exceptWebhooks, limit) =>
      rows(
        `WHERE d.state = 'waiting' AND d.next_ms <= $1 AND d.webhook_id ${noneOf} ORDER BY d.next_ms, d.id LIMIT $3`,
        [nowMs, exceptWebhooks, limit],
      ),
    async claim({ id, nextMs }, untilMs) {
      const touched = await sql.run(
        `UPDATE webhook_deliveries SET next_ms = $3, attempts = attempts + 1
         WHERE id = $1 AND state = 'waiting' AND next_ms = $2`,
        [id, nextMs, untilMs],
      );
      return touched > 0;
    },
    async postpone({ id, nextMs }, untilMs, { status, text }) {
      await sql.run(
        `UPDATE webhook_deliveries SET next_ms = $3, status = $4, text = $5
         WHERE id = $1 AND state = 'waiting' AND next_ms = $2`,
        [id, nextMs, untilMs, status, text],
      );
    },
    async settle({ id, webhookId, deviceId }, state, nowMs, { status, text }) {
      await sql.run(
        `UPDATE webhook_deliveries SET state = $2, next_ms = NULL, settled_ms = $3, status = $4, text = $5 WHERE id = $1`,
        [id, state, nowMs, status, text],
      );
      await sql.run(
        `UPDATE webhook_deliveries SET next_ms = $3
         WHERE id = (SELECT MIN(id) FROM webhook_deliveries WHERE ${behind}) AND next_ms IS NULL`,
        [webhookId, deviceId, nowMs],
      );
    },
    removeSettled: (beforeMs, limit) =>
      sql.run(
        `DELETE FROM webhook_deliveries WHERE id IN
           (SELECT id FROM webhook_deliveries WHERE state <> 'waiting' AND settled_ms < $1 ORDER BY id LIMIT $2)`,
        [beforeMs, limit],
      ),
  };
}
