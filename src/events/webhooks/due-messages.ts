import type { TenantId } from "../../model/ids.ts";
import { limits } from "../../model/limits.ts";
import type { Store, Transaction } from "../../store/seam.ts";
import type { DueDelivery } from "../../store/tables/webhook-deliveries.ts";
import type { WebhookRow } from "../../store/tables/webhooks.ts";
import type { SlotUse } from "./sending-slots.ts";

/** A due delivery, and the counters that its sending slot belongs to. */
export interface DueMessage {
  readonly delivery: DueDelivery;
  readonly use: SlotUse;
}

/** The immutable properties of a webhook that its sending slots depend on. */
interface Target {
  readonly tenantId: TenantId;
  readonly receiver: string;
}

/** Bounds the cost of one read, however much is due. */
const webhooksPerLook = 100;
const keptTargets = 5_000;

/**
 * Finds due messages of a bounded number of webhooks at a time, round-robin: the next read continues after the last
 * webhook of this one. Of each webhook only as many messages are read as can be sent at once, so 100,000 due messages
 * cost as much as five.
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

  /** `isAll`: every webhook with waiting messages was read. */
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
      // The webhook's client lost its access: retention removes the webhook with its deliveries.
      if (!target) return [];
      return [{ delivery, use: { webhookId, ownerId, isUrgent: nextMs === 0, ...target } }];
    });
    return { messages, isAll: after === "" && lastWebhook === undefined };
  }

  /** Drops a webhook from the cache, because it may have been removed. */
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
    // The address can't be unsealed: the attempt reports it. The webhook counts as its own receiver.
    return { tenantId, receiver: id };
  }
}
