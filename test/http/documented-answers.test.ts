import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { StoreUnavailable } from "../../src/model/errors.ts";
import type { DeviceId, OwnerId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import { startOutlets } from "../../src/outlets/serve.ts";
import { formOf } from "../oauth/scripted-browser.ts";
import { eventually, person } from "../stories/world.ts";
import { useAccount } from "./documented-account.ts";
import { useDeviceTypes } from "./documented-device-types.ts";
import { useLinkSessions } from "./documented-link-sessions.ts";
import { type DocumentedWorld, documentedWorld } from "./documented-world.ts";
import { unusedParts } from "./made-table.ts";

describe("what the service answers", () => {
  it("matches its OpenAPI document, in success and failure, and every documented answer occurs", async (t) => {
    const world = await documentedWorld(t);
    await callWithoutCredentials(world);
    await callForHealth(world, t);
    await signInByBrowser(world);
    const accessToken = await getTokens(world);
    await lackScopes(world);
    const deviceId = await link(world, accessToken);
    await useUsersAndDevices(world, accessToken, deviceId);
    const lampId = String(await world.addLamp("Porch lamp"));
    const crowdedId = await useAlerts(world, accessToken, { deviceId, lampId });
    await useProvisioning(world, accessToken, deviceId);
    await useDeviceTypes(world, accessToken);
    await useEvents(world, accessToken, { deviceId, lampId });
    await useWebhooks(world, accessToken, { deviceId, lampId });
    await useKeys(world, accessToken, lampId);
    await useLinkSessions(world, accessToken);
    await useAccount(world);
    await useGoogleHome(world);
    await useAlexa(world);
    await usePlatform(world, deviceId);
    await useTriggers(world, { deviceId, lampId, crowdedId });
    await unlink(world);
    // test/operators/documented-calls.test.ts makes those of operators.
    const isOperators = (promise: string) => /^(admin[A-Z]|(show|send)Console)/.test(promise);
    assert.deepEqual(
      world.answers.unseen().filter((promise) => !isOperators(promise)),
      [],
    );
  });

  it("to an undocumented method is a refusal that names the documented ones, with HEAD beside GET", async (t) => {
    const { operations, baseUrl } = await documentedWorld(t);
    for (const [path, documented] of Map.groupBy(operations, (operation) => operation.path)) {
      const answer = await fetch(`${baseUrl}${path.replaceAll(/[{}]/g, "")}`, { method: "PROPFIND" });
      assert.equal(answer.status, 405, path);
      const allowed = answer.headers.get("allow")?.split(", ") ?? [];
      const methods = new Set<string>(documented.map(({ method }) => method));
      const hasHead = methods.has("GET") && !path.startsWith("/zdk") && !["/v3/events", "/console/live"].includes(path);
      if (hasHead) methods.add("HEAD");
      assert.deepEqual(allowed.sort(), [...methods].sort(), path);
    }
  });
});

/** Calls without credentials, and with wrong ones. */
async function callWithoutCredentials({ operations, call }: DocumentedWorld): Promise<void> {
  for (const { operationId, security } of operations) {
    const schemes = security.flatMap((one) => Object.keys(one));
    if (schemes.includes("accessToken")) {
      await call(operationId, 401, { at: "1" });
      await call(operationId, 401, { at: "1", bearer: "bwa_nonsense" });
    } else if (schemes.includes("secTokenHeader")) {
      await call(operationId, 401);
      await call(operationId, 401, { bearer: "bws_nonsense" });
    } else if (schemes.includes("secToken")) {
      await call(operationId, 500);
    } else if (schemes.includes("clientSecret")) {
      await call(operationId, 401);
      await call(operationId, 401, { form: { client_id: "nobody", client_secret: "nonsense" } });
    }
  }
}

async function callForHealth({ baseUrl, call, check }: DocumentedWorld, t: TestContext): Promise<void> {
  for (const operationId of ["checkLiveness", "checkLivenessByHead", "checkReadiness", "checkReadinessByHead"]) {
    await call(operationId, 200);
  }
  await call("getOpenApi", 200);
  await call("getReference", 200);
  await call("readMetrics", 200);
  for (const authorization of [undefined, "Bearer nonsense"]) {
    const headers = { via: "1.1 proxy", ...(authorization && { authorization }) };
    const passedOn = await fetch(`${baseUrl}/metrics`, { headers });
    check("readMetrics", 401, { status: passedOn.status, headers: passedOn.headers, body: await passedOn.text() });
  }
  const checks = { store: () => Promise.reject(new StoreUnavailable("The store can't write now.")) };
  const report = { debug() {}, info() {}, warn() {}, error() {} };
  const ill = await startOutlets({ ...unusedParts, host: "127.0.0.1", port: 0, report, callers: {} as never, checks });
  t.after(() => ill.stop());
  for (const [operationId, method] of [["checkReadiness", "GET"] as const, ["checkReadinessByHead", "HEAD"] as const]) {
    const answer = await fetch(`${ill.url}/readyz`, { method });
    check(operationId, 503, { status: answer.status, headers: answer.headers, body: await answer.text() });
  }
}

async function signInByBrowser(world: DocumentedWorld): Promise<void> {
  const { call, check, parts, addClient, loginForm, browser } = world;
  const { client_id: clientId } = await addClient("user");
  const request = { response_type: "code", client_id: clientId, state: "s" };
  await call("startAuthorization", 200, { query: request });
  await call("startAuthorization", 302, { query: { ...request, state: "" } });
  await call("startAuthorization", 400, { query: { ...request, client_id: "nobody" } });

  const login = await loginForm(clientId);
  const wrong = { username: person.name, password: "wrong" };
  check("sendLogin", 401, await login.browser.submit(login.form, wrong));
  check("sendLogin", 400, await browser().submit(login.form, wrong));
  const nobody = { username: "nobody", password: "wrong" };
  // Each failure makes the next wait longer, so in the end an attempt is refused as too early.
  let refused = await login.browser.submit(login.form, nobody);
  while (refused.status === 401) refused = await login.browser.submit(login.form, nobody);
  check("sendLogin", 429, refused);
  const right = { username: person.name, password: person.password };
  const signedIn = await login.browser.submit(login.form, right);
  check("sendLogin", 303, signedIn);
  const { client_id: enterpriseId } = await addClient("enterprise");
  const byTenant = await loginForm(enterpriseId);
  check("sendLogin", 302, await byTenant.browser.submit(byTenant.form, right));

  const terms = await login.browser.get(signedIn.location);
  check("showTerms", 200, terms);
  await call("showTerms", 400, { query: { transaction: "gone" } });
  check("sendDecision", 400, await browser().submit(formOf(terms), { decision: "accept" }));
  check("sendDecision", 302, await login.browser.submit(formOf(terms), { decision: "accept" }));

  const logo = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><path d="M0 0h8v8z"/></svg>');
  const { tenantId } = await parts.identity.findTenant("Story");
  await call("getLogo", 404, { at: String(tenantId) });
  await parts.identity.setBrand(tenantId, { logo });
  await call("getLogo", 200, { at: String(tenantId) });
}

/** Returns an access token of the user. */
async function getTokens({ call, addClient, code }: DocumentedWorld): Promise<string> {
  const client = await addClient("user");
  const ask = (status: number, form: Readonly<Record<string, string>>) =>
    call("issueToken", status, { form: { ...client, ...form } });
  await ask(400, {});
  await ask(400, { grant_type: "password" });
  await ask(400, { grant_type: "client_credentials" });
  await ask(400, { grant_type: "authorization_code", code: "nonsense" });
  const enterprise = await addClient("enterprise");
  await call("issueToken", 200, { json: { ...enterprise, grant_type: "client_credentials" } });
  const first = await ask(200, { grant_type: "authorization_code", code: await code(client.client_id) });
  const second = await ask(200, { grant_type: "refresh_token", refresh_token: first.refresh_token });
  await call("getServerMetadata", 200);

  await call("revokeToken", 400, { form: client });
  await call("revokeToken", 200, { form: { ...client, token: "nonsense", token_type_hint: "" } });
  await call("revokeToken", 200, { json: { ...client, token: second.access_token } });
  await call("listUsers", 401, { bearer: second.access_token });
  return (await ask(200, { grant_type: "authorization_code", code: await code(client.client_id) })).access_token;
}

/** Calls with a token that lacks the scope of the call. */
async function lackScopes({ operations, call, addClient, code }: DocumentedWorld): Promise<void> {
  const client = await addClient("user");
  const tokenFor = async (scope: string) => {
    const granted = await code(client.client_id, scope);
    return call("issueToken", 200, { form: { ...client, grant_type: "authorization_code", code: granted } });
  };
  const { access_token: forLinks, refresh_token } = await tokenFor("links");
  const { access_token: forAlerts } = await tokenFor("alerts");
  for (const { operationId, security } of operations) {
    const bearer = operationId.endsWith("LinkSession") ? forAlerts : forLinks;
    if (security.some((one) => "accessToken" in one)) await call(operationId, 403, { at: "1", bearer });
  }
  const wider = { ...client, grant_type: "refresh_token", refresh_token, scope: "alerts" };
  await call("issueToken", 400, { form: wider });
}

/** A directive with a token of nobody is answered with an event, too. */
async function useAlexa({ call }: DocumentedWorld): Promise<void> {
  await call("answerDirective", 400, { json: {} });
  const header = { namespace: "Alexa.Discovery", name: "Discover", payloadVersion: "3", messageId: "1" };
  const payload = { scope: { type: "BearerToken", token: "none" } };
  await call("answerDirective", 200, { json: { directive: { header, payload } } });
}

/** The client of an outlet, which Google uses. */
async function useGoogleHome({ call, addClient, code, parts, baseUrl }: DocumentedWorld): Promise<void> {
  const client = await addClient("user");
  const granted = await code(client.client_id);
  const form = { ...client, grant_type: "authorization_code", code: granted };
  const { access_token: bearer } = await call("issueToken", 200, { form });
  const added = await parts.administration.run("outlet add", {
    tenant: "Story",
    kind: "google-home",
    settings: {
      "project-id": "hearth-hollow",
      "service-account": JSON.stringify({ client_email: "a@b.example", private_key: "-----BEGIN PRIVATE KEY-----" }),
      "home-graph-url": baseUrl,
    },
  });
  const { outlet } = added as { outlet: string };
  await parts.store.transaction(async (tx) => {
    const row = (await tx.assistantOutlets.byId(outlet))!;
    await tx.assistantOutlets.remove(row);
    await tx.assistantOutlets.add({ ...row, clientId: client.client_id });
  });
  await call("fulfilGoogleHome", 400, { bearer, json: {} });
  const json = { requestId: "1", inputs: [{ intent: "action.devices.DISCONNECT" }] };
  await call("fulfilGoogleHome", 200, { bearer, json });
}

/** Returns the virtual device's id. */
async function link(
  { call, platform: { secToken }, accountToken, proxy }: DocumentedWorld,
  accessToken: string,
): Promise<string> {
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
  proxy.mood = "closed";
  await call("linkAccount", 503, { form: account });
  proxy.mood = "open";
  const { DeviceId: deviceId } = await call("linkAccount", 200, { json: named, bearer: secToken });
  await call("linkAccount", 409, { query: account });
  await call("replaceAccountToken", 200, { form: account });
  await call("replaceAccountToken", 422, { form: { ...account, anAccessToken: "c.nonsense" } });
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

async function useUsersAndDevices(
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
function names(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`name ${i}`, ""]));
}

const startFan = { trait: "fanTimer", command: "start", params: { minutes: 15 } };

interface Devices {
  readonly deviceId: string;
  readonly lampId: string;
}

/** Returns a lamp with the maximal number of alerts. */
async function useAlerts(world: DocumentedWorld, bearer: string, { deviceId, lampId }: Devices): Promise<string> {
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

async function useEvents({ call }: DocumentedWorld, bearer: string, { deviceId, lampId }: Devices): Promise<void> {
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

async function useWebhooks(
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

/** Each write that takes an Idempotency-Key: with a used key, one in use, and one too many. */
async function useProvisioning(world: DocumentedWorld, userToken: string, linkedId: string): Promise<void> {
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
async function useKeysOfMany({ call, parts }: DocumentedWorld, bearer: string, tenantId: number): Promise<void> {
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

async function useKeys(world: DocumentedWorld, bearer: string, lampId: string): Promise<void> {
  const { call, operations, parts, userId } = world;
  const writes = operations.filter(({ parameters }) => parameters?.some(({ name }) => name === "Idempotency-Key"));
  assert.equal(writes.length, 14);
  await call("updateDevice", 200, { bearer, at: lampId, json: { power: "on" }, key: "used" });
  const idempotent = { ownerId: userId, clientId: await parts.oauth.clientOf(bearer), content: "", isSecret: false };
  const held = Promise.withResolvers<void>();
  const underWay = parts.idempotency.run({ ...idempotent, key: "in use" }, () => held.promise);
  // A tenant of its own: the keys of a tenant that has used one were counted a moment ago.
  const { tenantId } = await parts.identity.addTenant({ name: "Full" });
  const wanted = {
    tenant: "Full",
    name: "Company",
    kind: "enterprise",
    redirectUris: [],
    requiresPkce: false,
  } as const;
  const { client, secret } = await parts.oauth.addClient(wanted);
  const credentials = { client_id: client.id, client_secret: secret, grant_type: "client_credentials" };
  const issued = await call("issueToken", 200, { json: credentials });
  const full = { isSealed: false, text: "x".repeat(limits.idempotencyBytesPerOwner) } as const;
  const key = { ownerId: -tenantId as OwnerId, hash: "full" };
  await parts.store.transaction((tx) => tx.idempotencyKeys.add(key, full, 60_000));
  // These check first whether the token is an enterprise client's.
  const ofMany = ["addDevices", "writeStates"];
  for (const { operationId } of writes.filter((one) => !ofMany.includes(one.operationId))) {
    await call(operationId, 422, { bearer, at: "999/1", key: "used", json: {} });
    await call(operationId, 409, { bearer, at: "999/1", key: "in use", json: {} });
    await call(operationId, 409, { bearer: issued.access_token, at: "999/1", key: "one too many", json: {} });
  }
  held.resolve();
  await underWay;
  await useKeysOfMany(world, issued.access_token, tenantId);
}

async function useTriggers(
  world: DocumentedWorld,
  { deviceId, lampId, crowdedId }: Devices & { readonly crowdedId: string },
): Promise<void> {
  const { call, platform, parts, userId } = world;
  const { secToken } = platform;
  const fullId = String(await world.addLamp("Porch lamp"));
  const all = Object.entries(names(limits.attributesPerDevice)).map(([name, value]) => ({ name, value }));
  await parts.devices.write({ kind: "user", userId }, Number(fullId) as DeviceId, all);
  const away = "d.structures[1].a.away";
  for (const [suffix, place] of [["", "query"] as const, ["ByPost", "form"] as const]) {
    const ask = (operation: string, status: number, parameters: Readonly<Record<string, string>>) =>
      call(`${operation}${suffix}`, status, { [place]: { secToken, ...parameters } });
    const idempotent = { devId: lampId, name: "power" };
    await ask("getDeviceAttribute", 200, idempotent);
    await ask("setDeviceAttribute", 200, { ...idempotent, value: "on" });
    for (const operation of ["getDeviceAttribute", "setDeviceAttribute"]) {
      await ask(operation, 500, { devId: lampId });
      await ask(operation, 500, { ...idempotent, devId: "999", value: "on" });
      await ask(operation, 500, { devId: deviceId, name: "d.structures[1].a.roof", value: "on" });
    }
    const setMulti = (status: number, devId: string, name1: string, value1: string) =>
      ask("setMultiDeviceAttributes2", status, { devId, name1, value1 });
    await setMulti(200, lampId, "power", "on");
    await setMulti(500, lampId, "", "on");
    await setMulti(500, "999", "power", "on");
    await setMulti(500, deviceId, "d.structures[1].a.roof", "on");
    for (const [devId, name, value] of [
      [deviceId, away, "home"],
      [lampId, "power", "x".repeat(9_000)],
      [fullId, "one more", "on"],
    ] as const) {
      await ask("setDeviceAttribute", 500, { devId, name, value });
      await setMulti(500, devId, name, value);
    }

    const condition = { attrName: "power", operation: "equals", stringThreshold: "on" };
    const writing = (target: string) => ({
      devId: lampId,
      ...condition,
      action: "attribute",
      targetDeviceAttributes: target,
    });
    const added: string = await ask("addTrigger", 200, writing(`${lampId},scene:"evening"`));
    const [, triggerId = ""] = /<triggerId>(\d+)</.exec(added) ?? [];
    await ask("addTrigger", 500, { ...writing(`${lampId},scene:"evening"`), operation: "nearly" });
    await ask("addTrigger", 500, writing('999,scene:"evening"'));
    await ask("addTrigger", 500, writing(`${deviceId},d.structures[1].a.roof:"on"`));
    await ask("addTrigger", 500, writing(`${deviceId},${away}:"home"`));
    await ask("addTrigger", 500, writing(`${lampId},scene:"${"x".repeat(8_300)}"`));
    await ask("addTrigger", 500, { devId: crowdedId, ...condition, action: "email" });
    const many = Array.from({ length: 100 }, (_, i) => `${lampId},a${i}:"1"`).join(";");
    const texts = { stringThreshold: "x".repeat(8_000), msg: "x".repeat(2_000), address: "x".repeat(2_000) };
    await ask("addTrigger", 500, { ...writing(many), ...texts });
    await ask("getTriggerDetailListByUser", 200, {});
    for (const operation of ["getTriggerDetailListByDevice", "updateTriggersEnableStateByDevice"]) {
      await ask(operation, 200, { devId: lampId, enable: "0" });
      await ask(operation, 500, {});
      await ask(operation, 500, { devId: "999", enable: "0" });
    }
    for (const operation of ["getTrigger", "updateTriggerEnableState", "removeTrigger"]) {
      await ask(operation, 200, { triggerId, enable: "true" });
      await ask(operation, 500, {});
      await ask(operation, 500, { triggerId: "999999", enable: "true" });
    }
  }
}

async function usePlatform(world: DocumentedWorld, deviceId: string): Promise<void> {
  const { baseUrl, call, check, parts, platform } = world;
  const { secToken } = platform;
  const { tenantId } = await parts.identity.findTenant("Story");
  const login = { ...person, appId: String(tenantId) };
  const at = String(tenantId);
  const session = { username: person.name, password: person.password };
  await call("openSession", 200, { at, json: session });
  await call("openSession", 400, { at, json: {} });
  await call("openSession", 403, { at, json: { ...session, password: "wrong" } });
  const tryNobody = async () => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ ...session, username: "nobody by JSON" });
    const answer = await fetch(`${baseUrl}/acc/applications/${at}/sessions`, { method: "POST", headers, body });
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  };
  let refused = await tryNobody();
  while (refused.status === 403) refused = await tryNobody();
  check("openSession", 429, refused);
  for (const [suffix, place] of [["", "query"] as const, ["ByPost", "form"] as const]) {
    const ask = (operation: string, status: number, parameters: Readonly<Record<string, string>>) =>
      call(`${operation}${suffix}`, status, { [place]: parameters });
    const signedIn: string = await ask("userLogin", 200, login);
    await ask("userLogin", 500, { ...login, appId: "" });
    const stranger = { ...login, name: `stranger${suffix}` };
    while (!/<errorCode>107</.test(await ask("userLogin", 500, stranger)));
    await ask("getUserValueList", 200, { secToken });
    await ask("getDeviceList", 200, { secToken });
    await ask("getDeviceAttributesWithValues", 200, { secToken, devId: deviceId });
    await ask("getDeviceAttributesWithValues", 500, { secToken });
    await ask("getDeviceAttributesWithValues", 500, { secToken, devId: "999" });
    const [, fresh = ""] = /<securityToken>(.*)<\/securityToken>/.exec(signedIn) ?? [];
    await ask("userLogout", 200, { secToken: fresh });
  }
}

async function unlink({ call, platform: { secToken } }: DocumentedWorld): Promise<void> {
  await call("unlinkAccount", 200, { query: { secToken, anEcosystemName: "nest" } });
}
