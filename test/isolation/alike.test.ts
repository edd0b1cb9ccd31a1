import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newSecret } from "../../src/identity/secrets.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { admin } from "../oauth/oauth-world.ts";
import { surfaceDatabases } from "../set-up/deployment.ts";
import { alertOn } from "./calls.ts";
import { type Home, owner, ownersHome, secTokenOf } from "./home.ts";
import { assertAlike } from "./outcomes.ts";
import { send, type WireAnswer, type WireRequest } from "./wire.ts";

const bob = { name: "bob", password: "another word" };
const deadline = { timeout: 600_000 };

/** Malformed ids; some are close to a valid one. */
const malformed = [
  ...["0", "-1", "+1", "01", "1.0", "1e3", "1_000", "0x1", "2147483648", "4294967297", "9007199254740993"],
  ...["18446744073709551616", "9".repeat(400), "NaN", "null", "undefined", "true", "x", "%20", "1%20", "%201", "1%00"],
  ...[
    "%00",
    "1%0a",
    "1,2",
    "1;2",
    "*",
    "%25",
    "..%2f1",
    "%2e%2e",
    "__proto__",
    "constructor",
    "%EF%BC%91",
    "'--",
    "%F0%9F%92%A1",
  ],
];
const json = ["Content-Type", "application/json"] as const;
const form = ["Content-Type", "application/x-www-form-urlencoded"] as const;

for (const database of surfaceDatabases) {
  describe(`an id that is foreign, absent or malformed, on ${database}`, () => {
    it("is always the same 404, on /v3 and for logos", deadline, async (t) => {
      const home = await ownersHome(t, database);
      const { world } = home;
      const { lampId, linkedId, userId } = home.things();
      const elsewhere = String(await world.addDevice(world.strangerId, "Lamp of a stranger"));
      const [bobs, enterprise] = [await bobsToken(home), await tokenOfTenant(home, "Other")];
      const bodies = [
        '{"colour":"blue"}',
        '{"colour":null}',
        // On the caller's own virtual device these are refused for other reasons.
        '{"o.totalStructures":1}',
        '{"d.structures[1].a.away":"away","nothing":"of that name"}',
        `{"${"x".repeat(200)}":"${"y".repeat(9_000)}"}`,
        '{"a":"\\u0000"}',
      ];
      const logo = (id: string) => send(world.baseUrl, { method: "GET", target: `/oauth2/logo/${id}` });
      await alike([String(world.otherTenantId)], logo, 404);
      for (const token of [bobs, enterprise]) {
        const get = (path: string) => send(world.baseUrl, { method: "GET", target: path, headers: [bearer(token)] });
        const foreignUser = token === bobs ? [userId, String(world.strangerId)] : [userId, String(world.bobId)];
        await alike(foreignUser, (id) => get(`/v3/users/${id}`), 404);
        const foreign = token === bobs ? [lampId, linkedId, elsewhere] : [lampId, linkedId];
        for (const query of ["", "?since=0", "?attribute=glow-of-Ottoline", "?attribute=o.totalStructures&since=1"]) {
          await alike(foreign, (id) => get(`/v3/devices/${id}${query}`), 404);
        }
        for (const path of ["history", "history?from=0&attribute=glow-of-Ottoline", "commands"]) {
          await alike(foreign, (id) => get(`/v3/devices/${id}/${path}`), 404);
        }
        for (const path of ["events", "alerts"]) {
          await alike(foreign, (id) => get(`/v3/${path}?deviceId=${id}`), 404);
        }
        for (const body of bodies) {
          const headers = [bearer(token), json];
          const put = (id: string) =>
            send(world.baseUrl, { method: "PUT", target: `/v3/devices/${id}`, headers, body });
          await alike(foreign, put, 404);
        }
      }
    });

    it("of an alert or a webhook is a 404 too, with any body", deadline, async (t) => {
      const home = await ownersHome(t, database);
      const { world } = home;
      const { lampId, alertId, webhookId, deliveryId } = home.things();
      const neighbour = await world.addClient({ name: "Neighbour" });
      // A webhook belongs to its client: the owner's other clients don't see it.
      const owners = (await world.tokens(neighbour, owner)).access_token;
      const [bobs, other] = [await bobsToken(home), await tokenOfTenant(home, "Other")];
      for (const token of [bobs, other, owners]) {
        const ask = (method: string, target: string, body?: unknown) => {
          const headers = body === undefined ? [bearer(token)] : [bearer(token), json];
          const sent = body === undefined ? undefined : JSON.stringify(body);
          return send(world.baseUrl, { method, target, headers, body: sent });
        };
        const alerts = token === owners ? [] : [alertId];
        const bodies = [alertOn(lampId), { deviceId: 1 }, {}, []];
        await alike(alerts, (id) => ask("GET", `/v3/alerts/${id}`), 404);
        await alike(alerts, (id) => ask("GET", `/v3/alerts/${id}/explain`), 404);
        await alike(alerts, (id) => ask("DELETE", `/v3/alerts/${id}`), 404);
        for (const body of bodies) await alike(alerts, (id) => ask("PUT", `/v3/alerts/${id}`, body), 404);
        const webhooks = [webhookId, webhookId.slice(0, -1), webhookId.toUpperCase()];
        await alike(webhooks, (id) => ask("DELETE", `/v3/webhooks/${id}`), 404);
        await alike(webhooks, (id) => ask("GET", `/v3/webhooks/${id}/deliveries`), 404);
        const resend = (webhook: string, id: string) => ask("POST", `/v3/webhooks/${webhook}/deliveries/${id}/resend`);
        const answer = await alike(webhooks, (id) => resend(id, deliveryId), 404);
        assertAlike(await alike([deliveryId], (id) => resend(webhookId, id), 404), answer, "by delivery");
      }
    });

    it(
      "of a thing or of a command is a 404 too, with any body, and a receipt is found only at its thing",
      deadline,
      async (t) => {
        const home = await ownersHome(t, database);
        const { world } = home;
        const { thingId, commandId } = home.things();
        const things = [thingId, thingId.slice(0, -1), thingId.toUpperCase(), "t_", `${thingId}%00`];
        const bodies = [
          { trait: "fanTimer", command: "start", params: { minutes: 5 } },
          { trait: "fanTimer", command: "stop" },
        ];
        for (const token of [await bobsToken(home), await tokenOfTenant(home, "Other")]) {
          const ask = (method: string, target: string, body?: unknown) => {
            const headers = body === undefined ? [bearer(token)] : [bearer(token), json];
            const sent = body === undefined ? undefined : JSON.stringify(body);
            return send(world.baseUrl, { method, target, headers, body: sent });
          };
          for (const path of ["", "?since=0", "/history", "/commands", "/commands/c1", `/commands/${commandId}`]) {
            await alike(things, (id) => ask("GET", `/v3/things/${id}${path}`), 404);
          }
          for (const body of bodies) await alike(things, (id) => ask("POST", `/v3/things/${id}/commands`, body), 404);
          // Of a foreign thing no receipt exists, whatever its id.
          await alike([commandId], (id) => ask("GET", `/v3/things/${thingId}/commands/${id}`), 404);
        }
        const own = (target: string) =>
          send(world.baseUrl, { method: "GET", target, headers: [bearer(home.tokens().access_token)] });
        const [, ...others] = JSON.parse((await own("/v3/things")).text).things as readonly { thingId: string }[];
        assert.equal((await own(`/v3/things/${thingId}/commands/${commandId}`)).status, 200);
        for (const other of others.filter((one) => one.thingId !== thingId)) {
          const at = (id: string) => own(`/v3/things/${other.thingId}/commands/${id}`);
          await alike([commandId, `f${commandId.slice(1)}`, commandId.toUpperCase()], at, 404);
        }
      },
    );

    it("of a thing that an alert should command is a 404 too, and no alert is made", deadline, async (t) => {
      const home = await ownersHome(t, database);
      const { world } = home;
      const { thingId, lampId } = home.things();
      await home.setMap("Lamp");
      const ownThing = world.service.parts.ownThings.ids.thingIdOf(Number(lampId) as DeviceId);
      const code = await world.code({ scope: "alerts devices:read devices:control" }, bob);
      const token = (await world.exchange(code)).body.access_token;
      const bobsLamp = String(await world.addDevice(world.bobId, "Lamp of bob", "Lamp"));
      const ask = (method: string, target: string, body?: unknown) => {
        const headers = body === undefined ? [bearer(token)] : [bearer(token), json];
        const sent = body === undefined ? undefined : JSON.stringify(body);
        return send(world.baseUrl, { method, target, headers, body: sent });
      };
      const rule = alertOn(bobsLamp);
      const commanding = (id: string) => {
        return { ...rule, commands: [{ thingId: id, trait: "onOff", command: "set", params: { on: true } }] };
      };
      const { alertId } = JSON.parse((await ask("POST", "/v3/alerts", rule)).text);
      const foreign = [thingId, ownThing, thingId.slice(0, -1), `t_${newSecret("").slice(0, 22)}`];
      const made = await alike(foreign, (id) => ask("POST", "/v3/alerts", commanding(id)), 404);
      for (const answer of [
        await alike(foreign, (id) => ask("PUT", `/v3/alerts/${alertId}`, commanding(id)), 404),
        await alike(foreign, (id) => ask("POST", "/v3/alerts/dry-run", { ...commanding(id), from: 0 }), 404),
      ]) {
        assertAlike(answer, made, "another call");
      }
      const listed = JSON.parse((await ask("GET", "/v3/alerts")).text).alerts;
      assert.deepEqual(
        listed.map((alert: object) => [(alert as { alertId: number }).alertId, "commands" in alert]),
        [[alertId, false]],
      );
      // A kind and a room reach only the caller's own things.
      const everyLight = { kind: "light", trait: "onOff", command: "set", params: { on: true } };
      const dryRun = await ask("POST", "/v3/alerts/dry-run", { ...rule, commands: [everyLight], from: 0 });
      assert.ok(dryRun.text.includes(world.service.parts.ownThings.ids.thingIdOf(Number(bobsLamp) as DeviceId)));
      assert.ok(!dryRun.text.includes(ownThing));
    });

    it("in a malformed request gets the same refusal", deadline, async (t) => {
      const home = await ownersHome(t, database);
      const { world } = home;
      const { lampId, linkedId } = home.things();
      const token = await bobsToken(home);
      const requests: readonly (readonly [status: number, request: (id: string) => WireRequest])[] = [
        [400, (id) => ({ method: "GET", target: `/v3/devices/${id}?since=never` })],
        [400, (id) => ({ method: "GET", target: `/v3/devices/${id}?access_token=x` })],
        [400, (id) => ({ method: "PUT", target: `/v3/devices/${id}`, headers: [json], body: "{}" })],
        [400, (id) => ({ method: "PUT", target: `/v3/devices/${id}`, headers: [json], body: "{" })],
        [400, (id) => ({ method: "PUT", target: `/v3/devices/${id}`, headers: [json], body: '{"a":[]}' })],
        [415, (id) => ({ method: "PUT", target: `/v3/devices/${id}`, headers: [form], body: "a=b" })],
        [
          413,
          (id) => ({ method: "PUT", target: `/v3/devices/${id}`, headers: [json], body: `"${"x".repeat(70_000)}"` }),
        ],
        [403, (id) => ({ method: "DELETE", target: `/v3/devices/${id}` })],
        [405, (id) => ({ method: "POST", target: `/v3/devices/${id}` })],
      ];
      for (const [status, request] of requests) {
        const ask = (id: string) => {
          const made = request(id);
          return send(world.baseUrl, { ...made, headers: [...(made.headers ?? []), bearer(token)] });
        };
        await alike([lampId, linkedId], ask, status);
      }
    });

    it("is always the same error 109 of the adaptor and of the platform calls", deadline, async (t) => {
      const home = await ownersHome(t, database);
      const { world } = home;
      const { lampId, linkedId, alertId } = home.things();
      const ownLamp = String(await world.addDevice(world.bobId, "Lamp of bob"));
      const secToken = await secTokenOf(world, bob, world.tenantId);
      const ask = (target: string) => send(world.baseUrl, { method: "GET", target });
      const largeStrings = (id: string) => ask(`/adaptor/largestrings?secToken=${secToken}&id=${id}`);
      const answer = await alike([lampId, linkedId], largeStrings, 404);
      assert.equal(JSON.parse(answer.text).errorCode, 109);
      // An ordinary device has no large strings, and only its owner learns that it exists.
      const ofOwnLamp = await largeStrings(ownLamp);
      assert.deepEqual([ofOwnLamp.status, JSON.parse(ofOwnLamp.text).errorCode], [404, 109]);
      assert.match(ofOwnLamp.text, /no virtual device/);
      const post = (id: string) => {
        const target = "/adaptor/largestrings";
        return send(world.baseUrl, { method: "POST", target, headers: [form], body: `secToken=${secToken}&id=${id}` });
      };
      assertAlike(await alike([lampId, linkedId], post, 404), answer, "by POST");

      const platform = "/zdk/services/zamapi";
      for (const more of ["", "&deviceTypeId=1", "&deviceTypeId=2"]) {
        const operation = `${platform}/getDeviceAttributesWithValues?secToken=${secToken}`;
        // Characters that XML forbids have their own error: a parameter with them is refused whatever it names.
        const fault = await alike([lampId, linkedId], (id) => ask(`${operation}&devId=${id}${more}`), 500, isXml);
        assert.match(fault.text, /<errorCode>109</);
      }
      const byBearer = (id: string) => {
        const headers = [bearer(token)];
        return send(world.baseUrl, { method: "GET", target: `/adaptor/largestrings?id=${id}`, headers });
      };
      const token = await bobsToken(home);
      assertAlike(await alike([lampId, linkedId], byBearer, 404), answer, "by an access token");
      const more =
        "&name=glow-of-Ottoline&name1=a&value1=b&value=x&enable=1&attrName=a&operation=equals&stringThreshold=x&action=email";
      for (const operation of [
        ...["getDeviceAttribute", "setDeviceAttribute", "setMultiDeviceAttributes2", "addTrigger"],
        ...["getTriggerDetailListByDevice", "updateTriggersEnableStateByDevice"],
      ]) {
        const target = `${platform}/${operation}?secToken=${secToken}${more}`;
        const fault = await alike([lampId, linkedId], (id) => ask(`${target}&devId=${id}`), 500, isXml);
        assert.match(fault.text, /<errorCode>109</, operation);
      }
      for (const operation of ["getTrigger", "updateTriggerEnableState", "removeTrigger"]) {
        const target = `${platform}/${operation}?secToken=${secToken}${more}`;
        const fault = await alike([alertId], (id) => ask(`${target}&triggerId=${id}`), 500, isXml);
        assert.match(fault.text, /<errorCode>113</, operation);
      }
      const aims = await alike(
        [lampId, linkedId],
        (id) =>
          ask(`${platform}/addTrigger?secToken=${secToken}&devId=${ownLamp}${more}&targetDeviceAttributes=${id},a:"b"`),
        500,
        (id) => /^[1-9][0-9]{0,9}$/.test(id) && Number(id) < 2 ** 31,
      );
      assert.match(aims.text, /<errorCode>109</);
      const list = (id: string) => ask(`${platform}/getDeviceList?secToken=${secToken}&userId=${id}`);
      const users = [home.userId, world.strangerId, world.adminId].map(String);
      assert.match((await alike(users, list, 500, isXml)).text, /<errorCode>106</);
    });
  });

  describe(`a cursor, on ${database}`, () => {
    it("of another user or tenant is refused like a forged one", deadline, async (t) => {
      const home = await ownersHome(t, database);
      const { world } = home;
      for (let lamp = 0; lamp < 101; lamp++) await world.addDevice(home.userId, `Lamp ${lamp}`);
      const { access_token } = home.tokens();
      const tokens = {
        bob: await bobsToken(home),
        tenant: await tokenOfTenant(home, "Acme"),
        other: await tokenOfTenant(home, "Other"),
      };
      const page = (token: string, query: string) =>
        send(world.baseUrl, { method: "GET", target: `/v3/devices?${query}`, headers: [bearer(token)] });
      const cursorOf = async (token: string): Promise<string> =>
        JSON.parse((await page(token, "deviceTypeName=Lamp")).text).cursor;
      const [owners, tenants] = [await cursorOf(access_token), await cursorOf(tokens.tenant)];
      assert.equal((await page(access_token, `cursor=${owners}`)).status, 200);
      assert.equal((await page(tokens.tenant, `cursor=${tenants}`)).status, 200);

      for (const [token, foreign] of [
        [tokens.bob, owners],
        [tokens.other, owners],
        [tokens.tenant, owners],
        [access_token, tenants],
        [tokens.bob, tenants],
        [tokens.other, tenants],
      ] as const) {
        const changed = foreign.replace(/^./, (first) => (first === "A" ? "B" : "A"));
        const made = [
          foreign,
          changed,
          newSecret(""),
          "x",
          "%00",
          `${foreign}=`,
          foreign.slice(0, -2),
          `${foreign}%20`,
        ];
        const answers = await Promise.all(made.map((cursor) => page(token, `cursor=${cursor}`)));
        for (const answer of answers) {
          assert.equal(answer.status, 400);
          assertAlike(answer, answers[0]!, "a cursor");
        }
      }
    });
  });
}

/** Sends the request with each id, asserts that all answers are equal, and returns the answer. */
async function alike(
  foreign: readonly string[],
  ask: (id: string) => Promise<WireAnswer>,
  status: number,
  isUsable: (id: string) => boolean = () => true,
): Promise<WireAnswer> {
  const ids = [...foreign, "2147000009", "2147483647", ...malformed.filter(isUsable)];
  const answers = await Promise.all(ids.map(ask));
  const first = answers[0]!;
  assert.equal(first.status, status, first.text);
  for (const [place, answer] of answers.entries()) assertAlike(answer, first, `the id ${ids[place]}`);
  return first;
}

function isXml(id: string): boolean {
  return !id.includes("%00");
}

function bearer(token: string): readonly [string, string] {
  return ["Authorization", `Bearer ${token}`];
}

async function bobsToken({ world }: Home): Promise<string> {
  return (await world.tokens(world.client, bob)).access_token;
}

async function tokenOfTenant({ world }: Home, tenant: "Acme" | "Other"): Promise<string> {
  const client = await world.addClient({ kind: "enterprise", tenant });
  if (tenant === "Acme") return (await world.tokens(client, admin)).access_token;
  const grant = { grant_type: "client_credentials", client_id: client.id, client_secret: client.secret };
  return (await world.post("/oauth2/access_token", grant)).body.access_token;
}
