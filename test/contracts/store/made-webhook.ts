import type { DeviceId, OwnerId, TenantId, UserId } from "../../../src/model/ids.ts";
import type { OpenStore } from "../../../src/store/seam.ts";
import { logStart } from "../../../src/store/tables/log-position.ts";
import type { WebhookKey } from "../../../src/store/tables/webhooks.ts";

/** A tenant with a client, so that its webhooks are alive. */
export async function makeTenant(store: OpenStore, name: string): Promise<TenantId> {
  return store.transaction(async (tx) => {
    const tenantId = (await tx.tenants.add({ name }))!;
    const client = { id: `client of ${name}`, tenantId, name, kind: "enterprise", requiresPkce: false } as const;
    await tx.clients.add({ ...client, redirectUris: [], secrets: [] });
    return tenantId;
  });
}

/** A webhook of the whole tenant. */
export function makeWebhook(
  store: OpenStore,
  tenant: { readonly id: TenantId; readonly name: string },
  id: string,
  url = `https://${id}.example/`,
  hearsThings = false,
): Promise<WebhookKey> {
  const owner = { id, tenantId: tenant.id, userId: null, clientId: `client of ${tenant.name}` };
  const plain = { url, sealedUrl: null, sealedSecret: "…", deviceIds: [], attributes: [], from: logStart };
  return store.transaction((tx) => tx.webhooks.add({ ...owner, ...plain, hearsThings }));
}

/** Adds waiting messages to a webhook, one for each device. */
export async function addMessages(
  store: OpenStore,
  { ownerId, id: webhookId }: { readonly ownerId: OwnerId; readonly id: string },
  devices: readonly number[],
  { body = "{}", isUrgent = false, userId = 1 as UserId } = {},
): Promise<void> {
  await store.transaction(async (tx) => {
    for (const [i, deviceId] of devices.entries()) {
      await tx.deliveries.add({
        ownerId,
        webhookId,
        userId,
        deviceId: deviceId as DeviceId,
        messageId: `msg_${webhookId}_${i}`,
        type: "attribute",
        body,
        isUrgent,
      });
    }
  });
}

export function range(length: number, from = 1): readonly number[] {
  return Array.from({ length }, (_, i) => from + i);
}
