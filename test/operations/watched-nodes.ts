import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import pg from "pg";
import type { Config } from "../../src/config/config.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { type Service, startService } from "../../src/service/service.ts";
import { readExposition } from "../metrics/read-exposition.ts";
import { type Deployment, databaseFor } from "../set-up/deployment.ts";
import { PlatformClient } from "../stories/platform-client.ts";
import { clientOfUser } from "../stories/v3-client.ts";
import { person, storyConfig } from "../stories/world.ts";

/** A parsed line of the log. */
export type Line = { readonly level: string; readonly message: string } & Readonly<Record<string, unknown>>;

/** The deployments of an operator: one node on SQLite, or two nodes on one PostgreSQL. */
export const operated = ["sqlite", "postgres"] as const satisfies readonly Deployment[];

const unusedAddress = "http://127.0.0.1:9";

/** The service with `BREEZEWAY_LOG_LEVEL=warn`, a user with a lamp, and its log lines and metrics. */
export async function watchedNodes(t: TestContext, database: (typeof operated)[number], change: Partial<Config> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-operations-"));
  const databaseUrl = await databaseFor(database);
  const config = { ...storyConfig(folder, unusedAddress, databaseUrl), ...change };
  const lines: Line[] = [];
  const report = startLogging("warn", { write: (line) => void lines.push(JSON.parse(line)) });
  const started: Service[] = [];
  const start = async () => {
    const service = await startService(config, report);
    started.push(service);
    return service;
  };
  const nodes = [await start(), ...(databaseUrl ? [await start()] : [])];
  t.after(async () => {
    await Promise.all(started.map((service) => service.stop()));
    rmSync(folder, { recursive: true, force: true });
  });
  const [first] = nodes as [Service];
  const { identity, administration } = first.parts;
  const { tenantId } = await identity.addTenant({ name: "Story" });
  const userId = await identity.addUser({ tenant: "Story", ...person, isAdmin: false });
  const lamp = { user: String(userId), name: "Lamp", type: "Lamp" };
  const { deviceId } = (await administration.run("device add", lamp)) as { deviceId: DeviceId };
  const v3 = await clientOfUser(() => first, "Story", person);
  const platform = new PlatformClient(() => first.baseUrl);
  await platform.login(person.name, person.password, tenantId);
  return {
    folder,
    config,
    nodes,
    first,
    lines,
    tenantId,
    userId,
    deviceId,
    v3,
    platform,
    /** Starts one more node, or the service again after a stop. */
    start,
    /** Runs SQL directly on the store. */
    sql: (statement: string) => runSql(databaseUrl, join(folder, "breezeway.db"), statement),
    /** The log lines of the request. */
    lineOf: (requestId: string | null) => lines.filter((line) => line.requestId === requestId),
  };
}

/** The value of a metric; undefined if it does not exist. */
export async function figure({ baseUrl }: Pick<Service, "baseUrl">, name: string, labels: Record<string, string> = {}) {
  const { samples } = readExposition(await (await fetch(`${baseUrl}/metrics`)).text());
  const hasLabels = (present: Readonly<Record<string, string>>) =>
    Object.entries(labels).every(([label, value]) => present[label] === value);
  return samples.find((one) => one.name === name && hasLabels(one.labels))?.value;
}

async function runSql(databaseUrl: string | undefined, file: string, statement: string): Promise<void> {
  if (databaseUrl === undefined) {
    const database = new DatabaseSync(file, { timeout: 5_000 });
    database.exec(statement);
    database.close();
    return;
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(statement);
  await client.end();
}
