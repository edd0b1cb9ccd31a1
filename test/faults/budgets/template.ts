import { generateKeyPairSync } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { addAlexaOutletAt, addGoogleOutletAt } from "../../../bench/assisted-homes.ts";
import { addClient, addGrant } from "../../../bench/granted-client.ts";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import type { TenantId } from "../../../src/model/ids.ts";
import type { Parts } from "../../../src/service/parts.ts";
import { sharedCluster } from "../../set-up/postgres.ts";
import type { Deployment, Target } from "./attack.ts";
import { googleProject, googleSubscription } from "./hostile-cloud.ts";

/** The checkout whose service is attacked: this one, or an older one for comparison. */
const thisTree = new URL("../../../", import.meta.url).pathname;
export const tree = process.env.BREEZEWAY_UNDER_TEST ?? thisTree;
export const isThisTree = tree === thisTree;

/** The attacker's neighbour: its devices, its alarm and its password. */
export interface Neighbour {
  readonly tenantId: number;
  readonly accessToken: string;
  readonly accountId: string;
  readonly virtual: number;
  readonly lamp: number;
  readonly person: { readonly name: string; readonly password: string };
}

/** A store with two tenants; each attack gets a copy. */
export interface Template {
  readonly simulator: Simulator;
  readonly neighbour: Neighbour;
  readonly attacker: Omit<Target, "url">;
  /** Copies the store and returns the settings of a service on it. */
  copy(): Promise<Readonly<Record<string, string>>>;
  /** Works on a store before a service runs on it. */
  open<Result>(settings: Readonly<Record<string, string>>, work: (parts: Parts) => Promise<Result>): Promise<Result>;
  stop(): Promise<void>;
}

const devicesOfAttacker = 10;
/** Of the attacker's enterprise client. */
export const attackersQuota = { "requests-per-minute": 600, "commands-per-minute": 60 } as const;
const house = { structures: [{ thermostats: 2, alarms: 2 }] };

/** `cloudUrl`: the address of the hostile services. */
export async function makeTemplate(deployment: Deployment, cloudUrl: string): Promise<Template> {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-budgets-"));
  const simulator = await startSimulator({ port: 0 });
  const cluster = deployment === "SQLite, direct" ? undefined : await sharedCluster();
  const databaseUrl = await cluster?.createDatabase();
  const serviceAccount = newServiceAccount(cloudUrl);
  const serviceAccountFile = join(folder, "service-account.json");
  writeFileSync(serviceAccountFile, serviceAccount);
  const settings: Record<string, string> = {
    BREEZEWAY_DATA: join(folder, "template"),
    BREEZEWAY_PORT: "0",
    BREEZEWAY_LOG_LEVEL: "warn",
    BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true",
    BREEZEWAY_ECOSYSTEMS: JSON.stringify({
      // By name, so that a look-up is needed, as for a real ecosystem.
      nest: { protocol: "nest", apiUrl: `http://localhost:${simulator.port}` },
      hostile: { protocol: "nest", apiUrl: `${cloudUrl}/nest` },
      home: { protocol: "home-assistant", allowPrivateNetworks: true },
      google: googleSettings(cloudUrl, serviceAccountFile),
    }),
    BREEZEWAY_OPERATOR_OIDC_ISSUER: `${cloudUrl}/openid`,
    BREEZEWAY_OPERATOR_OIDC_CLIENT_ID: "breezeway",
    BREEZEWAY_OPERATOR_OIDC_CLIENT_SECRET: "secret",
    BREEZEWAY_OPERATOR_OIDC_ROLES: JSON.stringify([{ claim: "groups", value: "ops", role: "owner", tenants: [] }]),
    ...(databaseUrl !== undefined && {
      BREEZEWAY_DATABASE_URL: databaseUrl,
      BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1",
    }),
  };
  const people = await open(settings, (parts) => fill(parts, { simulator, cloudUrl, serviceAccount }));
  let copies = 0;
  return {
    simulator,
    ...people,
    open,
    async copy() {
      copies += 1;
      const copied = { ...settings, BREEZEWAY_DATA: join(folder, `copy-${copies}`) };
      cpSync(settings.BREEZEWAY_DATA!, copied.BREEZEWAY_DATA, { recursive: true });
      if (databaseUrl === undefined) return copied;
      return { ...copied, BREEZEWAY_DATABASE_URL: await copyDatabase(cluster!.url, databaseUrl, copies) };
    },
    async stop() {
      await simulator.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs the parts of the service under test on a store. */
async function open<Result>(
  settings: Readonly<Record<string, string>>,
  work: (parts: Parts) => Promise<Result>,
): Promise<Result> {
  // Older checkouts have these files in the root of `src`.
  const load = (path: string, formerly: string) => {
    const file = join(tree, "src", path);
    return import(pathToFileURL(existsSync(file) ? file : join(tree, "src", formerly)).href);
  };
  const { openParts } = (await load(
    "service/parts.ts",
    "service.ts",
  )) as typeof import("../../../src/service/parts.ts");
  const { readConfig } = (await load(
    "config/config.ts",
    "config.ts",
  )) as typeof import("../../../src/config/config.ts");
  const { startLogging } = (await load(
    "runtime/process/log.ts",
    "logging.ts",
  )) as typeof import("../../../src/runtime/process/log.ts");
  const parts = await openParts(readConfig({ flags: {}, environment: settings }), startLogging("warn"));
  try {
    return await work(parts);
  } finally {
    await parts.federation.stop();
    await parts.close();
  }
}

interface FillParts {
  readonly simulator: Simulator;
  readonly cloudUrl: string;
  readonly serviceAccount: string;
}

/** Adds the two tenants before the service runs. */
async function fill(parts: Parts, { simulator, cloudUrl, serviceAccount }: FillParts) {
  const { identity, oauth, federation, administration, operators, store } = parts;
  const password = "correct horse battery";
  const account = async (tenant: string, name: string, seed: number) => {
    const { tenantId } = await identity.addTenant({ name: tenant });
    const userId = await identity.addUser({ tenant, name, password, isAdmin: false });
    const { accountId, token } = simulator.addAccount({ seed, ...house });
    const virtual = await federation.link(userId, "nest", token);
    const client = await addClient({ oauth } as Parameters<typeof addClient>[0], tenantId);
    const granted = await store.transaction((tx) => addGrant(tx, client, userId));
    const addLamp = async (lamp: number) => {
      const device = { user: String(userId), name: `Lamp ${lamp}`, type: "Lamp" };
      return (await administration.run("device add", device)) as { readonly deviceId: number };
    };
    return { tenantId, userId, accountId, virtual, client, ...granted, addLamp };
  };
  const quiet = await account("Quiet", "ada", 1);
  const loud = await account("Loud", "eve", 2);
  await federation.link(loud.userId, "hostile", "hostile-token");
  await federation.link(loud.userId, "google", { accessToken: "hostile", refreshToken: "hostile" });
  const outlets = {
    google: await addGoogleOutletAt({ administration }, loud, { homeGraphUrl: cloudUrl, serviceAccount }),
    alexa: await addAlexaOutletAt({ administration }, loud, `${cloudUrl}/amazon`),
  };
  const tokenAt = (client: typeof outlets.google) =>
    store.transaction(async (tx) => (await addGrant(tx, client, loud.userId)).accessToken);
  const devices: number[] = [];
  for (let i = 0; i < devicesOfAttacker; i++) devices.push((await loud.addLamp(i)).deviceId);
  const registration = {
    tenant: "Loud",
    name: "Machine",
    kind: "enterprise",
    redirectUris: [],
    requiresPkce: false,
  } as const;
  const machine = await oauth.addClient(registration);
  const quota = Object.entries(attackersQuota).map(([kind, value]) => [kind, String(value)]);
  // An older checkout has no quotas; then nothing is asserted.
  await administration
    .run("quota set", { client: machine.client.id, ...Object.fromEntries(quota) })
    .catch((error) => isThisTree && Promise.reject(error));
  const neighbour: Neighbour = {
    tenantId: quiet.tenantId,
    accessToken: quiet.accessToken,
    accountId: quiet.accountId,
    virtual: quiet.virtual,
    lamp: (await quiet.addLamp(0)).deviceId,
    person: { name: "ada", password },
  };
  const attacker: Omit<Target, "url"> = {
    accessToken: loud.accessToken,
    refreshToken: loud.refreshToken,
    secToken: await identity.issueFor(loud.userId),
    tenantId: loud.tenantId,
    client: loud.client.credentials,
    enterprise: { client_id: machine.client.id, client_secret: machine.secret },
    devices,
    virtual: loud.virtual,
    person: { name: "eve", password },
    operatorToken: await administratorOf(operators, loud.tenantId),
    googleToken: await tokenAt(outlets.google),
    alexaToken: await tokenAt(outlets.alexa),
  };
  return { neighbour, attacker };
}

/** An administrator of one tenant, with a token. */
async function administratorOf(operators: Parts["operators"], tenantId: TenantId): Promise<string> {
  const link = await operators.invite({ name: "edith", role: "tenantAdmin", tenantIds: [tenantId] });
  const origin = { tenant: "", source: "127.0.0.1", userAgent: "budgets" };
  const session = await operators.takeLink("invitation", link, {
    name: "edith",
    password: "correct horse battery",
    ...origin,
  });
  const { operatorId } = await operators.bySession(session);
  return (await operators.addToken(operatorId, { name: "budgets", days: 1 })).secret;
}

function googleSettings(cloudUrl: string, serviceAccountFile: string) {
  const at = `${cloudUrl}/google`;
  const client = { projectId: googleProject, clientId: "breezeway", clientSecret: "secret" };
  const addresses = {
    apiUrl: at,
    authUrl: `${at}/auth`,
    tokenUrl: `${at}/token`,
    revokeUrl: `${at}/revoke`,
    pubsubUrl: at,
  };
  return {
    protocol: "google-device-access",
    ...client,
    subscription: googleSubscription,
    serviceAccountFile,
    ...addresses,
  };
}

function newServiceAccount(cloudUrl: string): string {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  return JSON.stringify({
    client_email: "hostile@project.example",
    private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
    token_uri: `${cloudUrl}/maker/token`,
  });
}

async function copyDatabase(adminUrl: string, databaseUrl: string, copies: number): Promise<string> {
  const template = new URL(databaseUrl).pathname.slice(1);
  const copied = `${template}_copy_${copies}`;
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${copied} TEMPLATE ${template}`);
  await client.end();
  return databaseUrl.replace(/[^/]*$/, copied);
}
