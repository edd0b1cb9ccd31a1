import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Breezeway, QuotaExceeded } from "../../sdk/src/index.ts";
import { readConfig } from "../../src/config/config.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts } from "../../src/service/parts.ts";
import { folderOf } from "../cli/made-folder.ts";
import type { RunningNode } from "../set-up/deployment.ts";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";
import { clientOfTenant, clientOfUser } from "../stories/v3-client.ts";
import { eventually, person, world } from "../stories/world.ts";

const json = { "content-type": "application/json" };

describe("a client at its quota", () => {
  it("is refused in the words of each interface, can still report and hear alarms, and holds up nobody", async (t) => {
    const { service, client, addLamp } = await world(t);
    const lamp = await addLamp();
    const v3 = await clientOfUser(() => service, "Story", person, "devices:read devices:control");
    const company = await clientOfTenant(() => service, "Story");
    const { administration, oauth, identity, metrics } = service.parts;
    // biome-ignore lint/suspicious/noExplicitAny: the shape of the answer is what the test examines
    const run = (command: string, input: object): Promise<any> => administration.run(command, input);
    const { clientId } = await oauth.verify(v3.accessToken);
    await run("quota set", { client: clientId, "requests-per-minute": "2", "open-streams": "1" });
    const get = (path: string, token = v3.accessToken, init: RequestInit = {}) =>
      fetch(`${service.baseUrl}${path}`, { ...init, headers: { ...json, authorization: `Bearer ${token}` } });

    assert.equal((await get("/v3/users")).status, 200);
    assert.equal((await get(`/v3/devices/${lamp}`)).status, 200);
    // By the route and by the fast path.
    for (const path of ["/v3/users", `/v3/devices/${lamp}`]) {
      const refused = await get(path);
      const { error, error_description, request_id } = (await refused.json()) as Record<string, string>;
      assert.deepEqual([refused.status, error], [429, "quota_exceeded"]);
      assert.match(error_description!, /^The client has used its quota of 2 requests a minute\. Try again in \d+ sec/);
      const seconds = Number(refused.headers.get("retry-after"));
      assert.ok(seconds > 20 && seconds <= 30, `${seconds} s for one of two requests a minute`);
      assert.equal(refused.headers.get("x-request-id"), request_id);
    }
    const sdk = new Breezeway({ baseUrl: service.baseUrl, accessToken: v3.accessToken, retries: 0 } as never);
    await assert.rejects(
      sdk.getDevice(lamp),
      (error) => error instanceof QuotaExceeded && error.retryAfterSeconds! > 0,
    );
    const written = await get(`/v3/devices/${lamp}`, v3.accessToken, { method: "PUT", body: '{"power":"on"}' });
    assert.equal(written.status, 200, "a write may report an alarm");

    const ending = new AbortController();
    const stream = await get("/v3/events", v3.accessToken, { signal: ending.signal });
    assert.equal(stream.status, 200);
    const second = await get("/v3/events");
    assert.deepEqual([second.status, second.headers.get("retry-after")], [429, "10"]);
    await second.body?.cancel();
    ending.abort();
    await eventually(t.signal, async () => {
      const shown = await run("quota show", { client: clientId });
      assert.equal(shown.used.nodes[0].openStreams, 0);
    });
    assert.equal((await company.call("/users")).status, 200, "another client of the tenant is not refused");

    const tenant = String((await identity.findTenant("Story")).tenantId);
    await run("quota set", { tenant, "requests-per-minute": "1" });
    await client.call("getDeviceList", { secToken: client.secToken }).catch(() => undefined);
    const { requestFault } = await client.call("getDeviceList", { secToken: client.secToken });
    assert.equal(requestFault.errorCode, "107");
    const body = new URLSearchParams({ secToken: client.secToken, devId: String(lamp), name: "power", value: "off" });
    const set = await fetch(`${service.baseUrl}/zdk/services/zamapi/setDeviceAttribute`, { method: "POST", body });
    assert.equal(set.status, 200);
    const adaptor = await get(`/adaptor/federatedtokens?anEcosystemName=nest`, client.secToken);
    assert.deepEqual([adaptor.status, ((await adaptor.json()) as { errorCode: number }).errorCode], [429, 107]);
    assert.ok(Number(adaptor.headers.get("retry-after")) > 0);
    const ofCommand = await oauth.commandTokens.issue(Number(tenant) as never, "command-line");
    assert.equal((await get("/v3/users", ofCommand)).status, 200, "an operator's command is not counted");

    // Getting a token is not counted.
    assert.equal((await (await clientOfTenant(() => service, "Story")).call("/users")).status, 429);

    const neighbour = await identity.addTenant({ name: "Neighbour" });
    const next = await clientOfTenant(() => service, String(neighbour.tenantId));
    for (let n = 0; n < 5; n++) assert.equal((await next.call("/users")).status, 200);
    const counted = (await metrics.text()).match(
      /breezeway_limit_reached_total\{limit="requestsPerMinutePer\w+"\} \d+/g,
    );
    assert.ok(
      counted?.every((line) => !line.endsWith(" 0")),
      String(counted),
    );

    const { quotas } = await run("quota reset", { tenant });
    assert.deepEqual(quotas.requestsPerMinute, { value: 1_200_000, isDefault: true });
    assert.equal((await company.call("/users")).status, 200);
  });

  it("sends no more commands than its quota", async (t) => {
    const { service } = await world(t);
    const company = await clientOfTenant(() => service, "Story");
    const { clientId } = await service.parts.oauth.verify(company.accessToken);
    await service.parts.administration.run("quota set", { client: clientId, "commands-per-minute": "1" });
    const send = () =>
      company.call("/things/t_unknown/commands", {
        method: "POST",
        headers: json,
        body: JSON.stringify({ trait: "onOff", command: "set", params: { on: true } }),
      });
    const [first, second] = [await send(), await send()];
    assert.deepEqual([first.body.error, second.status, second.body.error], ["unknown_thing", 429, "quota_exceeded"]);
  });
});

describe("a quota over three nodes", { skip: missingPostgres() ?? false }, () => {
  it("is divided among them, and all of it is the last one's when the others have left", {
    timeout: 60_000,
  }, async (t) => {
    const { service, nodes } = await world(t, { database: "three nodes" });
    const company = await clientOfTenant(() => service, "Story");
    const { tenantId, clientId } = await service.parts.oauth.verify(company.accessToken);
    const [last, ...others] = nodes as [RunningNode, ...RunningNode[]];
    const headers = { authorization: `Bearer ${company.accessToken}` };
    /** How many requests the node admits in a moment. */
    const countAdmitted = async ({ url }: RunningNode) => {
      for (let count = 0; ; count++) if ((await fetch(`${url}/v3/users`, { headers })).status !== 200) return count;
    };
    const untilLive = (node: RunningNode, count: number) =>
      eventually(t.signal, async () => assert.equal(node.service.parts.membership.liveNodes, count));
    await service.parts.administration.run("quota set", { client: clientId!, "requests-per-minute": "9" });
    for (const node of nodes) {
      await untilLive(node, 3);
      await eventually(t.signal, async () => {
        assert.equal(node.service.parts.quotaSettings.valuesOf({ tenantId, clientId: clientId! }).requestsPerMinute, 9);
      });
    }
    for (const node of nodes) assert.equal(await countAdmitted(node), 3);
    for (const { service: node } of others) await node.stop();
    await untilLive(last, 1);
    const refused = await fetch(`${last.url}/v3/users`, { headers });
    assert.equal(refused.status, 429);
    assert.match(
      ((await refused.json()) as { error_description: string }).error_description,
      /quota of 9 requests a minute/,
    );
  });
});

describe("a quota that is set through one node", { skip: missingPostgres() ?? false }, () => {
  it("is in force on the others", async (t) => {
    const environment = {
      BREEZEWAY_DATA: folderOf(t),
      BREEZEWAY_DATABASE_URL: await (await sharedCluster()).createDatabase(),
    };
    const open = () => openParts(readConfig({ flags: {}, environment }), startLogging("silent"));
    const node = await open();
    const command = await open();
    const deafen = node.store.nodeBus.onHint((hint) => hint === "quotas" && node.quotaSettings.hinted());
    t.after(async () => {
      deafen();
      await node.quotaSettings.stop();
      await Promise.all([node.close(), command.close()]);
    });
    const { tenantId } = await node.identity.addTenant({ name: "Acme" });
    await node.quotaSettings.start();
    const inForce = () => node.quotaSettings.valuesOf({ tenantId, clientId: null }).commandsPerMinute;
    assert.equal(inForce(), 120_000);
    await command.administration.run("quota set", { tenant: "Acme", "commands-per-minute": "7" });
    await eventually(t.signal, async () => assert.equal(inForce(), 7));
    await command.administration.run("quota reset", { tenant: "Acme" });
    await eventually(t.signal, async () => assert.equal(inForce(), 120_000));
  });
});
