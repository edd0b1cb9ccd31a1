import type { TestContext } from "node:test";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import type { WebhookRow } from "../../src/store/tables/webhooks.ts";
import { receiver } from "../events/receiver.ts";
import type { OAuthWorld } from "../oauth/oauth-world.ts";
import { eventually } from "../stories/world.ts";
import { alertOn, alertOnThing } from "./calls.ts";

export type AlertAndWebhook = Awaited<ReturnType<AlertsAndWebhooks["present"]>>;

export interface Watched {
  readonly userId: UserId;
  readonly lampId: DeviceId;
  /** The present id of the alarm. */
  readonly thingId: () => string;
  /** Changes the lamp, so that the webhook gets a message. */
  readonly change: () => Promise<void>;
}

/** One alert of each kind and one webhook of a user, which are restored after a caller has removed them or added others. */
export class AlertsAndWebhooks {
  readonly #test: TestContext;
  readonly #world: OAuthWorld;
  readonly #userId: UserId;
  readonly #lampId: DeviceId;
  readonly #thingId: () => string;
  readonly #change: () => Promise<void>;
  #url: string | undefined;

  constructor(test: TestContext, world: OAuthWorld, { userId, lampId, thingId, change }: Watched) {
    this.#test = test;
    this.#world = world;
    this.#userId = userId;
    this.#lampId = lampId;
    this.#thingId = thingId;
    this.#change = change;
  }

  /** The present alerts and webhook, after all messages were sent. */
  async present(token: string) {
    const { alerts } = await this.#ask(token, "GET", "/alerts?things=true");
    const isOnThing = (alert: object) => "thingId" in alert;
    const alertId = await this.#onlyAlert(
      token,
      alerts.filter((one: object) => !isOnThing(one)),
      () => alertOn(String(this.#lampId)),
    );
    const thingAlertId = await this.#onlyAlert(token, alerts.filter(isOnThing), () => alertOnThing(this.#thingId()));

    this.#url ??= `${(await receiver(this.#test)).url}-of-Ottoline`;
    const isOurs = ({ url }: WebhookRow) => url === this.#url;
    const webhookId = (await this.#onlyWebhook(isOurs)) ?? (await this.#newWebhook(token));
    const deliveryId = await this.#sentBy(token, webhookId);
    return { alertId, thingAlertId, webhookId, deliveryId, url: this.#url };
  }

  /** The id of the first of these alerts, or of a new one. The others are removed. */
  async #onlyAlert(token: string, present: readonly { readonly alertId: number }[], definition: () => object) {
    const alert = present[0] ?? (await this.#ask(token, "POST", "/alerts", definition()));
    for (const { alertId } of present.slice(1)) await this.#ask(token, "DELETE", `/alerts/${alertId}`);
    return String(alert.alertId);
  }

  /** Also webhooks that an enterprise client has added: their waiting messages would change by themselves. */
  async #onlyWebhook(isOurs: (webhook: WebhookRow) => boolean): Promise<string | undefined> {
    const { store } = this.#world.service.parts;
    return store.transaction(async (tx) => {
      const webhooks = await tx.webhooks.hearing([this.#userId]);
      for (const webhook of webhooks) if (!isOurs(webhook)) await tx.webhooks.remove(webhook);
      return webhooks.find(isOurs)?.id;
    });
  }

  async #newWebhook(token: string): Promise<string> {
    const wanted = { url: this.#url, deviceIds: [this.#lampId], attributes: ["glow-of-Ottoline"] };
    const { webhookId } = await this.#ask(token, "POST", "/webhooks", wanted);
    await this.#change();
    return webhookId;
  }

  async #sentBy(token: string, webhookId: string): Promise<string> {
    let deliveryId = "";
    await eventually(this.#test.signal, async () => {
      const { deliveries } = await this.#ask(token, "GET", `/webhooks/${webhookId}/deliveries`);
      const isSent = ({ state }: { readonly state: string }) => state === "delivered";
      if (deliveries.length === 0 || !deliveries.every(isSent)) throw new Error("the webhook has not been sent");
      deliveryId = String(deliveries[0].deliveryId);
    });
    return deliveryId;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is looked at
  async #ask(token: string, method: string, path: string, json?: unknown): Promise<any> {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(json !== undefined && { "content-type": "application/json" }),
    };
    const body = json === undefined ? null : JSON.stringify(json);
    const answer = await fetch(`${this.#world.baseUrl}/v3${path}`, { method, headers, body });
    if (!answer.ok) throw new Error(`${method} /v3${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }
}
