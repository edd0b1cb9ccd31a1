import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { DeviceId, TenantId, UserId } from "../src/model/ids.ts";
import type { Parts } from "../src/service/parts.ts";
import { databaseName } from "../src/store/backup/manifest.ts";
import { startCluster } from "../test/set-up/postgres.ts";
import { LivingEcosystem } from "./ecosystems/living-ecosystem.ts";
import { MeasuredProcess } from "./measured-process.ts";
import { serverCpu } from "./postgres-server.ts";
import { type PreparedFolder, prepare, preparedFolder } from "./prepared-folder.ts";

/** The ecosystem has two addresses: a node has about 28,000 ports for connections to one of them. */
const addresses = ["127.0.0.1", "127.0.0.2"];
const names = ["first", "second"];
/** A process that links accounts follows them too, so it links some at a time. */
const linkedByOneProcess = 4_000;
const linkedAtOnce = 50;
const longestStartMs = 1_200_000;

/** A store of the deployment, with what it has cost so far. */
interface MeasuredStore {
  readonly settings: Readonly<Record<string, string>>;
  bytes(): Promise<number>;
  /** The CPU time of the database server in microseconds; of SQLite it is part of its node's. */
  cpuUs(): number;
  /** The number of links of the node that has most. */
  mostOfNode(): Promise<number>;
}

/** Nodes that follow very many accounts of a living ecosystem. */
export interface SizedDeployment extends AsyncDisposable {
  readonly ecosystems: readonly LivingEcosystem[];
  readonly nodes: readonly MeasuredProcess[];
  readonly store: MeasuredStore;
  /** The number of the account in its ecosystem, by its virtual device. Numbers of different ecosystems differ. */
  readonly accountOf: ReadonlyMap<DeviceId, number>;
  /** A token with access to all devices. */
  readonly accessToken: string;
  /** The secret of an owner's session in the console. */
  readonly ownerSession: string;
  /** How long it took from the start of the first node until all streams were open. The nodes may still divide them. */
  readonly startedWithinMs: number;
  /** The memory of a node without links. */
  readonly emptyRssBytes: number;
}

export interface DeploymentSize {
  readonly links: number;
  readonly nodes: number;
  /** Adds what the row needs besides linked accounts, before the nodes start. */
  readonly prepareMore?: (parts: Parts, tenantId: TenantId) => Promise<void>;
}

/** One node stores in SQLite, several in PostgreSQL. */
export async function sizedDeployment(
  { links, nodes, prepareMore }: DeploymentSize,
  progress: (sentence: string) => void,
): Promise<SizedDeployment> {
  await using finishing = new AsyncDisposableStack();
  const ecosystems: LivingEcosystem[] = [];
  for (const address of addresses) ecosystems.push(finishing.use(await LivingEcosystem.start(address)));
  const configured = ecosystems.map(({ url }, index) => [names[index]!, { protocol: "nest", apiUrl: url }]);
  const common = { BREEZEWAY_ECOSYSTEMS: JSON.stringify(Object.fromEntries(configured)), BREEZEWAY_LOG_LEVEL: "warn" };
  const emptyRssBytes = await emptyMemory(common);
  const database = nodes === 1 ? undefined : await postgresStore(finishing);
  const folder = finishing.use(preparedFolder({ ...common, ...database?.settings }));
  const store = database ?? sqliteStore(folder);
  const tenantId = await prepare(
    folder,
    async ({ identity }) => (await identity.addTenant({ name: "Bench" })).tenantId,
  );
  const accountOf = new Map<DeviceId, number>();
  for (let from = 0; from < links; from += linkedByOneProcess) {
    const accounts = Array.from({ length: Math.min(linkedByOneProcess, links - from) }, (_, i) => from + i);
    for (const [device, account] of await link(folder, tenantId, accounts)) accountOf.set(device, account);
    progress(`${accountOf.size} of ${links} accounts are linked`);
  }
  const { accessToken, ownerSession } = await prepare(folder, async (parts) => {
    const { oauth, operators } = parts;
    await prepareMore?.(parts, tenantId);
    const owner = { name: "ada", password: "correct horse", tenant: "", source: "127.0.0.1", userAgent: "bench" };
    return {
      accessToken: await oauth.commandTokens.issue(tenantId, "bench"),
      ownerSession: await operators.takeLink("claim", await operators.claimLink(), owner),
    };
  });
  const startedMs = performance.now();
  // All at once: a node that starts alone takes all links, and hands them over to the others only a few at a time.
  const starting = Array.from({ length: nodes }, () => MeasuredProcess.service(folder.settings));
  const running: MeasuredProcess[] = [];
  for (const node of starting) running.push(finishing.use(await node));
  for (const [index, ecosystem] of ecosystems.entries()) {
    await ecosystem.untilFollowed(Math.ceil((links - index) / ecosystems.length), longestStartMs);
  }
  const startedWithinMs = performance.now() - startedMs;
  // The nodes may have to hand some links over to each other.
  while (nodes > 1 && (await store.mostOfNode()) > Math.ceil(links / nodes) + nodes) {
    if (performance.now() - startedMs > longestStartMs) throw new Error("the links are not divided evenly");
    await sleep(500);
  }
  const kept = finishing.move();
  return {
    ecosystems,
    nodes: running,
    store,
    accountOf,
    accessToken,
    ownerSession,
    startedWithinMs,
    emptyRssBytes,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function emptyMemory(settings: Readonly<Record<string, string>>): Promise<number> {
  using folder = preparedFolder(settings);
  await using service = await MeasuredProcess.service(folder.settings);
  return (await service.usage()).rssBytes;
}

/** Links through the federation itself, which reads each account from the ecosystem. */
function link(
  folder: PreparedFolder,
  tenantId: TenantId,
  accounts: readonly number[],
): Promise<readonly (readonly [DeviceId, number])[]> {
  return prepare(folder, async ({ store, federation }) => {
    const users = await store.transaction(async (tx) => {
      const added: UserId[] = [];
      for (const account of accounts) {
        // Thousands of hashes of passwords would take too long. These users can't sign in.
        const user = { tenantId, name: `user${account}`, passwordHash: "no valid hash", isAdmin: false };
        added.push((await tx.users.add(user))!);
      }
      return added;
    });
    const linked: (readonly [DeviceId, number])[] = [];
    const unlinked = accounts.entries();
    const linkSome = async () => {
      for (const [index, account] of unlinked) {
        const ecosystem = names[account % names.length]!;
        linked.push([await federation.link(users[index]!, ecosystem, LivingEcosystem.tokenOf(account)), account]);
      }
    };
    await Promise.all(Array.from({ length: linkedAtOnce }, linkSome));
    return linked;
  });
}

function sqliteStore({ path }: PreparedFolder): MeasuredStore {
  return {
    settings: {},
    async bytes() {
      const files = readdirSync(path).filter((name) => name.startsWith(databaseName));
      return files.reduce((sum, name) => sum + (statSync(join(path, name), { throwIfNoEntry: false })?.size ?? 0), 0);
    },
    cpuUs: () => 0,
    mostOfNode: async () => 0,
  };
}

async function postgresStore(finishing: AsyncDisposableStack): Promise<MeasuredStore> {
  const cluster = await startCluster();
  finishing.defer(() => cluster.stop());
  const url = await cluster.createDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  finishing.defer(() => client.end());
  return {
    settings: { BREEZEWAY_DATABASE_URL: url },
    async bytes() {
      const { rows } = await client.query("SELECT pg_database_size(current_database())::float8 AS bytes");
      return rows[0].bytes;
    },
    cpuUs: await serverCpu(client),
    async mostOfNode() {
      const { rows } = await client.query("SELECT COUNT(*)::int AS links FROM links GROUP BY owner ORDER BY 1 DESC");
      return rows[0].links;
    },
  };
}
