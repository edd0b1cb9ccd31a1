import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { addClient, addGrant } from "../../../bench/granted-client.ts";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { sharedCluster } from "../../set-up/postgres.ts";
import type { Deployment, Target } from "./attack.ts";

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
  stop(): Promise<void>;
}

const devicesOfAttacker = 10;
/** Of the attacker's enterprise client. */
export const attackersQuota = { "requests-per-minute": 600, "commands-per-minute": 60 } as const;
const house = { structures: [{ thermostats: 2, alarms: 2 }] };

export async function makeTemplate(deployment: Deployment, hostileUrl: string): Promise<Template> {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-budgets-"));
  const simulator = await startSimulator({ port: 0 });
  const cluster = deployment === "SQLite, direct" ? undefined : await sharedCluster();
  const databaseUrl = await cluster?.createDatabase();
  const settings: Record<string, string> = {
    BREEZEWAY_DATA: join(folder, "template"),
    BREEZEWAY_PORT: "0",
    BREEZEWAY_LOG_LEVEL: "warn",
    BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true",
    BREEZEWAY_ECOSYSTEMS: JSON.stringify({
      // By name, so that a look-up is needed, as for a real ecosystem.
      nest: { protocol: "nest", apiUrl: `http://localhost:${simulator.port}` },
      hostile: { protocol: "nest", apiUrl: hostileUrl },
    }),
    ...(databaseUrl !== undefined && {
      BREEZEWAY_DATABASE_URL: databaseUrl,
      BREEZEWAY_TRUSTED_PROXIES: "127.0.0.1",
    }),
  };
  const people = await fill(settings, simulator);
  let copies = 0;
  return {
    simulator,
    ...people,
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

/** Fills the store with the parts of the service under test, before the service runs. */
async function fill(settings: Readonly<Record<string, string>>, simulator: Simulator) {
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
    const { identity, oauth, federation, administration, store } = parts;
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
    };
    return { neighbour, attacker };
  } finally {
    await parts.federation.stop();
    await parts.close();
  }
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
