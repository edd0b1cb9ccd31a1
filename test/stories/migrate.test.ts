import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { startSimulator } from "../../simulator/simulator.ts";
import { readConfig } from "../../src/config/config.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { startService } from "../../src/service/service.ts";
import { folderOf } from "../cli/made-folder.ts";
import { EventStream } from "../events/event-stream.ts";
import { home, send, write } from "../events/made-home.ts";
import { receiver } from "../events/receiver.ts";
import { ada } from "../oauth/oauth-world.ts";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";
import { breezeway } from "./child-service.ts";
import { assertMirrors } from "./expected-attributes.ts";
import { PlatformClient } from "./platform-client.ts";
import { eventually } from "./world.ts";

const away = "d.structures[1].a.away";

/** Ada's house on SQLite: linked, with a lamp that an alert switches, a webhook, and an open event stream. */
async function linkedHouse(t: TestContext) {
  const simulator = await startSimulator({ port: 0 });
  t.after(() => simulator.stop());
  const account = simulator.addAccount({ structures: [{ thermostats: 2, alarms: 2 }] });
  const ecosystems = JSON.stringify({ nest: { protocol: "nest", apiUrl: simulator.url } });
  const environment = { BREEZEWAY_ECOSYSTEMS: ecosystems, BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true" };
  const { world, token, lamp, open } = await home(t, { database: "sqlite", environment });
  const address = { baseUrl: world.baseUrl };
  const platform = new PlatformClient(() => address.baseUrl);
  await platform.login(ada.name, ada.password, world.tenantId);
  const linked = Number((await platform.federate("POST", account.token)).body.DeviceId);
  const hook = await receiver(t);
  const v3 = (method: string, path: string, body?: object) => send(`${address.baseUrl}/v3${path}`, token, method, body);
  assert.equal((await v3("POST", "/webhooks", { url: hook.url, deviceIds: [lamp] })).status, 201);
  const addKeyed = async () => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "idempotency-key": "k" };
    const body = JSON.stringify({ url: "http://127.0.0.1:9/", attributes: ["never"] });
    return (await fetch(`${address.baseUrl}/v3/webhooks`, { method: "POST", headers, body })).json();
  };
  const keyed = await addKeyed();
  const added = await v3("POST", "/alerts", {
    deviceId: linked,
    attrName: away,
    operation: "equals",
    stringThreshold: "away",
    action: "attribute",
    targets: [{ deviceId: lamp, attrName: "power", value: "off" }],
  });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  const stream = await open({ query: `?deviceId=${lamp}` });
  const refreshToken = (await world.tokens()).refresh_token;
  for (const power of ["on", "dim", "on"]) await write(world, token, lamp, { power });
  const [first] = await stream.until(3);
  await hook.until(3);
  stream.close();
  return {
    simulator,
    account,
    environment,
    world,
    token,
    refreshToken,
    lamp,
    address,
    platform,
    linked,
    hook,
    v3,
    addKeyed,
    keyed,
    first,
  };
}

type House = Awaited<ReturnType<typeof linkedHouse>>;

async function migrate(house: House, args: readonly string[], databaseUrl: string, data = house.world.folder) {
  const environment = { BREEZEWAY_DATA: data, BREEZEWAY_DATABASE_URL: databaseUrl };
  return breezeway(["migrate", "--json", ...args], { environment });
}

/** Starts the service as a node on PostgreSQL. */
async function serve(t: TestContext, { environment, address }: House, databaseUrl: string, data: string) {
  const settings = { ...environment, BREEZEWAY_DATA: data, BREEZEWAY_DATABASE_URL: databaseUrl, BREEZEWAY_PORT: "0" };
  const config = readConfig({ flags: {}, environment: settings });
  const service = await startService(config, startLogging("silent"));
  t.after(() => service.stop());
  address.baseUrl = service.baseUrl;
  return service;
}

const visibleState = async ({ platform, linked, v3, lamp }: House) => ({
  device: (await platform.device(linked)).attributes,
  indexes: (await platform.largeStrings(linked)).body,
  history: (await v3("GET", `/devices/${lamp}/history`)).body,
  alerts: (await v3("GET", "/alerts")).body,
  webhooks: (await v3("GET", "/webhooks")).body,
});

describe("a deployment that moves from SQLite to PostgreSQL", { skip: missingPostgres() ?? false }, () => {
  it("continues without a gap: tokens, indexes, history, alerts, webhooks and event streams", {
    timeout: 120_000,
  }, async (t) => {
    const house = await linkedHouse(t);
    const { world, token, refreshToken, lamp, platform, linked, simulator, account, hook, first } = house;
    const databaseUrl = await (await sharedCluster()).createDatabase();
    const refused = await migrate(house, [], databaseUrl);
    assert.deepEqual([refused.code, /Another Breezeway is running/.test(refused.stderr)], [7, true]);
    const before = await visibleState(house);
    const audited = await world.service.parts.identity.audit.list({ limit: 100 });
    await world.service.stop();
    const moved = await migrate(house, [], databaseUrl);
    assert.equal(moved.code, 0, moved.stderr);
    const { tables } = JSON.parse(moved.stdout) as { tables: { table: string; rows: number; sha256: string }[] };
    const rows = new Map(tables.map(({ table, rows: count }) => [table, count]));
    for (const table of [
      "users",
      "attributes",
      "links",
      "log",
      "triggers",
      "webhooks",
      "webhook_deliveries",
      "idempotency_keys",
      "audit",
    ]) {
      assert.ok(rows.get(table)! > 0, table);
    }
    assert.equal((await migrate(house, [], databaseUrl)).code, 7);

    const service = await serve(t, house, databaseUrl, world.folder);
    assert.deepEqual(await visibleState(house), before);
    // Sealed answers moved with the key: a repeated request gets the same secret.
    assert.deepEqual(await house.addKeyed(), house.keyed);
    assert.deepEqual((await service.parts.identity.audit.list({ limit: 100 })).slice(-audited.length), audited);
    const refreshed = await fetch(`${service.baseUrl}/oauth2/access_token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "refresh_token",
        refresh_token: refreshToken,
        client_id: world.client.id,
        client_secret: world.client.secret,
      }),
    });
    assert.equal(refreshed.status, 200);

    // A resumed stream has neither a gap nor a repetition.
    const stream = await EventStream.open(service.baseUrl, token, {
      query: `?deviceId=${lamp}`,
      lastEventId: first!.id,
    });
    await write(service, token, lamp, { power: "after" });
    const values = (await stream.until(3)).map(({ name, data }) => [name, data.value]);
    assert.deepEqual(values, [
      ["attribute", "dim"],
      ["attribute", "on"],
      ["attribute", "after"],
    ]);
    await hook.until(4);

    await simulator.playScene(account.accountId, { scene: "leave" });
    await eventually(t.signal, async () => {
      const { body: map } = await platform.largeStrings(linked);
      assertMirrors(await platform.device(linked), simulator.document(account.accountId), map);
      assert.equal((await platform.device(lamp)).attributes.get("power")?.value, "off");
    });
    await hook.until(5);
    assert.deepEqual(
      hook.received.map(({ message }) => message.data.attributes.power),
      ["on", "dim", "on", "after", "off"],
    );
  });

  it("from a backup sends a resync to event streams, because the old store may have sent later events", {
    timeout: 120_000,
  }, async (t) => {
    const house = await linkedHouse(t);
    const { world, token, lamp, first } = house;
    const file = join(folderOf(t), "moving.backup");
    await world.service.parts.administration.run("backup", { to: file });
    await world.service.stop();
    const databaseUrl = await (await sharedCluster()).createDatabase();
    const data = folderOf(t);
    const withoutKey = await migrate(house, ["--from", file], databaseUrl, data);
    assert.deepEqual([withoutKey.code, /sealed with key/.test(withoutKey.stderr)], [3, true]);
    copyFileSync(join(world.folder, "breezeway.key"), join(data, "breezeway.key"));
    const moved = await migrate(house, ["--from", file], databaseUrl, data);
    assert.equal(moved.code, 0, moved.stderr);

    const service = await serve(t, house, databaseUrl, data);
    const stream = await EventStream.open(service.baseUrl, token, { lastEventId: first!.id });
    await write(service, token, lamp, { power: "after" });
    const [resync, next] = await stream.until(
      2,
      ({ name, data: shown }) => name === "resync" || shown.deviceId === lamp,
    );
    assert.deepEqual([resync?.name, resync?.data.reason, next?.data.value], ["resync", "restored", "after"]);
  });
});
