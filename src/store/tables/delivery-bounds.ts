import type { DeviceId, TenantId } from "../../model/ids.ts";
import type { Parameter, Sql } from "../sql.ts";
import type { WebhookKey } from "./webhooks.ts";

export interface Waiting {
  readonly messages: number;
  readonly bytes: number;
}

/** How long a claimed message belongs to one sender. */
export const claimMs = 30_000;
/** The most rows that one statement removes: other transactions wait for it. */
const removedAtOnce = 2_000;

/** Limits the stored deliveries of one webhook. */
export interface DeliveryBounds {
  /** The waiting messages of a webhook, counted up to `atMost`. */
  waitingOf(webhook: WebhookKey, atMost: number): Promise<Waiting>;
  /** Whether a message about this device waits that was never tried. */
  isUnsent(webhook: WebhookKey, deviceId: DeviceId): Promise<boolean>;
  /**
   * Removes the oldest waiting messages beyond `kept`, a bounded number at a time, except those that may be in flight.
   * The oldest remaining message of each device becomes due. The caller holds the webhook's lock.
   */
  removeOldest(webhook: WebhookKey, kept: Waiting, nowMs: number): Promise<number>;
  /**
   * How many of the newest `most` messages, of webhooks of these tenants or of all, were delivered or failed in each hour
   * since that time. Hour 0 is the first one.
   */
  hours(
    sinceMs: number,
    tenantIds: readonly TenantId[] | undefined,
    most: number,
  ): Promise<{ readonly hour: number; readonly state: "delivered" | "failed"; readonly count: number }[]>;
  /** Messages that are due now are due at `untilMs`. */
  hold(webhook: WebhookKey, nowMs: number, untilMs: number): Promise<void>;
  /** Messages that are due later are due now, except those that may be in flight. */
  releaseHeld(webhook: WebhookKey, nowMs: number): Promise<void>;
  /** Removes the oldest settled deliveries of a webhook beyond `kept`, a bounded number at a time. */
  keepSettled(webhook: WebhookKey, kept: number): Promise<number>;
}

const ofWebhook = "d.owner_id = $1 AND d.webhook_id = $2";

export function deliveryBounds(sql: Sql): DeliveryBounds {
  return {
    async waitingOf({ ownerId, id }, atMost) {
      const [found] = await sql.all<Waiting>(
        `SELECT COUNT(*) AS messages, COALESCE(SUM(counted.bytes), 0) AS bytes FROM
           (SELECT OCTET_LENGTH(d.body) AS bytes FROM webhook_deliveries d WHERE ${ofWebhook} AND d.state = 'waiting'
            LIMIT $3) AS counted`,
        [ownerId, id, atMost],
      );
      return found!;
    },
    isUnsent: async ({ ownerId, id }, deviceId) =>
      (
        await sql.all(
          `SELECT 1 FROM webhook_deliveries d
           WHERE ${ofWebhook} AND d.device_id = $3 AND d.state = 'waiting' AND d.attempts = 0 LIMIT 1`,
          [ownerId, id, deviceId],
        )
      ).length > 0,
    async removeOldest({ ownerId, id: webhookId }, kept, nowMs) {
      const newest = await sql.all<{ id: number; bytes: number }>(
        `SELECT d.id, OCTET_LENGTH(d.body) AS bytes FROM webhook_deliveries d
         WHERE ${ofWebhook} AND d.state = 'waiting' ORDER BY d.id DESC LIMIT $3`,
        [ownerId, webhookId, kept.messages + 1],
      );
      let bytes = 0;
      const firstBeyond = newest.find((delivery, at) => {
        bytes += delivery.bytes;
        return at >= kept.messages || bytes > kept.bytes;
      });
      if (!firstBeyond) return 0;
      // A message with a recent claim may be in flight. If it were removed, the device's next message could overtake it.
      const removed = await sql.run(
        `DELETE FROM webhook_deliveries WHERE owner_id = $1 AND id IN
           (SELECT d.id FROM webhook_deliveries d WHERE ${ofWebhook} AND d.id <= $3 AND d.state = 'waiting'
              AND NOT (d.attempts > 0 AND d.next_ms IS NOT NULL AND d.next_ms > $4 AND d.next_ms <= $5)
            ORDER BY d.id LIMIT $6)`,
        [ownerId, webhookId, firstBeyond.id, nowMs, nowMs + claimMs, removedAtOnce],
      );
      await sql.run(
        `UPDATE webhook_deliveries SET next_ms = $3 WHERE owner_id = $1 AND next_ms IS NULL AND id IN
           (SELECT MIN(d.id) FROM webhook_deliveries d WHERE ${ofWebhook} AND d.state = 'waiting' GROUP BY d.device_id)`,
        [ownerId, webhookId, nowMs],
      );
      return removed;
    },
    hours(sinceMs, tenantIds, most) {
      const parameters: Parameter[] = [sinceMs, most];
      const parameter = (value: Parameter) => `$${parameters.push(value)}`;
      const ofTenants =
        tenantIds === undefined
          ? ""
          : `JOIN webhooks w ON w.owner_id = d.owner_id AND w.id = d.webhook_id
               AND w.tenant_id IN (${tenantIds.map(parameter).join(", ") || "NULL"})`;
      return sql.all(
        `SELECT (n.settled_ms - CAST($1 AS BIGINT)) / 3600000 AS hour, n.state, COUNT(*) AS count FROM
           (SELECT d.settled_ms, d.state FROM webhook_deliveries d ${ofTenants}
            WHERE d.state <> 'waiting' AND d.settled_ms >= $1 ORDER BY d.settled_ms DESC LIMIT $2) AS n
         GROUP BY 1, 2`,
        parameters,
      );
    },
    async hold({ ownerId, id }, nowMs, untilMs) {
      await sql.run(
        `UPDATE webhook_deliveries SET next_ms = $4
         WHERE owner_id = $1 AND webhook_id = $2 AND state = 'waiting' AND next_ms IS NOT NULL AND next_ms <= $3`,
        [ownerId, id, nowMs, untilMs],
      );
    },
    async releaseHeld({ ownerId, id }, nowMs) {
      await sql.run(
        `UPDATE webhook_deliveries SET next_ms = $3
         WHERE owner_id = $1 AND webhook_id = $2 AND state = 'waiting' AND next_ms IS NOT NULL AND next_ms > $4`,
        [ownerId, id, nowMs, nowMs + claimMs],
      );
    },
    async keepSettled({ ownerId, id: webhookId }, kept) {
      const settled = `SELECT d.id FROM webhook_deliveries d WHERE ${ofWebhook} AND d.state <> 'waiting'`;
      const [beyond] = await sql.all<{ id: number }>(`${settled} ORDER BY d.id DESC LIMIT 1 OFFSET $3`, [
        ownerId,
        webhookId,
        kept,
      ]);
      if (!beyond) return 0;
      return sql.run(
        `DELETE FROM webhook_deliveries WHERE owner_id = $1 AND id IN
           (${settled} AND d.id <= $3 ORDER BY d.id LIMIT $4)`,
        [ownerId, webhookId, beyond.id, removedAtOnce],
      );
    },
  };
}
