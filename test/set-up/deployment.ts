import type { TestContext } from "node:test";
import type { Config } from "../../src/config/config.ts";
import type { Service } from "../../src/service/service.ts";
import { startBalancer } from "./balancer.ts";
import { hasPostgres, isAll } from "./extent.ts";
import { freePort } from "./free-port.ts";
import { sharedCluster } from "./postgres.ts";
import { seededRandom } from "./seeded-random.ts";

/** How a story's service runs: on its own on one of the stores, or as three nodes on one PostgreSQL. */
export type Deployment = "sqlite" | "postgres" | "three nodes";

/** `npm run faults -- spread` tells every story on three nodes, and nowhere else. */
export const isSpread = process.env.SPREAD === "true";

/** Where stories are told: on both stores. */
export const databases: readonly Deployment[] = isSpread
  ? ["three nodes"]
  : hasPostgres
    ? ["sqlite", "postgres"]
    : ["sqlite"];

/**
 * Where stories run whose subject depends on the store or on the nodes. `npm test` leaves out one node on PostgreSQL:
 * three nodes on PostgreSQL do all that one node does.
 */
export const deployments: readonly Deployment[] =
  isSpread || !hasPostgres ? databases : [...(isAll ? databases : (["sqlite"] as const)), "three nodes"];

/**
 * Where a long suite runs: everywhere with `npm run test:all`, on one deployment with `npm test`. The suites choose
 * different ones, so that each deployment sees kills, faults and random steps.
 */
export function longSuiteOn(short: Deployment, everywhere: readonly Deployment[] = databases): readonly Deployment[] {
  return isAll || isSpread || !hasPostgres ? everywhere : [short];
}

/** The same for stories whose subject depends neither on the store nor on the nodes. */
export const surfaceDeployments: readonly Deployment[] = isAll || isSpread ? deployments : ["sqlite"];

/** Where tests of the surface run, whose statements don't depend on the store. */
export const surfaceDatabases: readonly Deployment[] = isAll || isSpread ? databases : ["sqlite"];

export interface RunningDeployment {
  /** What it looks like from outside; of three nodes its parts are those of any, each time another. */
  readonly service: Service;
  readonly nodes: readonly RunningNode[];
  /** Stops what runs and starts it again on what it has kept: of three nodes one after the other, as one would. */
  restart(): Promise<void>;
  /** Stops all of it. */
  end(): Promise<void>;
}

/** A node, and where it listens itself. */
export interface RunningNode {
  readonly service: Service;
  readonly url: string;
}

/** A database without data for that deployment; undefined: it has a folder. */
export async function databaseFor(deployment: Deployment | undefined): Promise<string | undefined> {
  if (deployment === undefined || deployment === "sqlite") return undefined;
  return (await sharedCluster()).createDatabase({ hasSchema: true });
}

/** Runs the service as that deployment. The caller ends it. */
export function runDeployment(
  test: TestContext,
  deployment: Deployment | undefined,
  config: Config,
  start: (config: Config) => Promise<Service>,
): Promise<RunningDeployment> {
  return deployment === "three nodes" ? runThree(test, config, start) : runOne(config, start);
}

async function runOne(config: Config, start: (config: Config) => Promise<Service>): Promise<RunningDeployment> {
  let service = await start(config);
  return {
    get service() {
      return service;
    },
    get nodes() {
      return [{ service, url: service.baseUrl }];
    },
    async restart() {
      await service.stop();
      service = await start(config);
    },
    end: () => service.stop(),
  };
}

async function runThree(
  test: TestContext,
  config: Config,
  start: (config: Config) => Promise<Service>,
): Promise<RunningDeployment> {
  const random = seededRandom(test);
  const balancer = await startBalancer(random);
  const nodes = new Map<number, Service>();
  const startNode = async () => {
    const port = await freePort();
    nodes.set(port, await start({ ...config, port, baseUrl: balancer.url }));
    balancer.ports = [...nodes.keys()];
  };
  /** Nobody is sent to it any more before it stops. */
  const stopNode = async (port: number) => {
    const node = nodes.get(port)!;
    nodes.delete(port);
    balancer.ports = [...nodes.keys()];
    await node.stop();
  };
  const startAll = async () => {
    while (nodes.size < 3) await startNode();
  };
  await startAll();
  const service: Service = {
    baseUrl: balancer.url,
    get parts() {
      return [...nodes.values()][Math.floor(random() * nodes.size)]!.parts;
    },
    async stop() {
      for (const port of nodes.keys()) await stopNode(port);
    },
    reload() {
      for (const node of nodes.values()) node.reload();
    },
  };
  return {
    service,
    get nodes() {
      return [...nodes].map(([port, node]) => ({ service: node, url: `http://127.0.0.1:${port}` }));
    },
    async restart() {
      for (const port of [...nodes.keys()]) {
        await stopNode(port);
        await startNode();
      }
      await startAll();
    },
    async end() {
      await service.stop();
      balancer.stop();
    },
  };
}
