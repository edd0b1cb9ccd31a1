import assert from "node:assert/strict";
import { limits } from "../../../src/model/limits.ts";
import { eventually } from "../../stories/world.ts";
import { names } from "./documented-devices.ts";
import type { DocumentedWorld } from "./documented-world.ts";

export interface Devices {
  readonly deviceId: string;
  readonly lampId: string;
}

export async function useEvents(
  { call }: DocumentedWorld,
  bearer: string,
  { deviceId, lampId }: Devices,
): Promise<void> {
  await call("updateDevice", 200, { bearer, at: deviceId, json: { [fanRequest]: "true" } });
  const { things } = await call("listThings", 200, { bearer });
  const { thingId } = things[0];
  await call("followEvents", 200, { bearer });
  await call("followEvents", 200, { bearer, query: { deviceId, attribute: "o.totalStructures", lastEventId: "x" } });
  await call("followEvents", 200, { bearer, query: { things: "true", thingId } });
  await call("followEvents", 400, { bearer, query: { things: "yes" } });
  await call("followEvents", 400, { bearer, query: { thingId } });
  await call("followEvents", 404, { bearer, query: { things: "true", thingId: "t_nonsense" } });
  const manyThings = Array.from({ length: limits.filterThings + 1 }, (_, nth) => ["thingId", `t_${nth}`]);
  await call("followEvents", 409, { bearer, query: new URLSearchParams([["things", "true"], ...manyThings]) });
  await call("followEvents", 404, { bearer, query: { deviceId: "999" } });
  await call("followEvents", 404, { bearer, query: { deviceId, attribute: "nonsense" } });
  const twice = new URLSearchParams([
    ["lastEventId", "x"],
    ["lastEventId", "x"],
  ]);
  await call("followEvents", 400, { bearer, query: twice });
  const manyNames = new URLSearchParams(Object.keys(names(limits.filterNames + 1)).map((name) => ["attribute", name]));
  await call("followEvents", 409, { bearer, query: manyNames });
  await call("getHistory", 409, { bearer, at: lampId, query: manyNames });
  await call("getHistory", 200, { bearer, at: lampId });
  await call("getHistory", 200, { bearer, at: deviceId, query: { from: "0", attribute: "o.totalStructures" } });
  await call("getHistory", 400, { bearer, at: lampId, query: { from: "yesterday" } });
  await call("getHistory", 404, { bearer, at: "999" });
  await call("getHistory", 404, { bearer, at: deviceId, query: { attribute: "nonsense" } });
  await call("getThingHistory", 200, { bearer, at: thingId });
  await call("getThingHistory", 200, { bearer, at: thingId, query: { from: "0", field: "presence.state" } });
  await call("getThingHistory", 400, { bearer, at: thingId, query: { field: "presence.ghost" } });
  await call("getThingHistory", 404, { bearer, at: "t_nonsense" });
  await call("getCommands", 200, { bearer, at: deviceId });
  await call("getCommands", 404, { bearer, at: "999" });
}

const fanRequest = "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite";

export async function useWebhooks(
  { call, signal, parts, userId }: DocumentedWorld,
  bearer: string,
  { deviceId, lampId }: Devices,
): Promise<void> {
  const url = "https://127.0.0.1:9/breezeway";
  const { webhookId } = await call("addWebhook", 201, { bearer, json: { url, deviceIds: [lampId] } });
  await call("addWebhook", 400, { bearer, json: { url: "ftp://example.com/" } });
  await call("addWebhook", 404, { bearer, json: { url, deviceIds: [999] } });
  await call("addWebhook", 404, { bearer, json: { url, deviceIds: [deviceId], attributes: ["nonsense"] } });
  await call("addWebhook", 400, { bearer, json: { url, things: "yes" } });
  const { things } = await call("addWebhook", 201, { bearer, json: { url, attributes: ["never"], things: true } });
  assert.equal(things, true);
  for (let nth = 2; nth < 20; nth++) await call("addWebhook", 201, { bearer, json: { url, attributes: ["never"] } });
  await call("addWebhook", 409, { bearer, json: { url } });
  await call("listWebhooks", 200, { bearer });
  await call("updateDevice", 200, { bearer, at: lampId, json: { power: "off" } });
  let deliveryId = 0;
  await eventually(signal, async () => {
    const { deliveries } = await call("listDeliveries", 200, { bearer, at: webhookId });
    deliveryId = deliveries[0].deliveryId;
  });
  await call("listDeliveries", 404, { bearer, at: "wh_nonsense" });
  await call("resendDelivery", 202, { bearer, at: `${webhookId}/${deliveryId}` });
  await call("resendDelivery", 404, { bearer, at: `${webhookId}/999` });
  await parts.store.transaction(async (tx) => {
    const webhook = { ownerId: userId, id: webhookId };
    const delivery = (await tx.deliveries.find(webhook, deliveryId))!;
    for (let nth = 0; nth < limits.webhookMessagesWaiting; nth++) await tx.deliveries.add(delivery);
  });
  await call("resendDelivery", 409, { bearer, at: `${webhookId}/${deliveryId}` });
  await call("resendDelivery", 400, { bearer, at: `${webhookId}/${deliveryId}`, json: {} });
  await call("removeWebhook", 400, { bearer, at: webhookId, json: {} });
  await call("removeWebhook", 200, { bearer, at: webhookId });
  await call("removeWebhook", 404, { bearer, at: webhookId });
}
