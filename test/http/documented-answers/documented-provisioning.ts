import type { OwnerId } from "../../../src/model/ids.ts";
import { limits } from "../../../src/model/limits.ts";
import { names } from "./documented-devices.ts";
import type { DocumentedWorld } from "./documented-world.ts";

/** The answers to a company that adds, describes and removes devices. */
export async function useProvisioning(world: DocumentedWorld, userToken: string, linkedId: string): Promise<void> {
  const { call, addClient, userId } = world;
  const enterprise = await addClient("enterprise");
  const issued = await call("issueToken", 200, { json: { ...enterprise, grant_type: "client_credentials" } });
  const bearer: string = issued.access_token;
  const lamp = { userId, deviceTypeName: "Lamp", deviceName: "Hall lamp" };
  const { deviceId } = await call("addDevice", 201, {
    bearer,
    json: { ...lamp, room: "Hall", attributes: { power: 1 } },
  });
  const at = String(deviceId);
  const tooMany = Object.fromEntries(Array.from({ length: limits.attributesPerDevice + 1 }, (_, n) => [`a${n}`, "on"]));
  await call("addDevice", 400, { bearer, json: {} });
  await call("addDevice", 403, { bearer: userToken, json: lamp });
  await call("addDevice", 404, { bearer, json: { ...lamp, userId: 999 } });
  await call("addDevice", 409, { bearer, json: { ...lamp, attributes: tooMany } });
  await call("addDevice", 413, { bearer, json: { ...lamp, attributes: { power: "x".repeat(9_000) } } });
  await call("describeDevice", 200, { bearer, at, json: { room: null } });
  await call("describeDevice", 400, { bearer, at, json: {} });
  await call("describeDevice", 403, { bearer: userToken, at, json: { room: null } });
  await call("describeDevice", 404, { bearer, at: "999", json: { room: null } });
  await call("describeDevice", 409, { bearer, at: linkedId, json: { room: null } });
  await call("removeDevice", 400, { bearer, at, json: {} });
  await call("removeDevice", 403, { bearer: userToken, at });
  await call("removeDevice", 404, { bearer, at: "999" });
  await call("removeDevice", 409, { bearer, at: linkedId });
  const states = { [at]: { power: "off" }, "999": { power: "off" } };
  await call("writeStates", 200, { bearer, json: states, key: "states" });
  await call("writeStates", 400, { bearer, json: {} });
  await call("writeStates", 403, { bearer: userToken, json: states });
  await call("writeStates", 409, { bearer, json: names(limits.linesAtOnce + 1) });
  await call("writeStates", 422, { bearer, json: { [at]: {} }, key: "states" });
  await call("removeDevice", 204, { bearer, at });
  await call("addDevices", 200, { bearer, lines: [lamp], key: "batch" });
  await call("addDevices", 200, { bearer, lines: [lamp], query: { mode: "each" } });
  await call("addDevices", 400, { bearer, lines: [{}] });
  await call("addDevices", 403, { bearer: userToken, lines: [lamp] });
  await call("addDevices", 404, { bearer, lines: [{ ...lamp, userId: 999 }] });
  await call("addDevices", 409, { bearer, lines: Array(limits.linesAtOnce + 1).fill(lamp) });
  await call("addDevices", 422, { bearer, lines: [lamp, lamp], key: "batch" });
}

/** The keys of requests for many devices. The tenant has no room for another one. */
export async function useKeysOfMany({ call, parts }: DocumentedWorld, bearer: string, tenantId: number): Promise<void> {
  const lines = [{ userId: 999, deviceTypeName: "Lamp", deviceName: "Lamp" }];
  const json = { "999": { power: "on" } };
  await call("addDevices", 409, { bearer, lines, key: "one too many" });
  const ownerId = -tenantId as OwnerId;
  const clientId = await parts.oauth.clientOf(bearer);
  const held = Promise.withResolvers<readonly never[]>();
  const source = { peek: () => held.promise, take: () => undefined };
  const underWay = parts.batches.run({ ownerId, clientId, key: "in use", content: "" }, source, async () => []).next();
  const query = { mode: "each" };
  await call("addDevices", 409, { bearer, lines, query, key: "in use" });
  await call("writeStates", 409, { bearer, json, key: "in use" });
  held.resolve([]);
  await underWay;
  const group = { lines: 1, digest: "", answers: "x".repeat(limits.batchKeyBytesPerTenant) };
  await parts.store.transaction((tx) => tx.batchGroups.add({ ownerId, hash: "full" }, 0, group, 60_000));
  await call("writeStates", 409, { bearer, json, key: "one too many" });
}
