import type { WebhookRecord } from "../../events/webhooks/webhook-administration.ts";

type Delivery = WebhookRecord["recent"][number];

interface Names {
  readonly tenants: ReadonlyMap<number, string>;
  readonly clients: ReadonlyMap<string, string>;
}

/**
 * A webhook as lists show it. Its state is that of the last settled delivery: `failing` after a failure, `retrying` while
 * the oldest message is tried again, and `unused` before the first message; `paused` and `suspended` go before these.
 */
export function shownWebhook({ webhook, url, waiting, recent }: WebhookRecord, names: Names) {
  const settled = recent.filter(({ state }) => state !== "waiting");
  const delivered = settled.filter(({ state }) => state === "delivered").length;
  const retried = recent.filter(({ state, attempts }) => state === "waiting" && attempts > 0);
  const held = heldState(webhook);
  const nextMs = Math.min(...retried.map((one) => one.nextMs ?? Number.POSITIVE_INFINITY));
  return {
    webhookId: webhook.id,
    tenant: names.tenants.get(webhook.tenantId) ?? null,
    clientId: webhook.clientId,
    clientName: names.clients.get(webhook.clientId) ?? null,
    userId: webhook.userId,
    url,
    deviceIds: webhook.deviceIds,
    attributes: webhook.attributes,
    state: held ?? stateOf(settled, retried.length > 0),
    waiting,
    recentDelivered: delivered,
    recentFailed: settled.length - delivered,
    lastTime: isoOrNull(settled[0]?.settledMs ?? null),
    nextTry: isoOrNull(held === undefined && Number.isFinite(nextMs) ? nextMs : null),
    created: new Date(webhook.createdMs).toISOString(),
  };
}

/** Messages of a paused webhook, and of a suspended user or client, wait. */
function heldState({ pausedMs, suspended }: WebhookRecord["webhook"]): "paused" | "suspended" | undefined {
  return pausedMs !== null ? "paused" : suspended !== null ? "suspended" : undefined;
}

function stateOf([last]: readonly Delivery[], isRetrying: boolean): "unused" | "working" | "retrying" | "failing" {
  if (isRetrying) return "retrying";
  if (!last) return "unused";
  return last.state === "failed" ? "failing" : "working";
}

export function shownDelivery(delivery: Delivery) {
  const { id, messageId, type, userId, deviceId, state, attempts, status, text } = delivery;
  return {
    deliveryId: id,
    messageId,
    type,
    // Messages that belong to no device have ids that no user and no device has.
    userId: userId > 0 ? userId : null,
    deviceId: deviceId > 0 ? deviceId : null,
    state,
    attempts,
    status,
    text,
    created: new Date(delivery.createdMs).toISOString(),
    settled: isoOrNull(delivery.settledMs),
    nextTry: isoOrNull(delivery.nextMs),
  };
}

function isoOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}
