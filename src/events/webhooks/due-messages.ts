import type { TenantId } from "../../model/ids.ts";
import { limits } from "../../model/limits.ts";
import type { Store, Transaction } from "../../store/seam.ts";
import type { DueDelivery } from "../../store/tables/webhook-deliveries.ts";
import type { WebhookRow } from "../../store/tables/webhooks.ts";
import type { SlotUse } from "./sending-slots.ts";

/** A delivery that is due, and what its slot is counted for. */
export interface DueMessage {
  readonly delivery: DueDelivery;
  readonly use: SlotUse;
}

/** What never changes of a webhook and decides about its slots. */
interface Target {
  readonly tenantId: TenantId;
  readonly receiver: string;
}

/** Bounds the cost of one look, whatever is due. */
const webhooksPerLook = 100;
const keptTargets = 5_000;

/**
 * Finds what is due, a bounded number of webhooks at a time, each in its turn: the next look goes on behind the last
 * webhook of this one. Only the messages that can be sent at once are read of each webhook, so one with 100,000 due
 * messages costs as much as one with five.
 */
export class DueMessages {
  readonly #store: Store<Pick<Transaction, "webhooks" | "deliveries" | "clock">>;
  readonly #addressOf: (webhook: WebhookRow) => string;
  /** LRU cache: the target of each webhook that was sent to lately. */
  readonly #targets = new Map<string, Target>();
  #after = "";

  constructor(
    store: Store<Pick<Transaction, "webhooks" | "deliveries" | "clock">>,
    addressOf: (webhook: WebhookRow) => string,
  ) {
    this.#store = store;
    this.#addressOf = addressOf;
  }

  /** `isAll`: every webhook with waiting messages was looked at. */
  async look(): Promise<{ readonly messages: readonly DueMessage[]; readonly isAll: boolean }> {
    const after = this.#after;
    const { deliveries, lastWebhook, targets } = await this.#store.read(
      async (tx) => {
        const options = { after, webhooks: webhooksPerLook, perWebhook: limits.webhookSendsPerWebhook };
        const due = await tx.deliveries.due(await tx.clock.nowMs(), options);
        const keys = new Map(
          due.deliveries.map(({ ownerId, webhookId }) => [webhookId, { ownerId, id: webhookId }] as const),
        );
        const found = [...keys.values()].map(async (key) => [key.id, await this.#target(tx, key)] as const);
        return { ...due, targets: new Map(await Promise.all(found)) };
      },
      { soon: true },
    );
    this.#after = lastWebhook ?? "";
    const messages = deliveries.flatMap((delivery) => {
      const { webhookId, ownerId, nextMs } = delivery;
      const target = targets.get(webhookId);
      // Its client lost its access: retention removes the webhook with its deliveries.
      if (!target) return [];
      return [{ delivery, use: { webhookId, ownerId, isUrgent: nextMs === 0, ...target } }];
    });
    return { messages, isAll: after === "" && lastWebhook === undefined };
  }

  /** The webhook may be gone: the next look reads it again. */
  forget(webhookId: string): void {
    this.#targets.delete(webhookId);
  }

  async #target(
    tx: Pick<Transaction, "webhooks">,
    key: { readonly ownerId: WebhookRow["ownerId"]; readonly id: string },
  ): Promise<Target | undefined> {
    const known = this.#targets.get(key.id);
    const target = known ?? targetOf(await tx.webhooks.byKey(key), this.#addressOf);
    if (!target) return undefined;
    this.#targets.delete(key.id);
    this.#targets.set(key.id, target);
    if (this.#targets.size > keptTargets) this.#targets.delete(this.#targets.keys().next().value!);
    return target;
  }
}

function targetOf(webhook: WebhookRow | undefined, addressOf: (webhook: WebhookRow) => string): Target | undefined {
  if (!webhook) return undefined;
  const { id, tenantId } = webhook;
  try {
    return { tenantId, receiver: new URL(addressOf(webhook)).host };
  } catch {
    // An address that can't be read: the attempt says so, and nobody shares its receiver.
    return { tenantId, receiver: id };
  }
}
