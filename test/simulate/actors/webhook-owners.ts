import type { DeviceId, TenantId, UserId } from "../../../src/model/ids.ts";
import type { DeliveryRow } from "../../../src/store/tables/webhook-deliveries.ts";
import type { WebhookRow } from "../../../src/store/tables/webhooks.ts";
import { type Calls, expectOurs } from "./calls.ts";

export interface WebhookOwnerParts {
  readonly calls: Calls;
  readonly users: readonly UserId[];
  readonly lampOf: (userId: UserId) => DeviceId;
  readonly webhooksOf: (userId: number) => readonly WebhookRow[];
  readonly deliveries: () => readonly DeliveryRow[];
}

/** The clients that add and remove webhooks, and resend deliveries. */
export class WebhookOwners {
  areQuiet = false;
  readonly #parts: WebhookOwnerParts;

  constructor(parts: WebhookOwnerParts) {
    this.#parts = parts;
  }

  start(): void {
    const { calls, users } = this.#parts;
    for (const userId of users) if (calls.scheduler.dice.chance(0.5)) this.#act(userId, [0, 4_000]);
  }

  #act(userId: UserId, range: readonly [number, number]): void {
    const { calls, webhooksOf, lampOf, deliveries } = this.#parts;
    const { dice } = calls.scheduler;
    calls.laterOnSomeNode(`webhooks of user ${userId}`, range, (node) => {
      if (this.areQuiet) return;
      const owner = { kind: "user", userId, tenantId: 1 as TenantId, clientId: "client" } as const;
      const { webhooks } = node.events;
      const own = webhooksOf(userId);
      const delivered = deliveries().filter((row) => row.userId === userId && row.state === "delivered");
      const what = dice.weighted({ add: own.length === 0 ? 8 : own.length === 1 ? 2 : 0, remove: 1, resend: 3 });
      if (what === "add") {
        const deviceIds = dice.chance(0.3) ? [lampOf(userId)] : [];
        webhooks.add(owner, { url: "http://receiver.example/", deviceIds, attributes: [] }).catch(expectOurs);
      }
      if (what === "remove" && own.length > 1) webhooks.remove(owner, dice.pick(own).id).catch(expectOurs);
      if (what === "resend" && delivered.length > 0) {
        const { webhookId, id } = dice.pick(delivered);
        webhooks.resend(owner, webhookId, id).catch(expectOurs);
      }
      this.#act(userId, calls.areRare ? [20_000, 60_000] : [2_000, 12_000]);
    });
  }
}
