import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import pg from "pg";
import { hasConsent, type ScopedPrincipal } from "../../src/identity/principal.ts";
import { hashOf, newOwnedSecret } from "../../src/identity/secrets.ts";
import type { TenantId, UserId } from "../../src/model/ids.ts";
import { allScopesText, type Scopes, scopes } from "../../src/model/scopes.ts";
import { scopeStep } from "../../src/store/migrations.ts";
import { send, write } from "../events/made-home.ts";
import { deployments } from "../set-up/deployment.ts";
import { ada, admin, callback, type MadeClient, type OAuthWorld, oauthWorld } from "./oauth-world.ts";

const everything = scopes.join(" ");
const heat = { trait: "thermostat", command: "setMode", params: { mode: "heat" } };
/** A command that passes the check of the scope does not find the thing. */
const heatingStatus = async ({ baseUrl }: OAuthWorld, token: string) =>
  (await send(`${baseUrl}/v3/things/unknown/commands`, token, "POST", heat)).status;

it("a client that asks for scopes", async (t) => {
  const world = await oauthWorld(t);
  const lampId = await world.addDevice(world.userId, "Lamp");

  await t.test(
    "gets the scopes that it names, sees them in the answer, and keeps them over refreshes and a restart",
    async () => {
      const requested = { scope: "openid devices:read,alerts" };
      const first = (await world.exchange(await world.code(requested), world.client, { scope: everything })).body;
      assert.equal(first.scope, "devices:read alerts", "the exchange can't add what the user did not accept");
      const second = (await world.refresh(first.refresh_token)).body;
      assert.equal(second.scope, "devices:read alerts");
      await world.restart();
      for (const token of [first.access_token, second.access_token]) {
        // The first call uses the fast path, the second the ordinary route.
        for (const path of [`/v3/devices/${lampId}`, `/v3/devices/${lampId}?since=0`, "/v3/alerts"]) {
          assert.equal((await world.get(path, token)).status, 200, path);
        }
        assert.equal((await world.get("/v3/webhooks", token)).status, 403);
        assert.equal((await put(world, token, lampId)).status, 403);
      }
      const { body } = await world.exchange(await world.code({ scope: "devices:control" }));
      await write(world, body.access_token, lampId, { power: "on" });
      for (const path of [`/v3/devices/${lampId}`, `/v3/devices/${lampId}?since=0`]) {
        const { status, headers } = await world.get(path, body.access_token);
        assert.equal(status, 403, path);
        assert.match(
          headers.get("www-authenticate") ?? "",
          /^Bearer error="insufficient_scope", scope="devices:read"$/,
        );
      }
    },
  );

  await t.test("gets all scopes if it names none, and the answer has four members", async () => {
    for (const scope of [undefined, "", " , "]) {
      const { body } = await world.exchange(await world.code({ scope }));
      assert.equal(Object.keys(body).length, 4);
      assert.equal(await heatingStatus(world, body.access_token), 404, "a command passes the check of the scope");
      for (const path of ["/v3/users", "/v3/alerts", "/v3/webhooks"]) {
        assert.equal((await world.get(path, body.access_token)).status, 200, path);
      }
      const refreshed = (await world.refresh(body.refresh_token)).body;
      assert.equal(Object.keys(refreshed).length, 4);
      assert.equal(await heatingStatus(world, refreshed.access_token), 404);
      assert.equal((await refresh(world, body.refresh_token, "alerts")).body.scope, "alerts");
    }
  });

  await t.test("gets only devices:read if it names no known one, also by a refresh", async () => {
    const unknown = "openid offline_access devices:write *";
    const { body } = await world.exchange(await world.code({ scope: unknown }));
    assert.equal(body.scope, "devices:read");
    const all = (await world.exchange(await world.code())).body;
    const narrowed = (await refresh(world, all.refresh_token, unknown)).body;
    assert.equal(narrowed.scope, "devices:read");
    for (const token of [body.access_token, narrowed.access_token]) {
      assert.equal((await world.get("/v3/users", token)).status, 200);
      assert.equal((await world.get("/v3/alerts", token)).status, 403);
      assert.equal((await put(world, token, lampId)).status, 403);
    }
    const alerts = (await world.exchange(await world.code({ scope: "alerts" }))).body;
    assert.equal((await refresh(world, alerts.refresh_token, unknown)).body.error, "invalid_scope");
  });

  await t.test("gets everything without a known scope if an earlier version registered it", async () => {
    const client = await world.addOlderClient();
    const refresh = async (token: string, scope?: string) =>
      world.post("/oauth2/access_token", {
        ...{ grant_type: "refresh_token", refresh_token: token, client_id: client.id, client_secret: client.secret },
        scope,
      });
    for (const scope of [undefined, "openid offline_access devices:write *"]) {
      const { body } = await world.exchange(await world.code({ client_id: client.id, scope }), client);
      assert.equal("scope" in body, false);
      for (const path of ["/v3/users", "/v3/alerts", "/v3/webhooks"]) {
        assert.equal((await world.get(path, body.access_token)).status, 200, path);
      }
      assert.equal((await put(world, body.access_token, lampId)).status, 200);
      assert.equal("scope" in (await refresh(body.refresh_token, scope)).body, false);
      const narrowed = await refresh(body.refresh_token, "alerts");
      assert.equal(narrowed.body.scope, "alerts");
      assert.equal((await world.get("/v3/users", narrowed.body.access_token)).status, 403);
    }
  });

  await t.test(
    "may narrow an access token by a refresh, never widen it, and the refresh token keeps its scopes",
    async () => {
      const { body: first } = await world.exchange(await world.code({ scope: "devices:read alerts" }));
      const narrowed = await refresh(world, first.refresh_token, "alerts unheard-of");
      assert.equal(narrowed.body.scope, "alerts");
      assert.equal((await world.get("/v3/users", narrowed.body.access_token)).status, 403);
      const wider = await refresh(world, narrowed.body.refresh_token, "devices:control alerts");
      assert.equal(wider.status, 400);
      assert.equal(wider.body.error, "invalid_scope");
      // The refused refresh changed nothing, and unknown words are ignored.
      const again = await refresh(world, narrowed.body.refresh_token, "");
      assert.equal(again.body.scope, "devices:read alerts");
      assert.equal((await world.get("/v3/users", again.body.access_token)).status, 200);
    },
  );

  await t.test("gets the named scopes by client_credentials", async () => {
    const credentials = ({ id, secret }: MadeClient) => ({
      ...{ grant_type: "client_credentials", client_id: id, client_secret: secret },
    });
    const form = credentials(await world.addClient({ kind: "enterprise" }));
    const { body } = await world.post("/oauth2/access_token", { ...form, scope: "webhooks unheard-of" });
    assert.equal(body.scope, "webhooks");
    assert.equal((await world.get("/v3/webhooks", body.access_token)).status, 200);
    assert.equal((await world.get("/v3/users", body.access_token)).status, 403);
    const { body: all } = await world.post("/oauth2/access_token", form);
    assert.equal("scope" in all, false);
    assert.equal((await world.get("/v3/users", all.access_token)).status, 200);
    const scope = "unheard-of";
    const { body: unknown } = await world.post("/oauth2/access_token", { ...form, scope });
    assert.equal(unknown.scope, "devices:read");
    const older = credentials(await world.addOlderClient("enterprise"));
    const { body: everything } = await world.post("/oauth2/access_token", { ...older, scope });
    assert.equal("scope" in everything, false);
    assert.equal((await world.get("/v3/webhooks", everything.access_token)).status, 200);
  });

  await t.test("may create an alert that writes to devices only with the scope to control them", async () => {
    const { body } = await world.exchange(await world.code({ scope: "alerts devices:control" }));
    const { body: lesser } = await refresh(world, body.refresh_token, "alerts");
    const alerts = `${world.baseUrl}/v3/alerts`;
    const withoutTargets = {
      deviceId: lampId,
      attrName: "power",
      operation: "equals",
      stringThreshold: "on",
      action: "email",
    };
    const targets = [{ deviceId: lampId, attrName: "scene", value: "evening" }];
    const withTargets = { ...withoutTargets, action: "attribute", targets };
    const refused = await send(alerts, lesser.access_token, "POST", withTargets);
    assert.equal(refused.status, 403);
    assert.match(refused.headers.get("www-authenticate") ?? "", /scope="alerts devices:control"/);
    const made = await send(alerts, lesser.access_token, "POST", withoutTargets);
    assert.equal(made.status, 201);
    const own = `${alerts}/${made.body.alertId}`;
    assert.equal((await send(own, lesser.access_token, "PUT", withTargets)).status, 403);
    assert.deepEqual((await world.get(`/v3/alerts/${made.body.alertId}`, lesser.access_token)).body.targets, []);
    assert.equal((await send(own, body.access_token, "PUT", withTargets)).status, 200);
  });

  await t.test(
    "is shown by what it asks for: on the terms page, in the audit log, by client show and in the metadata",
    async () => {
      const rights = async (client: MadeClient, scope: string | undefined, person = ada) => {
        const shown = await world.browser().signIn(world.authorizeUrl({ client_id: client.id, scope }), person);
        return [...shown.body.matchAll(/<li>.*?<span>(.*?)<\/span><\/li>/g)].map(([, right = ""]) =>
          right.replace(/<[^>]*>/g, ""),
        );
      };
      const see = ["See your user name", "See your devices, such as thermostats and smoke alarms, and what they do"];
      const control = "Change and control your devices";
      const others = [
        "See and change the alerts on your devices",
        "Be sent what your devices do, as it happens",
        "Manage the accounts that you have linked",
      ];
      const onlyFans = "Change the values of your devices, and start and stop fans, but control nothing else";
      const older = await world.addOlderClient();
      assert.deepEqual(await rights(older, undefined), [...see, onlyFans, ...others]);
      assert.deepEqual(await rights(older, "unheard-of"), [...see, onlyFans, ...others]);
      assert.deepEqual(await rights(world.client, undefined), [...see, control, ...others]);
      assert.deepEqual(await rights(world.client, "unheard-of"), see);
      assert.deepEqual(await rights(world.client, "devices:read"), see);
      assert.deepEqual(await rights(world.client, "links webhooks alerts devices:control"), [control, ...others]);
      const enterprise = await world.addClient({ kind: "enterprise" });
      assert.deepEqual(await rights(enterprise, "devices:control", admin), [
        "Change and control every device of every user",
      ]);
      const unscoped = await rights(await world.addOlderClient("enterprise"), undefined, admin);
      assert.equal(unscoped[2], "Change values of every device, and run fans, but control nothing else");

      const client = await world.addClient();
      await world.exchange(await world.code({ client_id: client.id, scope: "alerts devices:read" }), client);
      await world.tokens(client);
      const entries = (await world.service.parts.identity.audit.list({ limit: 20 })).filter(
        ({ act, clientId }) => clientId === client.id && act !== "sign_in",
      );
      const shownEntries = entries.map(({ act, detail }) => [act, detail]);
      const scope = "devices:read alerts";
      assert.deepEqual(shownEntries, [
        ["grant", { scope: allScopesText }],
        ["accepted", { scope: allScopesText }],
        ["grant", { scope }],
        ["accepted", { scope }],
      ]);
      const shown = await world.service.parts.administration.run("client show", { client: client.id });
      assert.deepEqual((shown as { readonly grants: unknown }).grants, [
        { scope, grants: 1 },
        { scope: allScopesText, grants: 1 },
      ]);
      const { body } = await world.get("/.well-known/oauth-authorization-server");
      assert.deepEqual(body.scopes_supported, scopes);
    },
  );
});

describe("access from before scopes existed", () => {
  it("covers everything: tokens and codes of the previous version", async (t) => {
    const world = await oauthWorld(t);
    const { accessToken, code } = addAsVersionBefore(world);
    const { status, body } = await world.exchange(code);
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal("scope" in body, false);
    for (const token of [accessToken, body.access_token]) {
      for (const path of ["/v3/users", "/v3/alerts", "/v3/webhooks"]) {
        assert.equal((await world.get(path, token)).status, 200, path);
      }
    }
  });
});

describe("a grant without scopes", () => {
  for (const database of deployments) {
    it(`allows no heating, whatever scopes a refresh asks for, on ${database}`, async (t) => {
      const world = await oauthWorld(t, { database });
      const client = await world.addOlderClient();
      const { body: first } = await world.exchange(await world.code({ client_id: client.id }), client);
      const { body: widened } = await refresh(world, first.refresh_token, "devices:control alerts", client);
      assert.equal(widened.scope, "devices:control alerts");
      const { body: narrowed } = await refresh(world, widened.refresh_token, "alerts", client);
      const { body: consented } = await world.exchange(await world.code({ scope: "devices:control" }));
      const enterprise = await world.addOlderClient("enterprise");
      const ofTenant = async (scope?: string) =>
        world.exchange(await world.code({ client_id: enterprise.id, scope }, admin), enterprise);
      const { body: unscopedTenant } = await ofTenant();
      const { body: widenedTenant } = await refresh(world, unscopedTenant.refresh_token, "devices:control", enterprise);
      const { body: consentedTenant } = await ofTenant("devices:control");
      const own = { grant_type: "client_credentials", client_id: enterprise.id, client_secret: enterprise.secret };
      const { body: withSecret } = await world.post("/oauth2/access_token", own);
      // A command that passes the check of the consent does not find the thing.
      const cases = [
        [first.access_token, 403, 404],
        [widened.access_token, 403, 404],
        [narrowed.access_token, 403, 403],
        [consented.access_token, 404, 404],
        [unscopedTenant.access_token, 403, 404],
        [widenedTenant.access_token, 403, 404],
        [consentedTenant.access_token, 404, 404],
        [withSecret.access_token, 404, 404],
      ] as const;
      for (const { url } of world.nodes) {
        // The second time the token is in the node's cache.
        for (const [token, heating, fan] of [...cases, ...cases]) {
          const path = `${url}/v3/things/unknown/commands`;
          assert.equal((await send(path, token, "POST", heat)).status, heating);
          const start = { trait: "fanTimer", command: "start", params: {} };
          assert.equal((await send(path, token, "POST", start)).status, fan);
        }
      }
    });
  }

  it("allows an assistant only fans, and an enterprise client with its own secret everything", () => {
    const ids = { userId: 1 as UserId, tenantId: 1 as TenantId };
    const ofUser = (granted: Scopes, isUnscopedGrant: boolean): ScopedPrincipal => ({
      kind: "user",
      ...ids,
      scopes: granted,
      isUnscopedGrant,
    });
    const allowed = (caller: ScopedPrincipal) =>
      ["fanTimer", "thermostat", "lock"].filter((trait) => hasConsent(caller, { trait }));
    assert.deepEqual(allowed(ofUser(null, true)), ["fanTimer"]);
    assert.deepEqual(allowed(ofUser(["devices:control"], true)), ["fanTimer"]);
    assert.deepEqual(allowed(ofUser(["devices:read"], true)), []);
    assert.deepEqual(allowed(ofUser(["devices:control"], false)), ["fanTimer", "thermostat", "lock"]);
    const enterprise = { kind: "enterprise", tenantId: ids.tenantId } as const;
    for (const granted of [null, ["devices:control"]] as const) {
      assert.deepEqual(allowed({ ...enterprise, scopes: granted }), ["fanTimer", "thermostat", "lock"]);
      assert.deepEqual(allowed({ ...enterprise, scopes: granted, isUnscopedGrant: true }), ["fanTimer"]);
    }
  });
});

describe("scopes on several nodes", () => {
  it("are enforced at each node, and not offered while a node of a version without scopes is alive", async (t) => {
    const world = await oauthWorld(t, { database: "three nodes" });
    const { body } = await world.exchange(await world.code({ scope: "alerts" }));
    const narrowed = await refresh(world, body.refresh_token, "alerts");
    for (const token of [body.access_token, narrowed.body.access_token]) {
      for (const { url } of world.nodes) {
        const statusOf = async (path: string) =>
          (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status;
        // The second time the token is in the node's cache.
        for (const path of ["/v3/alerts", "/v3/users", "/v3/users"]) {
          assert.equal(await statusOf(path), path === "/v3/alerts" ? 200 : 403, path);
        }
      }
    }

    const database = new pg.Client({ connectionString: world.databaseUrl });
    await database.connect();
    t.after(() => database.end());
    await database.query(
      "INSERT INTO nodes (id, beat_ms, schema_version) SELECT 'older', max(beat_ms), $1::int FROM nodes",
      [scopeStep - 1],
    );
    const meanwhile = await world.exchange(await world.code({ scope: "alerts" }));
    assert.equal(meanwhile.body.scope, everything);
    await database.query("DELETE FROM nodes WHERE id = 'older'");
    assert.equal((await world.exchange(await world.code({ scope: "alerts" }))).body.scope, "alerts");
  });
});

function refresh(world: OAuthWorld, refreshToken: string, scope: string, client: MadeClient = world.client) {
  const { id: client_id, secret: client_secret } = client;
  const form = { grant_type: "refresh_token", refresh_token: refreshToken, client_id, client_secret, scope };
  return world.post("/oauth2/access_token", form);
}

function put(world: OAuthWorld, token: string, deviceId: number) {
  return send(`${world.baseUrl}/v3/devices/${deviceId}`, token, "PUT", { power: "on" });
}

/** Adds rows with the columns of the previous version. */
function addAsVersionBefore({ folder, userId, tenantId, client }: OAuthWorld) {
  const database = new DatabaseSync(join(folder, "breezeway.db"));
  database.exec("PRAGMA busy_timeout = 5000");
  const [accessToken, code, grantId] = [newOwnedSecret("bwa_", userId), newOwnedSecret("", userId), randomUUID()];
  const laterMs = Date.now() + 50_000;
  database
    .prepare(
      "INSERT INTO grants (id, tenant_id, owner_id, client_id, reach, created_ms) VALUES (?, ?, ?, ?, 'user', 1)",
    )
    .run(grantId, tenantId, userId, client.id);
  database
    .prepare("INSERT INTO access_tokens (owner_id, hash, grant_id, expires_ms) VALUES (?, ?, ?, ?)")
    .run(userId, hashOf(accessToken), grantId, laterMs);
  database
    .prepare(
      `INSERT INTO codes (hash, client_id, user_id, redirect_uri, is_redirect_uri_sent, challenge, expires_ms)
       VALUES (?, ?, ?, ?, 0, NULL, ?)`,
    )
    .run(hashOf(code), client.id, userId, callback, laterMs);
  database.close();
  return { accessToken, code };
}
