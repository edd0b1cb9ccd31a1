import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Scope, scopes } from "../../src/model/scopes.ts";
import { type Call, callsOf } from "./calls.ts";
import { type Address, everyAddress, titleOf } from "./every-address.ts";
import { type Home, owner, ownersHome } from "./home.ts";
import { differences } from "./lasting-rows.ts";
import { requestOf } from "./requests.ts";
import { header, send, summaryOf, type WireAnswer } from "./wire.ts";

/** The scopes of each call that takes an access token, repeated here: the route table must agree. */
const needed: Readonly<Record<string, readonly Scope[]>> = {
  "GET /v3/users": ["devices:read"],
  "GET /v3/users/:userId": ["devices:read"],
  "GET /v3/devices": ["devices:read"],
  "GET /v3/devices/:deviceId": ["devices:read"],
  "GET /v3/device-types": ["devices:read"],
  "GET /v3/device-types/:deviceTypeName": ["devices:read"],
  "PUT /v3/device-types/:deviceTypeName": ["devices:control"],
  "DELETE /v3/device-types/:deviceTypeName": ["devices:control"],
  "POST /google-home/fulfilment": ["devices:read"],
  "GET /v3/things": ["devices:read"],
  "GET /v3/things/:thingId": ["devices:read"],
  "GET /v3/things/:thingId/history": ["devices:read"],
  "POST /v3/things/:thingId/commands": ["devices:control"],
  "GET /v3/things/:thingId/commands": ["devices:read"],
  "GET /v3/things/:thingId/commands/:commandId": ["devices:read"],
  "PUT /v3/devices/:deviceId": ["devices:control"],
  "POST /v3/devices": ["devices:control"],
  "PUT /v3/devices:states": ["devices:control"],
  "POST /v3/devices:batch": ["devices:control"],
  "PATCH /v3/devices/:deviceId": ["devices:control"],
  "DELETE /v3/devices/:deviceId": ["devices:control"],
  "GET /v3/devices/:deviceId/history": ["devices:read"],
  "GET /v3/devices/:deviceId/commands": ["devices:read"],
  "GET /v3/events": ["devices:read"],
  "GET /v3/alerts": ["alerts"],
  "POST /v3/alerts": ["alerts"],
  "GET /v3/alerts/:alertId": ["alerts"],
  "PUT /v3/alerts/:alertId": ["alerts"],
  "DELETE /v3/alerts/:alertId": ["alerts"],
  "GET /v3/alerts/:alertId/explain": ["alerts", "devices:read"],
  "POST /v3/alerts/dry-run": ["alerts", "devices:read"],
  "GET /v3/webhooks": ["webhooks"],
  "POST /v3/webhooks": ["webhooks", "devices:read"],
  "DELETE /v3/webhooks/:webhookId": ["webhooks"],
  "GET /v3/webhooks/:webhookId/deliveries": ["webhooks"],
  "POST /v3/webhooks/:webhookId/deliveries/:deliveryId/resend": ["webhooks"],
  "POST /v3/link-sessions": ["links"],
  "GET /v3/link-sessions/:linkSessionId": ["links"],
  "GET /adaptor/largestrings": ["devices:read"],
  "POST /adaptor/largestrings": ["devices:read"],
};

describe("an access token with scopes", () => {
  it("allows exactly the calls whose scopes it has, and a refused call changes nothing", {
    timeout: 240_000,
  }, async (t) => {
    const home = await ownersHome(t, "sqlite");
    const users = await tokensOfEach(home);
    const companys = await companyTokens(home);
    const addresses = everyAddress().filter(({ rule }) => rule === "bearer");
    assert.deepEqual(addresses.map(titleOf).sort(), Object.keys(needed).sort());
    for (const address of addresses) {
      await t.test(titleOf(address), async () => {
        const ofAddress = needed[titleOf(address)]!;
        const before = await home.rows();
        const calls = callsOf(address, home.things());
        for (const call of calls) {
          const all = [...ofAddress, ...(call.scopes ?? [])];
          for (const { granted, token } of call.isCompanysAlone ? [...users, ...companys] : users) {
            const has = (needs: readonly Scope[]) => needs.every((scope) => granted.includes(scope));
            if (has(all)) continue;
            assertLacking(address, has(ofAddress) ? all : ofAddress, await ask(home, address, call, token), granted);
          }
        }
        assert.deepEqual(differences(before, await home.rows()), []);
        for (const call of calls) {
          const needs = [...ofAddress, ...(call.scopes ?? [])];
          const exactly = (tokens: readonly ScopedToken[]) =>
            tokens.find(({ granted }) => granted.join() === needs.join())!.token;
          const succeeds = async (token: string, success: number) => {
            const answer = await ask(home, address, call, token);
            assert.equal(answer.status, success, `${needs.join(" ")}: ${summaryOf(answer)}`);
          };
          await succeeds(exactly(users), call.isCompanysAlone ? 403 : (call.success ?? 200));
          if (call.isCompanysAlone) {
            if (call.path?.deviceTypeName !== undefined) await home.setMap(call.path.deviceTypeName);
            await succeeds(exactly(companys), call.success ?? 200);
          }
          if (address.method !== "GET") await home.renew(address, call);
        }
      });
    }
  });
});

interface ScopedToken {
  readonly granted: readonly Scope[];
  readonly token: string;
}

/** One token for each scope, and one for each set that a call needs. */
async function tokensOfEach({ world }: Home): Promise<readonly ScopedToken[]> {
  const code = await world.code({ scope: scopes.join(" ") }, owner);
  const { body: whole } = await world.exchange(code);
  const { id: client_id, secret: client_secret } = world.client;
  const form = { grant_type: "refresh_token", refresh_token: whole.refresh_token, client_id, client_secret };
  const sets: readonly (readonly Scope[])[] = [
    ...scopes.map((scope) => [scope]),
    ...Object.values(needed).filter(({ length }) => length > 1),
    ["alerts", "devices:control"],
  ];
  const tokens: ScopedToken[] = [];
  for (const granted of sets) {
    const { status, body } = await world.post("/oauth2/access_token", { ...form, scope: granted.join(" ") });
    assert.equal(status, 200, JSON.stringify(body));
    tokens.push({ granted, token: body.access_token });
  }
  return tokens;
}

/** The same of an enterprise client, which alone may call some addresses. */
async function companyTokens({ world }: Home): Promise<readonly ScopedToken[]> {
  const { id: client_id, secret: client_secret } = await world.addClient({ kind: "enterprise" });
  const tokens: ScopedToken[] = [];
  for (const scope of scopes) {
    const form = { grant_type: "client_credentials", client_id, client_secret, scope };
    const { status, body } = await world.post("/oauth2/access_token", form);
    assert.equal(status, 200, JSON.stringify(body));
    tokens.push({ granted: [scope], token: body.access_token });
  }
  return tokens;
}

function ask({ world }: Home, address: Address, call: Call, bearer: string): Promise<WireAnswer> {
  return send(world.baseUrl, requestOf(address, call, { bearer }, "header"));
}

function assertLacking(
  { errors }: Address,
  needs: readonly Scope[],
  answer: WireAnswer,
  granted: readonly Scope[],
): void {
  const label = `${granted.join(" ")}: ${summaryOf(answer)}`;
  assert.equal(answer.status, 403, label);
  const challenge = `Bearer error="insufficient_scope", scope="${needs.join(" ")}"`;
  assert.equal(header(answer, "www-authenticate"), challenge, label);
  const body = JSON.parse(answer.text);
  if (errors === "adaptor") assert.equal(body.errorCode, 106, label);
  else assert.equal(body.error, "insufficient_scope", label);
}
