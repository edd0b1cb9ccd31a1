import { limits } from "../../../src/model/limits.ts";
import type { DocumentedWorld } from "./documented-world.ts";

/** Returns the virtual device's id. */
export async function link(world: DocumentedWorld, accessToken: string): Promise<string> {
  const { call, platform, accountToken, proxy } = world;
  const { secToken } = platform;
  const account = { secToken, anEcosystemName: "nest", anAccessToken: accountToken };
  const unknown = { ...account, anEcosystemName: "nowhere" };
  const { secToken: _, ...named } = account;
  for (const operationId of ["getLinkStatus", "unlinkAccount"]) {
    await call(operationId, 400, { query: { secToken } });
    await call(operationId, 400, { query: unknown });
    await call(operationId, 404, { query: account });
  }
  for (const operationId of ["linkAccount", "replaceAccountToken"]) {
    await call(operationId, 400, { form: { secToken } });
    await call(operationId, 400, { json: unknown });
    if (operationId === "replaceAccountToken") await call(operationId, 404, { form: account });
    else await call(operationId, 422, { form: { ...account, anAccessToken: "c.nonsense" } });
  }
  await proveTooManyTokens(world, "linkAccount", account);
  proxy.mood = "closed";
  await call("linkAccount", 503, { form: account });
  proxy.mood = "open";
  const { DeviceId: deviceId } = await call("linkAccount", 200, { json: named, bearer: secToken });
  await call("linkAccount", 409, { query: account });
  await call("replaceAccountToken", 200, { form: account });
  await call("replaceAccountToken", 422, { form: { ...account, anAccessToken: "c.nonsense" } });
  await proveTooManyTokens(world, "replaceAccountToken", account);
  proxy.mood = "closed";
  await call("replaceAccountToken", 503, { form: { ...account, anAccessToken: "c.nonsense" } });
  proxy.mood = "open";
  await call("getLinkStatus", 200, { query: { anEcosystemName: "NEST" }, bearer: secToken });
  for (const [operationId, place] of [
    ["getLargeStrings", "query"] as const,
    ["getLargeStringsByPost", "form"] as const,
  ]) {
    await call(operationId, 200, { [place]: { secToken, id: deviceId } });
    await call(operationId, 400, { [place]: { secToken } });
    await call(operationId, 404, { [place]: { secToken, id: "999" } });
    await call(operationId, 200, { [place]: { id: deviceId }, bearer: accessToken });
  }
  return deviceId;
}

/** The ecosystem answers no read, so that those of all calls but one go on until their clients have gone. */
async function proveTooManyTokens(
  { baseUrl, check, proxy }: DocumentedWorld,
  operationId: "linkAccount" | "replaceAccountToken",
  account: Readonly<Record<string, string>>,
): Promise<void> {
  proxy.mood = "half-open";
  const gone = new AbortController();
  const method = operationId === "linkAccount" ? "POST" : "PUT";
  const request = { method, body: new URLSearchParams(account), signal: gone.signal };
  const calls = Array.from({ length: limits.outgoingCallsPerUser + limits.outgoingCallsWaitingPerUser + 1 }, () =>
    fetch(`${baseUrl}/adaptor/federatedtokens`, request),
  );
  const refused = await Promise.race(calls);
  check(operationId, 429, { status: refused.status, headers: refused.headers, body: await refused.text() });
  gone.abort();
  await Promise.allSettled(calls);
  // The service notices a moment later that the clients have gone.
  proxy.mood = "closed";
  const next = { method, body: new URLSearchParams({ ...account, anAccessToken: "c.nonsense" }) };
  while ((await fetch(`${baseUrl}/adaptor/federatedtokens`, next)).status === 429) await new Promise(setImmediate);
  proxy.mood = "open";
}

export async function useUsersAndDevices(
  { call, userId, addLamp }: DocumentedWorld,
  bearer: string,
  deviceId: string,
): Promise<void> {
  await call("listUsers", 200, { bearer });
  await call("listUsers", 400, { bearer, query: { cursor: "nonsense" } });
  await call("getUser", 200, { bearer, at: String(userId) });
  await call("getUser", 404, { bearer, at: "999" });

  const lamp = String(await addLamp("Hall lamp"));
  await call("listDevices", 200, { bearer });
  await call("listDevices", 200, { bearer, query: { deviceTypeName: "Lamp" } });
  await call("listDevices", 400, { bearer, query: { cursor: "nonsense" } });

  await call("updateDevice", 200, { bearer, at: lamp, json: { power: "on", level: 7, isDimmed: false, scene: null } });
  await call("updateDevice", 400, { bearer, at: lamp, json: {} });
  await call("updateDevice", 409, { bearer, at: lamp, json: names(limits.attributesPerDevice + 1) });
  await call("updateDevice", 413, { bearer, at: lamp, json: { power: "x".repeat(9_000) } });
  await call("updateDevice", 404, { bearer, at: "999", json: { power: "on" } });
  await call("updateDevice", 404, { bearer, at: deviceId, json: { "d.structures[1].a.roof": "on" } });
  await call("updateDevice", 403, { bearer, at: deviceId, json: { "d.structures[1].a.away": "home" } });

  await call("getDevice", 200, { bearer, at: lamp });
  await call("getDevice", 200, { bearer, at: deviceId });
  await call("getDevice", 200, { bearer, at: deviceId, query: { attribute: "o.totalStructures", since: "0" } });
  await call("getDevice", 200, { bearer, at: lamp, query: { since: "0" } });
  await call("getDevice", 400, { bearer, at: deviceId, query: { since: "yesterday" } });
  await call("getDevice", 404, { bearer, at: "999" });
  await call("getDevice", 404, { bearer, at: deviceId, query: { attribute: "nonsense" } });

  const things = await call("listThings", 200, { bearer });
  await call("listThings", 200, { bearer, query: { kind: "home", room: "Cellar", source: "nest" } });
  await call("listThings", 400, { bearer, query: { kind: "ghost" } });
  const thing = things.things[0].thingId;
  await call("getThing", 200, { bearer, at: thing });
  await call("getThing", 200, { bearer, at: thing, query: { since: "0" } });
  await call("getThing", 400, { bearer, at: thing, query: { since: "-1" } });
  await call("getThing", 404, { bearer, at: "t_nonsense" });

  const json = { trait: "fanTimer", command: "start", params: { minutes: 15 } };
  for (const { thingId } of things.things) {
    const { commandId } = await call("sendThingCommand", 202, { bearer, at: thingId, json });
    await call("getThingCommand", 200, { bearer, at: `${thingId}/${commandId}` });
    await call("listThingCommands", 200, { bearer, at: thingId });
  }
  await call("sendThingCommand", 400, { bearer, at: thing, json: { ...json, command: "dance" } });
  await call("sendThingCommand", 404, { bearer, at: "t_nonsense", json });
  await call("listThingCommands", 404, { bearer, at: "t_nonsense" });
  await call("getThingCommand", 404, { bearer, at: "t_nonsense/c1" });
  await call("getThingCommand", 404, { bearer, at: `${thing}/c999` });
}

/** This many attributes with distinct names. */
export function names(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`name ${i}`, ""]));
}

export const startFan = { trait: "fanTimer", command: "start", params: { minutes: 15 } };

export async function unlink({ call, platform: { secToken } }: DocumentedWorld): Promise<void> {
  await call("unlinkAccount", 200, { query: { secToken, anEcosystemName: "nest" } });
}
