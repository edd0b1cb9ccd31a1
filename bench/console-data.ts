import { skillSettings } from "../simulator/alexa/simulator.ts";
import type { DeviceId, TenantId, UserId } from "../src/model/ids.ts";
import type { Parts } from "../src/service/parts.ts";
import { addClient, addGrant, type GrantedClient } from "./granted-client.ts";

/** Ids of entries whose own pages are measured. */
export interface ConsoleData {
  readonly clientId: string;
  readonly webhookId: string;
  readonly outlet: string;
  readonly userId: UserId;
}

interface Owned {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
}

const ownDevices = 5_000;
const alerts = 1_000;
const webhooks = 500;
/** Of the first webhook; as many as are kept. Each other one has `deliveriesOfOthers`. */
const deliveriesOfFirst = 1_000;
const deliveriesOfOthers = 20;
const rowsAtOnce = 500;

/**
 * What operators see besides links: a client to which every user has given access, another with webhooks and their
 * deliveries, an assistant, own devices and alerts. Every tenth delivery has failed.
 */
export async function addConsoleData(parts: Parts, tenantId: TenantId): Promise<ConsoleData> {
  const { store, administration, federation, oauth } = parts;
  const users: UserId[] = [];
  for await (const links of federation.foundLinks({ tenantIds: [tenantId] })) {
    users.push(...links.map(({ userId }) => userId));
  }
  const client = await addClient({ oauth }, tenantId);
  for (let from = 0; from < users.length; from += rowsAtOnce) {
    await store.transaction(async (tx) => {
      for (const userId of users.slice(from, from + rowsAtOnce)) await addGrant(tx, client, userId);
    });
  }
  const devices = await addOwnDevices(parts, tenantId, users);
  for (const { userId, deviceId } of devices.slice(0, alerts)) {
    const watched = { user: String(userId), device: String(deviceId), attribute: "power", value: "on" };
    await administration.run("home alert add", { ...watched, action: "notify", message: "on" });
  }
  const added = await administration.run("outlet add", {
    tenant: String(tenantId),
    kind: "alexa",
    settings: { ...skillSettings, alarms: "contact" },
  });
  const { outlet } = added as { readonly outlet: string };
  const webhookId = await addWebhooks(parts, client, devices);
  return { clientId: client.credentials.client_id, webhookId, outlet, userId: users[0]! };
}

async function addOwnDevices(
  { store }: Parts,
  tenantId: TenantId,
  users: readonly UserId[],
): Promise<readonly Owned[]> {
  const owners = Array.from({ length: ownDevices }, (_, nth) => users[nth % users.length]!);
  const growth = { names: 0, bytes: 0, isErasing: false };
  return store.transaction(async (tx) => {
    const typeId = await tx.devices.addType("Lamp", tenantId);
    const rows = owners.map((userId, nth) => {
      return { userId, typeId, name: `Lamp ${nth}`, room: "Hall", lastTimeMs: 1, growth };
    });
    const ids = await tx.devices.addOwn(tenantId, rows);
    return ids.map((deviceId, nth) => ({ deviceId, userId: owners[nth]! }));
  });
}

/** Webhooks that get no message while pages are measured: no device has the attribute. Returns the first one. */
async function addWebhooks(
  { store, events }: Parts,
  { tenantId, credentials }: GrantedClient,
  devices: readonly Owned[],
): Promise<string> {
  let first: string | undefined;
  for (const [nth, { userId, deviceId }] of devices.slice(0, webhooks).entries()) {
    const owner = { kind: "user", userId, tenantId, clientId: credentials.client_id } as const;
    const { webhook } = await events.webhooks.add(owner, {
      url: `https://1.1.1.1/hook/${nth}`,
      deviceIds: [],
      attributes: ["never written"],
    });
    first ??= webhook.id;
    const { ownerId, id: webhookId } = webhook;
    await store.transaction(async (tx) => {
      const nowMs = await tx.clock.nowMs();
      for (let number = nth === 0 ? deliveriesOfFirst : deliveriesOfOthers; number > 0; number--) {
        const to = { ownerId, webhookId, userId, deviceId, messageId: `m${nth}.${number}` };
        const id = await tx.deliveries.add({ ...to, type: "attribute", body: '{"power":"on"}' });
        const delivery = (await tx.deliveries.find({ ownerId, id: webhookId }, id))!;
        const attempt =
          number % 10 === 0 ? { status: 500, text: "answered 500" } : { status: 200, text: "answered 200" };
        const state = attempt.status === 200 ? "delivered" : "failed";
        await tx.deliveries.settle(delivery, state, nowMs - number * 60_000, attempt);
      }
    });
  }
  return first!;
}
