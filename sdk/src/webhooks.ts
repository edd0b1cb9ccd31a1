import type { CallOptions, WriteOptions } from "./transport.ts";
import type { V3 } from "./v3.ts";

/** An address at which the service tells what happens. */
export interface Webhook {
  readonly webhookId: string;
  readonly url: string;
  readonly deviceIds: readonly number[];
  readonly attributes: readonly string[];
  readonly createdTime: number;
}

/** What to be told, and where. */
export interface NewWebhook {
  readonly url: string;
  readonly deviceIds?: readonly number[];
  readonly attributes?: readonly string[];
}

/** Webhooks, with an access token. */
export class Webhooks {
  readonly #v3: () => V3;

  /** @internal */
  constructor(v3: () => V3) {
    this.#v3 = v3;
  }

  /** The secret with which messages are signed is shown here and never again. */
  async add(webhook: NewWebhook, options: WriteOptions = {}): Promise<Webhook & { readonly secret: string }> {
    return this.#v3().call("POST", "/webhooks", { json: webhook, ...options });
  }

  /** The webhooks of this client. */
  async list({ signal }: CallOptions = {}): Promise<readonly Webhook[]> {
    return (await this.#v3().call<{ webhooks: Webhook[] }>("GET", "/webhooks", { signal })).webhooks;
  }

  /** Removes a webhook. */
  async remove(webhookId: string, options: WriteOptions = {}): Promise<void> {
    await this.#v3().call("DELETE", `/webhooks/${encodeURIComponent(webhookId)}`, { ...options });
  }
}
