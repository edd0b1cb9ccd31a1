import type { DeviceId } from "../../../src/model/ids.ts";
import { limits } from "../../../src/model/limits.ts";
import { startFan } from "./documented-devices.ts";
import type { Devices } from "./documented-events.ts";
import type { DocumentedWorld } from "./documented-world.ts";

/** Returns a lamp with the maximal number of alerts. */
export async function useAlerts(
  world: DocumentedWorld,
  bearer: string,
  { deviceId, lampId }: Devices,
): Promise<string> {
  const { call } = world;
  const target = (of: string, attrName: string, value: string) => [{ deviceId: Number(of), attrName, value }];
  const alert = {
    deviceId: Number(lampId),
    attrName: "power",
    operation: "equals",
    stringThreshold: "on",
    action: "attribute",
    targets: target(lampId, "scene", "evening"),
  };
  const { alertId } = await call("createAlert", 201, { bearer, json: alert });
  const number = { ...alert, attrName: "level", operation: ">", stringThreshold: undefined, threshold: 7 };
  const at = String((await call("createAlert", 201, { bearer, json: number })).alertId);
  for (const [operationId, success, more] of [
    ["createAlert", 201, {}] as const,
    ["changeAlert", 200, { at }] as const,
    ["dryRunAlert", 200, {}] as const,
  ]) {
    const ask = (status: number, json: unknown) => call(operationId, status, { bearer, json, ...more });
    await ask(success, alert);
    await ask(400, { ...alert, operation: "nearly" });
    await ask(403, { ...alert, targets: target(deviceId, "d.structures[1].a.away", "home") });
    await ask(404, { ...alert, targets: target("999", "scene", "evening") });
    await ask(404, { ...alert, commands: [{ thingId: "t_none", ...startFan }] });
    await ask(success, { ...alert, commands: [{ kind: "thermostat", room: "Hall", ...startFan }] });
    await ask(404, { ...alert, targets: target(deviceId, "d.structures[1].a.roof", "on") });
    await ask(413, { ...alert, targets: target(lampId, "scene", "x".repeat(9_000)) });
  }
  const large = { ...alert, targets: ["a", "b", "c"].flatMap((name) => target(lampId, name, "x".repeat(8_000))) };
  await call("createAlert", 409, { bearer, json: large });
  await call("changeAlert", 409, { bearer, at, json: large });
  await tryTwiceAtOnce(world, bearer, alert);
  await call("changeAlert", 404, { bearer, at: "999", json: alert });
  await call("updateDevice", 200, { bearer, at: lampId, json: { power: "on", level: 9 } });
  for (const operationId of ["getAlert", "explainAlert"]) {
    await call(operationId, 200, { bearer, at: String(alertId) });
    await call(operationId, 404, { bearer, at: "999" });
  }
  await explainTooOften(world, bearer, alert);
  await call("dryRunAlert", 200, { bearer, json: { ...alert, from: 0, to: Date.now() } });
  await useAlertsOnThings(world, bearer);
  await call("listAlerts", 200, { bearer });
  await call("listAlerts", 200, { bearer, query: { deviceId: lampId } });
  await call("listAlerts", 404, { bearer, query: { deviceId: "999" } });
  const enterprise = { ...(await world.addClient("enterprise")), grant_type: "client_credentials" };
  const { access_token: tenants } = await call("issueToken", 200, { form: enterprise });
  await call("listAlerts", 400, { bearer: tenants });

  const crowdedId = await crowdedLamp(world);
  await call("createAlert", 409, { bearer, json: { ...alert, deviceId: Number(crowdedId) } });
  await call("removeAlert", 400, { bearer, at, json: {} });
  await call("removeAlert", 200, { bearer, at });
  await call("removeAlert", 404, { bearer, at });
  return crowdedId;
}

async function useAlertsOnThings({ call }: DocumentedWorld, bearer: string): Promise<void> {
  const { things } = await call("listThings", 200, { bearer, query: { kind: "alarm" } });
  const { thingId } = things[0];
  const alert = { thingId, field: "smoke.state", operation: "equals", stringThreshold: "alarm", action: "email" };
  const at = String((await call("createAlert", 201, { bearer, json: alert })).alertId);
  await call("createAlert", 400, { bearer, json: { ...alert, field: "smoke.colour" } });
  for (const operationId of ["createAlert", "dryRunAlert"]) {
    await call(operationId, 404, { bearer, json: { ...alert, thingId: "t_nobody" } });
  }
  await call("changeAlert", 200, { bearer, at, json: { ...alert, stringThreshold: "warning" } });
  await call("dryRunAlert", 200, { bearer, json: alert });
  for (const operationId of ["getAlert", "explainAlert"]) await call(operationId, 200, { bearer, at });
  await call("listAlerts", 200, { bearer, query: { things: "true", thingId } });
  await call("listAlerts", 400, { bearer, query: { thingId } });
  await call("listAlerts", 404, { bearer, query: { things: "true", thingId: "t_nobody" } });
  await call("removeAlert", 200, { bearer, at });
}

/** A long history is read with pauses, in which another dry run of the same user is refused. */
async function tryTwiceAtOnce({ baseUrl, call, check }: DocumentedWorld, bearer: string, alert: object): Promise<void> {
  const { deviceId } = alert as { readonly deviceId: number };
  for (let i = 0; i < 100; i++) await call("updateDevice", 200, { bearer, at: String(deviceId), json: { step: i } });
  const tryIt = async () => {
    const headers = { authorization: `Bearer ${bearer}`, "content-type": "application/json" };
    const body = JSON.stringify(alert);
    const answer = await fetch(`${baseUrl}/v3/alerts/dry-run`, { method: "POST", headers, body });
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  };
  for (;;) {
    const answers = await Promise.all([tryIt(), tryIt(), tryIt()]);
    const refused = answers.find(({ status }) => status === 409);
    if (!refused) continue;
    check("dryRunAlert", 409, refused);
    return;
  }
}

/** Costly explanations take turns, and beyond a limit of those that wait another one is refused. */
async function explainTooOften(
  { baseUrl, call, check }: DocumentedWorld,
  bearer: string,
  alert: object,
): Promise<void> {
  const { deviceId } = alert as { readonly deviceId: number };
  const condition = { attrName: "report", operation: "regex", stringThreshold: "x{50}y" };
  const costly = { deviceId, ...condition, action: "note" };
  const at = String((await call("createAlert", 201, { bearer, json: costly })).alertId);
  await call("updateDevice", 200, { bearer, at: String(deviceId), json: { report: "x".repeat(8_000) } });
  const explain = async () => {
    const headers = { authorization: `Bearer ${bearer}` };
    const answer = await fetch(`${baseUrl}/v3/alerts/${at}/explain`, { headers });
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  };
  for (;;) {
    const answers = await Promise.all(Array.from({ length: 3 * limits.explanationsWaiting }, explain));
    const refused = answers.find(({ status }) => status === 409);
    if (!refused) continue;
    check("explainAlert", 409, refused);
    break;
  }
  await call("updateDevice", 200, { bearer, at: String(deviceId), json: { report: null } });
  await call("removeAlert", 200, { bearer, at });
}

/** A lamp with the maximal number of alerts; created concurrently, they share their commits. */
async function crowdedLamp(world: DocumentedWorld): Promise<string> {
  const { alerts } = world.parts;
  const { userId } = world;
  const lampId = String(await world.addLamp("Porch lamp"));
  const deviceId = Number(lampId) as DeviceId;
  const condition = { attributeName: "power", operation: "equals", threshold: "", stringThreshold: "on" };
  const manner = { autoDisarm: false, autoDelete: false, autoDisable: false, isEnabled: true };
  const email = { action: "email", address: "", message: "", targets: [] };
  const add = () => alerts.add({ kind: "user", userId }, { deviceId, ...condition, ...manner, ...email });
  await Promise.all(Array.from({ length: limits.alertsPerDevice }, add));
  return lampId;
}
