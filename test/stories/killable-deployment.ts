import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import type { TestContext } from "node:test";
import { type SimulatorOptions, startSimulator } from "../../simulator/simulator.ts";
import { runCommand } from "../cli/run-command.ts";
import { type Deployment, databaseFor } from "../set-up/deployment.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";
import { killableNodes } from "./killable-nodes.ts";
import { PlatformClient } from "./platform-client.ts";
import { authorize, callback, type V3Client } from "./v3-client.ts";
import { person } from "./world.ts";

/** A data folder with a tenant, a user and a client, and a simulator. The test starts and kills services on it. */
export async function killableDeployment(test: TestContext, database: Deployment, ecosystem: SimulatorOptions = {}) {
  const folder = await newDataFolder("breezeway-kill-");
  const simulator = await startSimulator({ port: 0, ...ecosystem });
  const environment: Record<string, string> = {
    BREEZEWAY_DATA: folder,
    BREEZEWAY_PORT: "0",
    BREEZEWAY_LOG_LEVEL: "silent",
    BREEZEWAY_ECOSYSTEMS: JSON.stringify({ nest: { protocol: "nest", apiUrl: simulator.url } }),
  };
  const databaseUrl = await databaseFor(database);
  if (databaseUrl !== undefined) environment.BREEZEWAY_DATABASE_URL = databaseUrl;
  const nodes = await killableNodes(test, database, environment);
  test.after(async () => {
    await simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const tenant = await runCommand(["tenant", "add", "--name", "Story", "--json"], { environment });
  const appId = JSON.parse(tenant.stdout).tenantId as number;
  const user = ["user", "add", "--tenant", "Story", "--name", person.name];
  const added = await runCommand(user, { environment, input: `${person.password}\n` });
  assert.equal(added.code, 0, added.stderr);
  const addClient = ["client", "add", "--tenant", "Story", "--name", "Story", "--redirect-uri", callback, "--json"];
  const credentials = JSON.parse((await runCommand(addClient, { environment })).stdout);
  let ownUrl = "";
  const client = new PlatformClient(() => house.baseUrl);
  const house = {
    simulator,
    environment,
    client,
    /** The service in child processes that the test starts and kills. */
    nodes,
    /** The address of the running service: that of `nodes`, or of a service that the test has started itself. */
    get baseUrl() {
      return ownUrl || nodes.baseUrl;
    },
    set baseUrl(url: string) {
      ownUrl = url;
    },
    /** A client of /v3 with the user's consent. */
    authorizeClient: (scope?: string): Promise<V3Client> => authorize(() => house.baseUrl, credentials, person, scope),
    signIn: () => client.login(person.name, person.password, appId),
  };
  return house;
}
