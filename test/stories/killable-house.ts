import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type SimulatorOptions, startSimulator } from "../../simulator/simulator.ts";
import { sharedCluster } from "../set-up/postgres.ts";
import { breezeway } from "./child-service.ts";
import { PlatformClient } from "./platform-client.ts";
import { callback, letIn, type V3Client } from "./v3-client.ts";
import { type Database, person } from "./world.ts";

/** A data folder with a tenant and a user, a simulator, and a client; services come and go on it as the test likes. */
export async function killableHouse(test: TestContext, database: Database, ecosystem: SimulatorOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-kill-"));
  const simulator = await startSimulator({ port: 0, ...ecosystem });
  test.after(async () => {
    await simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const environment: Record<string, string> = {
    BREEZEWAY_DATA: folder,
    BREEZEWAY_PORT: "0",
    BREEZEWAY_LOG_LEVEL: "silent",
    BREEZEWAY_ECOSYSTEMS: JSON.stringify({ nest: { protocol: "nest", apiUrl: simulator.url } }),
  };
  if (database === "postgres") environment.BREEZEWAY_DATABASE_URL = await (await sharedCluster()).createDatabase();
  const tenant = await breezeway(["tenant", "add", "--name", "Story", "--json"], { environment });
  const appId = JSON.parse(tenant.stdout).tenantId as number;
  const user = ["user", "add", "--tenant", "Story", "--name", person.name];
  const added = await breezeway(user, { environment, input: `${person.password}\n` });
  assert.equal(added.code, 0, added.stderr);
  const made = ["client", "add", "--tenant", "Story", "--name", "Story", "--redirect-uri", callback, "--json"];
  const credentials = JSON.parse((await breezeway(made, { environment })).stdout);
  const client = new PlatformClient(() => house.baseUrl);
  const house = {
    simulator,
    environment,
    client,
    /** Where the service that runs just now listens. */
    baseUrl: "",
    /** A client of /v3 to which the user has said yes. */
    letClientIn: (): Promise<V3Client> => letIn(() => house.baseUrl, credentials, person),
    signIn: () => client.login(person.name, person.password, appId),
  };
  return house;
}
