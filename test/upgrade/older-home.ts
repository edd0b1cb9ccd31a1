import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { startSimulator } from "../../simulator/simulator.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { EventStream } from "../events/event-stream.ts";
import { send } from "../events/made-home.ts";
import { receiver } from "../events/receiver.ts";
import { ScriptedBrowser } from "../oauth/scripted-browser.ts";
import { breezeway, type ChildService, startChild } from "../stories/child-service.ts";
import { PlatformClient } from "../stories/platform-client.ts";
import { callback } from "../stories/v3-client.ts";
import { eventually, person } from "../stories/world.ts";
import { storeRows } from "./store-rows.ts";

export interface OlderHomePlan {
  /** The folder of the older version. */
  readonly tree: string;
  readonly databaseUrl?: string;
  /** The number of accounts that the user links: one in each configured ecosystem. */
  readonly accounts: number;
}

export interface ClientCredentials {
  readonly client_id: string;
  readonly client_secret: string;
}

export interface UserTokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** The attribute of a linked account that reports smoke. */
export const smoke = "o.structures[1].emergencies.smoke";
const copies = 104;
/** How many attribute names a device may have, and a larger number, which versions without that limit accept. */
const nameCounts = { most: 1_000, beyond: 1_100 };

/** A store with a tenant, a user, clients and devices, made by the command line of the older version. */
export async function createOlderHome(test: TestContext, { tree, databaseUrl, accounts }: OlderHomePlan) {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-upgrade-"));
  const simulator = await startSimulator({ port: 0 });
  const ecosystems = Array.from({ length: accounts }, (_, i) => `nest${i + 1}`);
  const configured = ecosystems.map((name) => [name, { protocol: "nest", apiUrl: simulator.url }]);
  const environment: Record<string, string> = {
    BREEZEWAY_DATA: folder,
    BREEZEWAY_PORT: "0",
    BREEZEWAY_LOG_LEVEL: "error",
    BREEZEWAY_DRAIN_SECONDS: "0",
    BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true",
    BREEZEWAY_ECOSYSTEMS: JSON.stringify(Object.fromEntries(configured)),
    ...(databaseUrl !== undefined && { BREEZEWAY_DATABASE_URL: databaseUrl }),
  };
  const children: ChildService[] = [];
  test.after(async () => {
    for (const child of children) child.process.kill("SIGKILL");
    for (const child of children) await child.ended;
    await simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const start = async (version: "older" | "this", port = 0): Promise<ChildService> => {
    const its = { ...environment, BREEZEWAY_PORT: String(port) };
    const child = await startChild("serve", its, version === "older" ? { tree } : {});
    children.push(child);
    return child;
  };
  const command = async (args: readonly string[], input = "") => {
    const { code, stdout, stderr } = await breezeway([...args, "--json"], { environment, input, tree });
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const { tenantId } = await command(["tenant", "add", "--name", "Story"]);
  const user = ["user", "add", "--tenant", "Story", "--name", person.name];
  const { userId } = await command(user, `${person.password}\n`);
  const client = ["client", "add", "--tenant", "Story", "--name", "Voice"];
  const userClient: ClientCredentials = await command([...client, "--redirect-uri", callback]);
  const enterprise: ClientCredentials = await command([...client, "--kind", "enterprise"]);
  const addDevice = async (name: string): Promise<DeviceId> =>
    (await command(["device", "add", "--user", String(userId), "--name", name, "--type", "Lamp"])).deviceId;
  const [lamp, fullDevice, basket] = [
    await addDevice("Lamp"),
    await addDevice("Full device"),
    await addDevice("Basket"),
  ];
  const rows = await storeRows(environment);
  const columns = "is_virtual, last_time_ms, created_ms, tenant_id";
  await rows.all(
    `INSERT INTO devices (user_id, type_id, name, ${columns})
     WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${copies})
     SELECT user_id, type_id, 'Socket ' || numbers.n, ${columns} FROM devices, numbers WHERE id = ${lamp}`,
  );
  await rows.end();
  return {
    simulator,
    ecosystems,
    environment,
    start,
    tenantId,
    userId,
    userClient,
    enterprise,
    lamp,
    fullDevice,
    basket,
  };
}

export type OlderHome = Awaited<ReturnType<typeof createOlderHome>>;

/** Links, tokens, alerts and webhooks that clients get from the older version and keep over the upgrade. */
export async function fillOlder(test: TestContext, olderHome: OlderHome, url: string) {
  const { simulator, lamp, fullDevice, userClient, enterprise } = olderHome;
  const tokens = await signIn(() => url, userClient);
  const token = tokens.access_token;
  const { access_token: enterpriseToken } = await grant(url, { grant_type: "client_credentials", ...enterprise });
  const platform = platformAt(url, "");
  await platform.login(person.name, person.password, olderHome.tenantId);
  const accounts = [];
  for (const [i, ecosystem] of olderHome.ecosystems.entries()) {
    const account = simulator.addAccount({ seed: i + 1, structures: [{ thermostats: 1, alarms: 1 }] });
    const linked = await platform.federate("POST", account.token, ecosystem);
    const deviceId = Number(linked.body.DeviceId) as DeviceId;
    const siren = `siren${i + 1}`;
    const alert = await create(`${url}/v3/alerts`, token, {
      ...{ deviceId, attrName: smoke, operation: "equals", stringThreshold: "true", autoDisarm: true },
      ...{ action: "attribute", targets: [{ deviceId: lamp, attrName: siren, value: "on" }] },
    });
    accounts.push({ ecosystem, accountId: account.accountId, deviceId, siren, alertId: alert.alertId as number });
  }
  for (const { deviceId } of accounts) {
    await eventually(test.signal, async () => assert.equal(await shownValue(url, token, deviceId, smoke), "false"));
  }

  const fillDevice = async (count: number) => {
    const names = Array.from({ length: count }, (_, i) => [`place${i}`, "empty"]);
    return (await put(url, token, fullDevice, Object.fromEntries(names))).status;
  };
  const hasLimits = (await fillDevice(nameCounts.beyond)) === 409;
  if (hasLimits) assert.equal(await fillDevice(nameCounts.most), 200);
  const largeAlert = {
    ...{ deviceId: lamp, attrName: "never", operation: "equals", stringThreshold: "x", action: "attribute" },
    targets: Array.from({ length: 90 }, (_, i) => ({
      deviceId: fullDevice,
      attrName: `place${i}`,
      value: "x".repeat(200),
    })),
  };
  // A version with limits refuses an alert of this size.
  const { alertId: largeAlertId = undefined } = hasLimits ? {} : await create(`${url}/v3/alerts`, token, largeAlert);

  const hook = await receiver(test);
  const webhook = await create(`${url}/v3/webhooks`, token, { url: hook.url, deviceIds: [lamp] });
  const stream = await EventStream.open(url, token);
  const powers = ["first", "second", "third", "fourth"];
  for (const power of powers.slice(0, 2)) assert.equal((await put(url, token, lamp, { power })).status, 200);
  await stream.until(2, ({ data }) => data?.deviceId === lamp && data.name === "power");
  const { lastEventId } = stream;
  stream.close();
  const sinceMs = (await send(`${url}/v3/devices/${lamp}`, token, "GET")).body.attributes.power.updateTime as number;
  for (const power of powers.slice(2)) assert.equal((await put(url, token, lamp, { power })).status, 200);
  const firstPage = (await send(`${url}/v3/devices`, token, "GET")).body;
  return {
    ...{ tokens, enterpriseToken, secToken: platform.secToken, accounts, largeAlert, largeAlertId },
    ...{ hook, webhookSecret: webhook.secret as string, webhookId: webhook.id as string },
    ...{ lastEventId, powers, missed: powers.slice(2), sinceMs },
    firstIds: idsOf(firstPage),
    cursor: firstPage.cursor as string,
    devices: copies + 3 + accounts.length,
  };
}

export type FilledHome = Awaited<ReturnType<typeof fillOlder>>;

/** The user signs in and consents; each request of the browser goes to the next address. */
export async function signIn(url: () => string, client: ClientCredentials): Promise<UserTokens> {
  const question = new URLSearchParams({ response_type: "code", client_id: client.client_id, state: "s" });
  const returned = await new ScriptedBrowser(url).authorize(`/oauth2/authorize?${question}`, person);
  const code = returned.searchParams.get("code") ?? "";
  return grant(url(), { grant_type: "authorization_code", code, ...client });
}

export async function grant(url: string, request: Readonly<Record<string, string>>): Promise<UserTokens> {
  const answer = await fetch(`${url}/oauth2/access_token`, { method: "POST", body: new URLSearchParams(request) });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text);
}

/** A client with this secToken at this node. */
export function platformAt(url: string, secToken: string): PlatformClient {
  const platform = new PlatformClient(() => url);
  platform.secToken = secToken;
  return platform;
}

export function put(url: string, token: string, deviceId: DeviceId, values: object) {
  return send(`${url}/v3/devices/${deviceId}`, token, "PUT", values);
}

export async function create(url: string, token: string, body: object) {
  const answer = await send(url, token, "POST", body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

export async function shownValue(url: string, token: string, deviceId: DeviceId, name: string): Promise<unknown> {
  const answer = await send(`${url}/v3/devices/${deviceId}`, token, "GET");
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body.attributes[name]?.value;
}

export function idsOf(page: { readonly devices: readonly { readonly deviceId: DeviceId }[] }): readonly DeviceId[] {
  return page.devices.map(({ deviceId }) => deviceId);
}
