import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it, type TestContext } from "node:test";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { admin, oauthWorld } from "../oauth/oauth-world.ts";
import { type Deployment, databases, longSuiteOn } from "../stories/world.ts";
import { secTokenOf } from "./home.ts";
import { differences, rowsOf } from "./lasting-rows.ts";
import { addOutlet, linkedBy, type MadeOutlet, type OutletKind } from "./outlets.ts";

// biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests look at
type Json = any;

const ada = { name: "ada", password: "correct horse" };
const bob = { name: "bob", password: "another word" };
const planted = "Lantern-of-Ada";

/** A caller of both outlets' addresses, with one token. */
interface OutletCaller {
  readonly name: string;
  readonly token: string;
  /** The kind of outlet at which the token opens the home of its user. */
  readonly opens: OutletKind | "nothing";
  readonly isOwner?: true;
}

/** Two tenants with outlets to both assistants; ada, bob and a stranger with a lamp each. */
async function outletWorld(t: TestContext, database: Deployment) {
  const world = await oauthWorld(t, { database });
  const { administration, assistants, commit } = world.service.parts;
  for (const tenant of ["Acme", "Other"]) {
    await administration.run("device-type set", { tenant, type: "Lamp", template: "lamp" });
  }
  const lampOf = async (userId: UserId, name: string): Promise<DeviceId> => {
    const deviceId = await world.addDevice(userId, name, "Lamp");
    const changes = [{ key: "power", value: "on" }];
    await commit({ userId, cause: { by: "client", user: userId }, updates: [{ deviceId, changes }] });
    return deviceId;
  };
  const lampDevice = await lampOf(world.userId, planted);
  await lampOf(world.bobId, "Lamp of bob");
  await lampOf(world.strangerId, "Lamp of a stranger");
  const thingOf = async (userId: UserId, deviceId: DeviceId): Promise<string> =>
    (await assistants.homes.all(userId)).find((one) => one.deviceId === deviceId)!.thingId;
  const lamp = await thingOf(world.userId, lampDevice);
  const broken = await lampOf(world.userId, "Broken lamp");
  const absent = await thingOf(world.userId, broken);
  await administration.run("device remove", { user: String(world.userId), device: String(broken) });
  const outlets = {
    alexa: await addOutlet(world, "alexa"),
    google: await addOutlet(world, "google-home"),
    otherAlexa: await addOutlet(world, "alexa", "Other"),
    otherGoogle: await addOutlet(world, "google-home", "Other"),
  };
  return { world, lamp, lampDevice, absent, outlets };
}

type Made = Awaited<ReturnType<typeof outletWorld>>;

async function callersOf({ world, outlets }: Made): Promise<readonly OutletCaller[]> {
  const { alexa, google, otherAlexa, otherGoogle } = outlets;
  const token = async (outlet: MadeOutlet, person: typeof ada, scope?: string) =>
    (await linkedBy(world, outlet, person, scope)).access_token;
  // Time passes, so it is made first.
  const expired = await token(google, ada);
  const expiredAtAlexa = await token(alexa, ada);
  await world.timePasses(3_601_000);
  const removedOutlet = await addOutlet(world, "alexa");
  const ofRemoved = await token(removedOutlet, ada);
  await world.service.parts.administration.run("outlet remove", { outlet: removedOutlet.outlet });
  const enterprise = await world.addClient({ kind: "enterprise" });
  const owners = await linkedBy(world, google, ada);
  const closed = (name: string, key: string): OutletCaller => ({ name, token: key, opens: "nothing" });
  return [
    closed("nobody", ""),
    closed("nobody with a malformed token", "x"),
    closed("the owner with an expired token of Google", expired),
    closed("the owner with an expired token of Alexa", expiredAtAlexa),
    closed("the owner with a token of an outlet that was removed", ofRemoved),
    closed("the owner with a token of an ordinary client", (await world.tokens()).access_token),
    closed("the owner with a refresh token", owners.refresh_token),
    closed("the owner with a secToken", await secTokenOf(world, ada, world.tenantId)),
    closed("the secret of the outlet's client", google.secret),
    closed("an enterprise client of the same tenant", (await world.tokens(enterprise, admin)).access_token),
    { name: "another user of the same tenant at Google", token: await token(google, bob), opens: "google-home" },
    { name: "another user of the same tenant at Alexa", token: await token(alexa, bob), opens: "alexa" },
    { name: "a user of another tenant at Google", token: await token(otherGoogle, ada), opens: "google-home" },
    { name: "a user of another tenant at Alexa", token: await token(otherAlexa, ada), opens: "alexa" },
    { name: "the owner at Google", token: owners.access_token, opens: "google-home", isOwner: true },
    { name: "the owner at Alexa", token: await token(alexa, ada), opens: "alexa", isOwner: true },
  ];
}

function assertForeignIsAbsent(foreign: Json, absent: Json, label: string, ids: readonly [string, string]): void {
  const text = (answer: Json, id: string) => JSON.stringify(answer).replaceAll(id, "…");
  assert.equal(text(foreign, ids[0]), text(absent, ids[1]), label);
}

const anyRequest = /"(requestId|messageId|request_id)":"[^"]+"/g;
const comparable = (body: Json): Json => JSON.parse(JSON.stringify(body).replace(anyRequest, '"$1":"…"'));

/** What Google sends to the fulfilment, and what comes back. */
function googleAt({ world }: Made) {
  return async (token: string, intent: string, payload?: object): Promise<{ status: number; body: Json }> => {
    const answer = await fetch(`${world.baseUrl}/google-home/fulfilment`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ requestId: randomUUID(), inputs: [{ intent: `action.devices.${intent}`, payload }] }),
    });
    return { status: answer.status, body: comparable(await answer.json()) };
  };
}

function executing(id: string) {
  const execution = [{ command: "action.devices.commands.OnOff", params: { on: false } }];
  return { commands: [{ devices: [{ id }], execution }] };
}

/** What Alexa sends through its Lambda function, and the event that comes back. */
function alexaAt({ world }: Made) {
  return async (token: string, named: string, endpointId?: string): Promise<Json> => {
    const [namespace, name] = named.split(" ");
    const scope = { type: "BearerToken", token };
    const header = { namespace, name, payloadVersion: "3", messageId: "1", correlationToken: "c" };
    const grant = { type: "OAuth2.AuthorizationCode", code: "none" };
    const answer = await fetch(`${world.baseUrl}/alexa/v3/directives?region=us-east-1`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        directive: endpointId
          ? { header, endpoint: { endpointId, scope, cookie: {} }, payload: {} }
          : { header, payload: { scope, grantee: scope, grant } },
      }),
    });
    assert.equal(answer.status, 200);
    return comparable(await answer.json());
  };
}

const typeOf = ({ event: { header, payload } }: Json): string => [header.name, payload.type].filter(Boolean).join(" ");

for (const database of longSuiteOn("sqlite")) {
  describe(`the addresses of the assistants, on ${database}`, () => {
    it("show and change a home only for a token of its user at this kind of outlet", {
      timeout: 240_000,
    }, async (t) => {
      const made = await outletWorld(t, database);
      const { world, lamp, absent } = made;
      const callers = await callersOf(made);
      const [google, alexa] = [googleAt(made), alexaAt(made)];
      const rows = () => rowsOf(world, world.userId);
      const before = await rows();
      for (const { name, token, opens } of callers.filter((one) => !one.isOwner)) {
        const shown: Json[] = [];
        for (const [intent, payload] of [
          ["SYNC", () => undefined],
          ["QUERY", (id: string) => ({ devices: [{ id }] })],
          ["EXECUTE", executing],
        ] as const) {
          const [foreign, none] = [
            await google(token, intent, payload(lamp)),
            await google(token, intent, payload(absent)),
          ];
          assert.equal(foreign.status, opens === "google-home" ? 200 : 401, `${name}: ${intent}`);
          assertForeignIsAbsent(foreign, none, `${name}: ${intent}`, [lamp, absent]);
          shown.push(foreign.body);
        }
        if (opens === "nothing") assert.equal((await google(token, "DISCONNECT")).status, 401, name);
        for (const directive of ["Alexa ReportState", "Alexa.PowerController TurnOff"]) {
          const [foreign, none] = [await alexa(token, directive, lamp), await alexa(token, directive, absent)];
          assertForeignIsAbsent(foreign, none, `${name}: ${directive}`, [lamp, absent]);
          const isExpired = name.includes("expired");
          const refused = `ErrorResponse ${isExpired ? "EXPIRED" : "INVALID"}_AUTHORIZATION_CREDENTIAL`;
          assert.equal(typeOf(foreign), opens === "alexa" ? "ErrorResponse NO_SUCH_ENDPOINT" : refused, name);
          shown.push(foreign);
        }
        shown.push(await alexa(token, "Alexa.Discovery Discover"));
        if (opens !== "alexa") {
          assert.equal(
            typeOf(await alexa(token, "Alexa.Authorization AcceptGrant")),
            "ErrorResponse ACCEPT_GRANT_FAILED",
          );
        }
        assert.ok(!JSON.stringify(shown).includes(planted), name);
      }
      assert.deepEqual(differences(before, await rows()), [], "nothing of the owner has changed");

      const owner = (kind: OutletKind) => callers.find((one) => one.isOwner && one.opens === kind)!.token;
      const { body: synced } = await google(owner("google-home"), "SYNC");
      assert.deepEqual(
        synced.payload.devices.map((one: Json) => [one.id, one.name.name]),
        [[lamp, planted]],
      );
      const { event } = await alexa(owner("alexa"), "Alexa.Discovery Discover");
      assert.deepEqual(
        event.payload.endpoints.map((one: Json) => [one.endpointId, one.friendlyName]),
        [[lamp, planted]],
      );
      assert.equal((await google(owner("alexa"), "SYNC")).status, 401, "a token of one outlet does not open the other");
      assert.match(typeOf(await alexa(owner("google-home"), "Alexa.Discovery Discover")), /INVALID_AUTHORIZATION/);
    });
  });
}

for (const database of databases) {
  describe(`the addresses of the assistants, on ${database}`, () => {
    it("give a narrow token what its scopes allow, and nothing after it was revoked", async (t) => {
      const made = await outletWorld(t, database);
      const { world, lamp, lampDevice, outlets } = made;
      const [google, alexa] = [googleAt(made), alexaAt(made)];
      const at = (outlet: MadeOutlet, scope: string) => linkedBy(world, outlet, ada, scope);
      const reads = await at(outlets.google, "devices:read");
      assert.equal((await google(reads.access_token, "QUERY", { devices: [{ id: lamp }] })).status, 200);
      const { body } = await google(reads.access_token, "EXECUTE", executing(lamp));
      assert.deepEqual(body.payload.commands, [{ ids: [lamp], status: "ERROR", errorCode: "relinkRequired" }]);
      const commands = await at(outlets.alexa, "devices:read");
      const refused = "ErrorResponse INSUFFICIENT_PERMISSIONS";
      assert.equal(typeOf(await alexa(commands.access_token, "Alexa ReportState", lamp)), "StateReport");
      assert.equal(typeOf(await alexa(commands.access_token, "Alexa.PowerController TurnOff", lamp)), refused);
      for (const scope of ["devices:control", "alerts"]) {
        const narrow = await at(outlets.google, scope);
        for (const intent of ["SYNC", "DISCONNECT"]) {
          const answer = await google(narrow.access_token, intent);
          assert.deepEqual([answer.status, answer.body.error], [403, "insufficient_scope"]);
        }
        const { access_token } = await at(outlets.alexa, scope);
        for (const endpointId of [undefined, lamp]) {
          const directive = endpointId ? "Alexa ReportState" : "Alexa.Discovery Discover";
          assert.equal(typeOf(await alexa(access_token, directive, endpointId)), refused);
        }
      }
      const receipts = await world.service.parts.store.read((tx) =>
        tx.thingCommands.ofThing(world.userId, lampDevice, lamp, 1),
      );
      assert.deepEqual(receipts, [], "no command was stored");

      const [whole, spoken] = [await linkedBy(world, outlets.google, ada), await linkedBy(world, outlets.alexa, ada)];
      await world.revoke(whole.refresh_token, outlets.google);
      await world.revoke(spoken.refresh_token, outlets.alexa);
      assert.equal((await google(whole.access_token, "SYNC")).status, 401);
      const ended = await alexa(spoken.access_token, "Alexa.Discovery Discover");
      assert.equal(typeOf(ended), "ErrorResponse INVALID_AUTHORIZATION_CREDENTIAL");
    });
  });
}
