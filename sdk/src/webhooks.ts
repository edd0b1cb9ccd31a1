import type { CallOptions, WriteOptions } from "./transport.ts";
import type { V3 } from "./v3.ts";

/** An address to which the service posts events. */
export interface Webhook {
  readonly webhookId: string;
  readonly url: string;
  readonly deviceIds: readonly number[];
  readonly attributes: readonly string[];
  /** True if it also receives `thing` and `thingCommand` messages. */
  readonly things?: boolean;
  /** True if it also receives `linkSession` messages. */
  readonly linkSessions?: boolean;
  readonly createdTime: number;
  /** True while an operator of the service has paused it: its messages wait. Missing otherwise. */
  readonly paused?: boolean;
  /** Why it receives no messages; missing otherwise. */
  readonly problem?: string;
}

/** The address and the filters of a new webhook. */
export interface NewWebhook {
  readonly url: string;
  readonly deviceIds?: readonly number[];
  readonly attributes?: readonly string[];
  /** Whether the webhook also receives `thing` and `thingCommand` messages. */
  readonly things?: boolean;
  /** Whether the webhook also receives `linkSession` messages. Needs the scope `links`. */
  readonly linkSessions?: boolean;
}

/** A message of a webhook, and its state. */
export interface Delivery {
  readonly deliveryId: number;
  /** The `webhook-id` header of the message: the same at each attempt. */
  readonly messageId: string;
  readonly type:
    | "attribute"
    | "thing"
    | "thingCommand"
    | "alert"
    | "link"
    | "linkSession"
    | "command"
    | "device"
    | "resync";
  /** Null for a `resync`, and for a `linkSession` that has linked nothing. */
  readonly deviceId: number | null;
  readonly state: "waiting" | "delivered" | "failed";
  readonly attempts: number;
  /** The HTTP status of the last answer. */
  readonly status: number | null;
  /** Why the last attempt failed. */
  readonly text: string | null;
  readonly createdTime: number;
  /** When the next attempt is due. Null while the delivery waits behind another one of its device. */
  readonly nextTime: number | null;
  /** When it was delivered or finally failed. */
  readonly settledTime: number | null;
}

/** Webhooks, with an access token. */
export class Webhooks {
  readonly #v3: () => V3;

  /** @internal */
  constructor(v3: () => V3) {
    this.#v3 = v3;
  }

  /** Adds a webhook. Only this answer has the secret with which messages are signed. */
  async add(webhook: NewWebhook, options: WriteOptions = {}): Promise<Webhook & { readonly secret: string }> {
    return this.#v3().call("POST", "/webhooks", { json: webhook, ...options });
  }

  /** The webhooks of this client. */
  async list({ signal }: CallOptions = {}): Promise<readonly Webhook[]> {
    return (await this.#v3().call<{ webhooks: Webhook[] }>("GET", "/webhooks", { signal })).webhooks;
  }

  /** The last 100 deliveries of a webhook, newest first. */
  async deliveries(webhookId: string, { signal }: CallOptions = {}): Promise<readonly Delivery[]> {
    return (await this.#v3().call<{ deliveries: Delivery[] }>("GET", `${pathOf(webhookId)}/deliveries`, { signal }))
      .deliveries;
  }

  /** Sends a message again, as a new delivery with the same `messageId`. */
  async resend(webhookId: string, deliveryId: number, options: WriteOptions = {}): Promise<Delivery> {
    return this.#v3().call("POST", `${pathOf(webhookId)}/deliveries/${deliveryId}/resend`, { ...options });
  }

  /** Removes a webhook. */
  async remove(webhookId: string, options: WriteOptions = {}): Promise<void> {
    await this.#v3().call("DELETE", pathOf(webhookId), { ...options });
  }
}

function pathOf(webhookId: string): string {
  return `/webhooks/${encodeURIComponent(webhookId)}`;
}
