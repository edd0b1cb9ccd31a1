import assert from "node:assert/strict";
import type { DeviceId, TenantId, UserId } from "../../../src/model/ids.ts";
import type { Transaction } from "../../../src/store/seam.ts";
import { logStart } from "../../../src/store/tables/log-position.ts";
import { linkOf, node } from "./home.ts";

/** A text column, and how a test writes and reads it. */
export interface Column {
  readonly name: string;
  /** Whether it is indexed: PostgreSQL's indexes accept about 2,700 bytes. */
  readonly isShort?: boolean;
  /** Writes the text to the column and returns what is read afterwards. */
  readonly roundTrip: (tx: Transaction, text: string, home: HomeIds) => Promise<string | undefined>;
}

export interface HomeIds {
  readonly tenantId: TenantId;
  readonly userId: UserId;
  readonly device: DeviceId;
}

const plainThing = {
  thingId: "t_text",
  key: "alarm/text",
  source: "nest",
  kind: "alarm",
  room: null,
  descriptor: "{}",
  state: "{}",
  print: 1,
  samples: "[]",
  goneMs: null,
};

export const textColumns: readonly Column[] = [
  {
    name: "tenants.name",
    isShort: true,
    roundTrip: async (tx, text) => {
      await tx.tenants.add({ name: text });
      return (await tx.tenants.byName(text))?.name;
    },
  },
  ...(["accent", "supportUrl"] as const).map((name) => ({
    name: `tenants.${name}`,
    roundTrip: async (tx: Transaction, text: string, { tenantId }: HomeIds) => {
      await tx.tenants.setBrand(tenantId, { [name]: text });
      return (await tx.tenants.brand(tenantId))?.[name] ?? undefined;
    },
  })),
  {
    name: "tenants.logo",
    roundTrip: async (tx, text, { tenantId }) => {
      await tx.tenants.setBrand(tenantId, { logo: text });
      return tx.tenants.logo(tenantId);
    },
  },
  {
    name: "tenants.terms",
    roundTrip: async (tx, text, { tenantId }) => {
      await tx.tenants.setTerms(tenantId, { text, version: "1" });
      return (await tx.tenants.brand(tenantId))?.terms ?? undefined;
    },
  },
  {
    name: "tenants.terms_version",
    roundTrip: async (tx, text, { tenantId }) => {
      await tx.tenants.setTerms(tenantId, { text: "Be kind.", version: text });
      return (await tx.tenants.brand(tenantId))?.termsVersion ?? undefined;
    },
  },
  {
    name: "users.name",
    isShort: true,
    roundTrip: async (tx, text, { tenantId }) => {
      await tx.users.add({ tenantId, name: text, passwordHash: "…", isAdmin: false });
      return (await tx.users.byName(tenantId, text))?.name;
    },
  },
  {
    name: "users.password_hash",
    roundTrip: async (tx, text, { userId }) => {
      await tx.users.setPasswordHash(userId, text);
      return (await tx.users.byId(userId))?.passwordHash;
    },
  },
  {
    name: "sec_tokens.hash",
    isShort: true,
    roundTrip: async (tx, text, { userId }) => {
      await tx.secTokens.add({ userId, hash: text }, 1);
      return (await tx.secTokens.find({ ownerId: userId, hash: text }))?.hash;
    },
  },
  {
    name: "devices.name",
    roundTrip: async (tx, text, { userId }) => {
      const id = await tx.devices.add({ userId, typeName: "lamp", name: text, isVirtual: true });
      return (await tx.devices.find(userId, id))?.name;
    },
  },
  {
    name: "device_types.name",
    isShort: true,
    roundTrip: async (tx, text, { userId }) => {
      const id = await tx.devices.add({ userId, typeName: text, name: "a lamp", isVirtual: true });
      return (await tx.devices.find(userId, id))?.typeName;
    },
  },
  {
    name: "attributes.name",
    isShort: true,
    roundTrip: async (tx, text, { userId, device }) => {
      await tx.attributes.write(userId, device, 1, [{ key: text, value: "here" }]);
      return (await tx.attributes.some(userId, device, [text]))[0]?.key as string | undefined;
    },
  },
  {
    name: "attributes.value",
    roundTrip: async (tx, text, { userId, device }) => {
      const others = [
        { key: 2, value: null },
        { key: 3, value: "NULL" },
      ];
      await tx.attributes.write(userId, device, 1, [{ key: 1, value: text }, ...others]);
      const rows = await tx.attributes.some(userId, device, [1, 2, 3]);
      for (const { key, value } of others) assert.equal(rows.find((row) => row.key === key)?.value, value);
      return rows.find((row) => row.key === 1)?.value ?? undefined;
    },
  },
  {
    name: "links.ecosystem",
    isShort: true,
    roundTrip: async (tx, text, { userId }) => {
      const deviceId = await tx.devices.add({ userId, typeName: "lamp", name: "linked", isVirtual: true });
      await tx.links.add({ ...linkOf({ userId, devices: [deviceId] } as never, node("A")), ecosystem: text });
      return (await tx.links.find(userId, text))?.ecosystem;
    },
  },
  {
    name: "links.sealed_token",
    roundTrip: async (tx, text, { userId, device }) => {
      await tx.links.setToken(userId, device, text);
      return (await tx.links.ofDevice(userId, device))?.sealedToken;
    },
  },
  {
    name: "links.sealed_credential",
    roundTrip: async (tx, text, { userId, device }) => {
      await tx.links.setToken(userId, device, "v1.token", text);
      return (await tx.links.ofDevice(userId, device))?.sealedCredential ?? undefined;
    },
  },
  {
    name: "links.reason",
    roundTrip: async (tx, text, { userId, device }) => {
      await tx.links.setState(userId, device, { state: "waiting", reason: text, blindness: null });
      return (await tx.links.ofDevice(userId, device))?.reason;
    },
  },
  {
    name: "links.blind_cause",
    roundTrip: async (tx, text, { userId, device }) => {
      const blindness = { sinceMs: 1, cause: text };
      await tx.links.setState(userId, device, { state: "waiting", reason: "", blindness });
      return (await tx.links.ofDevice(userId, device))?.blindness?.cause;
    },
  },
  {
    name: "things.external_key",
    roundTrip: async (tx, text, { userId, device }) => {
      await tx.things.put({ ...plainThing, userId, deviceId: device, key: text });
      return (await tx.things.some(userId, [plainThing.thingId]))[0]?.key;
    },
  },
  {
    name: "things.room",
    roundTrip: async (tx, text, { userId, device }) => {
      await tx.things.put({ ...plainThing, userId, deviceId: device, room: text });
      return (await tx.things.some(userId, [plainThing.thingId]))[0]?.room ?? undefined;
    },
  },
  {
    name: "things.descriptor",
    roundTrip: async (tx, text, { userId, device }) => {
      await tx.things.put({ ...plainThing, userId, deviceId: device, descriptor: text });
      return (await tx.things.some(userId, [plainThing.thingId]))[0]?.descriptor;
    },
  },
  {
    name: "things.state",
    roundTrip: async (tx, text, { userId, device }) => {
      await tx.things.put({ ...plainThing, userId, deviceId: device, state: text });
      return (await tx.things.some(userId, [plainThing.thingId]))[0]?.state;
    },
  },
  {
    name: "blind_intervals.cause",
    roundTrip: async (tx, text, { userId, device }) => {
      await tx.blindIntervals.add(userId, device, { fromMs: 1, toMs: 2, cause: text });
      return (await tx.blindIntervals.ofDevice(userId, device))[0]?.cause;
    },
  },
  {
    name: "links.index_map",
    roundTrip: async (tx, text, { userId, device }) => {
      await tx.links.setIndexMap(userId, device, text, "[]");
      return (await tx.links.ofDevice(userId, device))?.indexMap;
    },
  },
  {
    name: "links.notices",
    roundTrip: async (tx, text, { userId, device }) => {
      await tx.links.setIndexMap(userId, device, "{}", text);
      return (await tx.links.ofDevice(userId, device))?.notices;
    },
  },
  {
    name: "log.body",
    roundTrip: async (tx, text, { userId, device }) => {
      await tx.log.append({ userId, deviceId: device, kind: "attribute", timeMs: 2 ** 53 - 1, body: text });
      return (await tx.log.ofDevice(userId, device)).at(-1)?.body;
    },
  },
  ...(["act", "clientId", "source", "operator", "detail"] as const).map((name) => ({
    name: `audit.${name}`,
    isShort: name === "clientId" || name === "operator",
    roundTrip: async (tx: Transaction, text: string, { tenantId, userId }: HomeIds) => {
      const entry = {
        act: "sign_in",
        tenantId,
        userId,
        clientId: null,
        source: "command",
        operator: null,
        detail: "{}",
      };
      await tx.audit.add({ ...entry, [name]: text });
      return (await tx.audit.page({ tenantIds: [tenantId], limit: 1 })).rows[0]?.[name] ?? undefined;
    },
  })),
  ...(["thermostatId", "value", "text"] as const).map((name) => ({
    name: `commands.${name}`,
    roundTrip: async (tx: Transaction, text: string, { userId, device }: HomeIds) => {
      const command = { userId, deviceId: device, attribute: 1, thermostatId: "t", value: "true", text: null };
      const times = { requestedMs: 1, settledMs: null };
      const id = await tx.fanRequests.add({ ...command, ...times, state: "queued", [name]: text });
      return (await tx.fanRequests.find(userId, device, id))?.[name] ?? undefined;
    },
  })),
  ...(["key", "command", "plan", "error", "clientId"] as const).map((name) => ({
    name: `thing_commands.${name}`,
    roundTrip: async (tx: Transaction, text: string, { userId, device }: HomeIds) => {
      const command = { userId, deviceId: device, thingId: "t", key: "k", command: "{}", plan: null, error: null };
      const rest = { clientId: null, requestedMs: 1, settledMs: null };
      const id = await tx.thingCommands.add({ ...command, ...rest, state: "queued", [name]: text });
      return (await tx.thingCommands.find(userId, device, id))?.[name] ?? undefined;
    },
  })),
  ...(["attributeName", "action", "address", "message", "reason"] as const).map((name) => ({
    name: `triggers.${name}`,
    roundTrip: async (tx: Transaction, text: string, { userId, device }: HomeIds) => {
      await tx.triggers.add({ ...triggerOf(userId, device), [name]: text });
      return (await tx.triggers.ofUser(userId)).at(-1)?.[name] ?? undefined;
    },
  })),
  {
    name: "triggers.name",
    isShort: true,
    roundTrip: async (tx, text, { userId, device }) => {
      await tx.triggers.add({ ...triggerOf(userId, device), key: text });
      return (await tx.triggers.watching(userId, device, [text])).at(-1)?.key as string | undefined;
    },
  },
  ...(["field", "action", "address", "message", "reason"] as const).map((name) => ({
    name: `thing_triggers.${name}`,
    isShort: name === "field",
    roundTrip: async (tx: Transaction, text: string, { userId, device }: HomeIds) => {
      await tx.things.put({ ...plainThing, userId, deviceId: device });
      const { key: _, attributeName: __, ...rule } = triggerOf(userId, device);
      const watched = { thingId: plainThing.thingId, field: "smoke.state" };
      await tx.thingTriggers.add({ ...rule, ...watched, [name]: text });
      return (await tx.thingTriggers.ofUser(userId)).at(-1)?.[name] ?? undefined;
    },
  })),
  ...(["id", "clientId", "url", "sealedUrl", "sealedSecret"] as const).map((name) => ({
    name: `webhooks.${name}`,
    isShort: name === "id" || name === "clientId",
    roundTrip: async (tx: Transaction, text: string, { tenantId }: HomeIds) => {
      const plain = { id: "wh_1", clientId: "c-1", url: "https://example.com", sealedUrl: null, sealedSecret: "…" };
      const webhook = { ...plain, tenantId, userId: null, deviceIds: [], attributes: [], from: logStart, [name]: text };
      const client = { id: webhook.clientId, tenantId, name: "Voice", kind: "user", requiresPkce: false } as const;
      await tx.clients.add({ ...client, redirectUris: [], secrets: [] });
      const key = await tx.webhooks.add(webhook);
      const found = await tx.webhooks.byKey(key);
      await tx.webhooks.remove(key);
      await tx.clients.remove(client.id);
      return found?.[name] ?? undefined;
    },
  })),
  ...(["webhookId", "messageId", "type", "body"] as const).map((name) => ({
    name: `webhook_deliveries.${name}`,
    isShort: name === "webhookId",
    roundTrip: async (tx: Transaction, text: string, { userId, device }: HomeIds) => {
      const delivery = { ...deliveryOf(userId, device), [name]: text };
      const id = await tx.deliveries.add(delivery);
      return (await tx.deliveries.find({ ownerId: userId, id: delivery.webhookId }, id))?.[name];
    },
  })),
  {
    name: "webhook_deliveries.text",
    roundTrip: async (tx, text, { userId, device }) => {
      const delivery = deliveryOf(userId, device);
      const webhook = { ownerId: userId, id: delivery.webhookId };
      const id = await tx.deliveries.add(delivery);
      await tx.deliveries.settle((await tx.deliveries.find(webhook, id))!, "failed", 1, { status: null, text });
      return (await tx.deliveries.find(webhook, id))?.text ?? undefined;
    },
  },
  {
    name: "nodes.id",
    isShort: true,
    roundTrip: async (tx, text) => {
      await tx.nodes.beat(node(text));
      return (await tx.nodes.alive(60_000)).find((id) => id === text);
    },
  },
  {
    name: "failure_counts.key",
    isShort: true,
    roundTrip: async (tx, text) => {
      await tx.failureCounts.add(text, {});
      return (await tx.failureCounts.find(text))?.failures === 1 ? text : undefined;
    },
  },
  {
    name: "feed_accounts.account",
    isShort: true,
    roundTrip: async (tx, text, { userId, device }) => {
      await tx.feedAccounts.set({ userId, deviceId: device }, "hearth", text);
      return tx.feedAccounts.of({ userId, deviceId: device });
    },
  },
  {
    name: "feed_messages.content",
    roundTrip: async (tx, text, { userId, device }) => {
      await tx.feedAccounts.set({ userId, deviceId: device }, "hearth", "x");
      await tx.feedMessages.removeBefore(2);
      await tx.feedMessages.add("hearth", [{ id: "1", account: "x", content: text }], 1);
      return (await tx.feedMessages.of({ userId, deviceId: device }, 1))[0]?.content ?? undefined;
    },
  },
  {
    name: "feed_leases.fault",
    roundTrip: async (tx, text) => {
      await tx.feedLeases.take("hearth", node("node-1"), [], 1);
      await tx.feedLeases.renew("hearth", node("node-1"), { answeredMs: 1, fault: text });
      return (await tx.feedLeases.find("hearth"))?.fault ?? undefined;
    },
  },
  {
    name: "settings.value",
    roundTrip: async (tx, text) => tx.settings.getOrKeep(encodeURI(text.slice(0, 8).toWellFormed()), text),
  },
];

function deliveryOf(userId: UserId, deviceId: DeviceId) {
  return { ownerId: userId, webhookId: "wh_1", userId, deviceId, messageId: "msg_1", type: "device", body: "{}" };
}

function triggerOf(userId: UserId, deviceId: DeviceId) {
  const condition = { operation: "equals", text: "on" } as const;
  const manner = { autoDisarm: false, autoDelete: false, autoDisable: false, isEnabled: true, isArmed: true };
  const notification = { action: "email", address: "", message: "", targets: [], reason: null, createdMs: 1 };
  return { userId, deviceId, key: "power", attributeName: "power", condition, ...manner, ...notification };
}
