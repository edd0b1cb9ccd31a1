import { countFailedAttempts, hasFailed, knownTries } from "../../events/webhooks/known-tries.ts";
import type { WebhookRecord } from "../../events/webhooks/webhook-administration.ts";

type Delivery = WebhookRecord["recent"][number];

interface Names {
  readonly tenants: ReadonlyMap<number, string>;
  readonly clients: ReadonlyMap<string, string>;
}

/**
 * A webhook as lists show it. The first state that applies: `paused`, `suspended`, `retrying` (an attempt for a waiting
 * message has failed), `unused` (no delivery has ended), then `failing` or `working` by the last delivery that ended.
 */
export function shownWebhook(record: WebhookRecord, names: Names) {
  const { webhook, url, waiting, recent, nextRetry, lastSettled } = record;
  const held = heldState(webhook);
  return {
    webhookId: webhook.id,
    tenant: names.tenants.get(webhook.tenantId) ?? null,
    clientId: webhook.clientId,
    clientName: names.clients.get(webhook.clientId) ?? null,
    userId: webhook.userId,
    url,
    deviceIds: webhook.deviceIds,
    attributes: webhook.attributes,
    state: held ?? stateOf(record),
    waiting,
    recentDelivered: recent.filter(({ state }) => state === "delivered").length,
    recentFailed: recent.filter(hasFailed).length,
    recentFailedAttempts: recent.reduce((sum, delivery) => sum + countFailedAttempts(delivery), 0),
    lastTime: isoOrNull(lastSettled?.settledMs ?? null),
    nextTry: isoOrNull(held === undefined ? (nextRetry?.nextMs ?? null) : null),
    retriedDelivery: nextRetry?.id ?? null,
    retriedAnswer: nextRetry?.text ?? null,
    created: new Date(webhook.createdMs).toISOString(),
  };
}

/** While a webhook is paused, or its user or client suspended, its messages are held. */
function heldState({ pausedMs, suspended }: WebhookRecord["webhook"]): "paused" | "suspended" | undefined {
  return pausedMs !== null ? "paused" : suspended !== null ? "suspended" : undefined;
}

function stateOf({ nextRetry, lastSettled }: WebhookRecord): "unused" | "working" | "retrying" | "failing" {
  if (nextRetry) return "retrying";
  if (!lastSettled) return "unused";
  return lastSettled.state === "failed" ? "failing" : "working";
}

export function shownDelivery(delivery: Delivery) {
  const { id, messageId, type, userId, deviceId, state, attempts, status, text } = delivery;
  return {
    deliveryId: id,
    messageId,
    type,
    // Messages about no device, such as those of link sessions, have ids that no user and no device has.
    userId: userId > 0 ? userId : null,
    deviceId: deviceId > 0 ? deviceId : null,
    state,
    attempts,
    failedAttempts: countFailedAttempts(delivery),
    status,
    text,
    created: new Date(delivery.createdMs).toISOString(),
    settled: isoOrNull(delivery.settledMs),
    nextTry: isoOrNull(delivery.nextMs),
    isResend: delivery.history?.isResend ?? false,
    tries: knownTries(delivery).map(({ timeMs, ...made }) => ({ ...made, time: isoOrNull(timeMs) })),
  };
}

function isoOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}
