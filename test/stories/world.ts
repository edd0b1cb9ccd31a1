import { rmSync } from "node:fs";
import type { TestContext } from "node:test";
import { type Simulator, type SimulatorOptions, startSimulator } from "../../simulator/simulator.ts";
import { type Config, readConfig } from "../../src/config/config.ts";
import { simulatedEcosystemAt } from "../../src/ecosystems/registry.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { addDevice } from "../../src/provisioning/operator-devices.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { type Service, startService } from "../../src/service/service.ts";
import { cheapPasswords } from "../set-up/cheap-passwords.ts";
import { type Deployment, databaseFor, type RunningNode, runDeployment } from "../set-up/deployment.ts";
import { type FaultProxy, startFaultProxy } from "../set-up/fault-proxy.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";
import { PlatformClient } from "./platform-client.ts";

export {
  type Deployment,
  databases,
  deployments,
  longSuiteOn,
  surfaceDatabases,
  surfaceDeployments,
} from "../set-up/deployment.ts";

/** The options of a story's world; all have defaults. */
export interface WorldPlan {
  readonly database?: Deployment;
  readonly seed?: number;
  /** Puts a fault-injecting proxy between the service and the simulator. */
  readonly hasProxy?: boolean;
  /** The speed of the service's clock: with 60, a minute of the service takes a second. */
  readonly clockSpeed?: number;
  readonly allowsPrivateWebhooks?: boolean;
  /** Origins whose pages may call the service from a browser. */
  readonly corsOrigins?: readonly string[];
  /** Settings of further ecosystems, by name. */
  readonly furtherEcosystems?: Readonly<Record<string, object>>;
  /** Options of the simulated ecosystem. */
  readonly ecosystem?: SimulatorOptions;
  readonly structures?: readonly { readonly name?: string; readonly thermostats?: number; readonly alarms?: number }[];
}

/** The real service and the simulator on loopback, a user with a secToken, and an account in the simulator. */
export interface World {
  readonly simulator: Simulator;
  /** Only with `hasProxy`. */
  readonly proxy: FaultProxy;
  readonly accountId: string;
  readonly accountToken: string;
  readonly userId: UserId;
  readonly client: PlatformClient;
  readonly config: Config;
  /** All log lines of the service. */
  readonly logged: string[];
  readonly service: Service;
  /** The nodes behind the service; without a balancer the service itself. */
  readonly nodes: readonly RunningNode[];
  /** The service's clock. */
  readonly nowMs: () => number;
  /** Links the account and returns the virtual device's id. */
  link(): Promise<DeviceId>;
  /** Adds an ordinary device of the user. */
  addLamp(name?: string): Promise<DeviceId>;
  /** Stops the service and starts it again on the same store. */
  restart(): Promise<void>;
}

export const person = { name: "ada", password: "correct horse" };

export async function world(test: TestContext, plan: WorldPlan = {}): Promise<World> {
  const folder = await newDataFolder("breezeway-story-");
  const simulator = await startSimulator({ port: 0, ...plan.ecosystem });
  const { accountId, token } = simulator.addAccount({
    seed: plan.seed ?? 1,
    structures: plan.structures ?? [{}],
  } as never);
  const databaseUrl = await databaseFor(plan.database);
  const logged: string[] = [];
  const proxy = plan.hasProxy ? await startFaultProxy(simulator.url) : undefined;
  const config = {
    ...storyConfig(folder, proxy?.url ?? simulator.url, databaseUrl, plan.furtherEcosystems),
    allowPrivateWebhooks: plan.allowsPrivateWebhooks ?? false,
    corsOrigins: plan.corsOrigins ?? [],
  };
  const report = startLogging("debug", { write: (line) => void logged.push(line) });
  const runtime = withClockSpeed(processRuntime(report), plan.clockSpeed ?? 1);
  const start = (nodeConfig: Config) => startService(nodeConfig, report, runtime, cheapPasswords);
  const deployment = await runDeployment(test, plan.database, config, start);
  test.after(async () => {
    await deployment.end();
    await proxy?.stop();
    await simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const { service } = deployment;
  const { tenantId } = await service.parts.identity.addTenant({ name: "Story" });
  const userId = await service.parts.identity.addUser({ tenant: "Story", ...person, isAdmin: false });
  const client = new PlatformClient(() => deployment.service.baseUrl);
  await client.login(person.name, person.password, tenantId);
  return {
    simulator,
    get proxy() {
      if (!proxy) throw new Error("this world has no proxy");
      return proxy;
    },
    accountId,
    accountToken: token,
    userId,
    client,
    config,
    logged,
    nowMs: runtime.nowMs,
    get service() {
      return deployment.service;
    },
    get nodes() {
      return deployment.nodes;
    },
    async link() {
      const { body } = await client.federate("POST", token);
      return Number(body.DeviceId) as DeviceId;
    },
    addLamp: (name = "Lamp") => addDevice(deployment.service.parts.store, { userId, name, typeName: "Lamp" }),
    restart: () => deployment.restart(),
  };
}

export function storyConfig(
  dataFolder: string,
  apiUrl: string,
  databaseUrl?: string,
  furtherEcosystems: WorldPlan["furtherEcosystems"] = {},
): Config {
  const { consent, ...simulated } = simulatedEcosystemAt(apiUrl);
  const ecosystems = { nest: { ...simulated, ...consent }, ...furtherEcosystems };
  const environment = {
    BREEZEWAY_DATA: dataFolder,
    BREEZEWAY_PORT: "0",
    BREEZEWAY_ECOSYSTEMS: JSON.stringify(ecosystems),
    BREEZEWAY_DATABASE_URL: databaseUrl,
  };
  return readConfig({ flags: {}, environment });
}

function withClockSpeed(runtime: Runtime, clockSpeed: number): Runtime {
  const startMs = runtime.nowMs();
  return {
    ...runtime,
    nowMs: () => Math.floor(startMs + (runtime.nowMs() - startMs) * clockSpeed),
    elapsedMs: () => runtime.elapsedMs() * clockSpeed,
    after: (delayMs, act) => runtime.after(delayMs / clockSpeed, act),
  };
}

/** The deadline of a wait in a test that has no timeout of its own, so that the run ends and names the test. */
const longestWaitMs = 300_000;

/**
 * Waits until a check passes. The test's own timeout is the deadline. The checks become rarer: a long wait must not spend
 * the CPU time that the service needs.
 */
export async function eventually<Result>(
  ofTest: AbortSignal,
  check: () => Result | Promise<Result>,
  { firstPauseMs = 10 } = {},
): Promise<Result> {
  const signal = AbortSignal.any([ofTest, AbortSignal.timeout(longestWaitMs)]);
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.2, 100)) {
    try {
      return await check();
    } catch (error) {
      // Node reports a timeout without saying what the test waited for.
      if (ofTest.aborted) process.stderr.write(`A test ended while it waited: ${error}\n`);
      if (signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
