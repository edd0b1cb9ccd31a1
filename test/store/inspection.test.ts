import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { type DeploymentParts, deploymentFacts } from "../../src/service/deployment-facts.ts";
import { inspectStore } from "../../src/store/inspection.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";

describe("a look at a PostgreSQL that is in trouble", () => {
  it("tells the problem when the connection breaks, and the process goes on", async (t) => {
    const { location, keyFile } = await troubledPostgres(t, (socket) => socket.destroy());
    const { databaseProblem } = await inspectStore(location, keyFile);
    assert.match(databaseProblem!, /Connection terminated unexpectedly|ECONNRESET/);
  });

  it("ends when the database is silent", async (t) => {
    const { location, keyFile } = await troubledPostgres(t, () => undefined);
    const { databaseProblem } = await inspectStore(location, keyFile, { limitMs: 300 });
    assert.match(databaseProblem!, /no answer within 0.3 s|timeout expired/);
  });

  it("is a new one at each check of a running service", async (t) => {
    const { location, keyFile, counts } = await troubledPostgres(t, (socket) => socket.destroy());
    const { databaseUrl, folder } = location;
    const config = { databaseUrl, dataFolder: folder, ecosystems: [], tlsCertFile: undefined };
    const facts = deploymentFacts({
      ...{ folder, keyFile, config, membership: { id: "n1" }, settings: [], version: "1" },
    } as unknown as DeploymentParts);
    for (const connections of [1, 2]) {
      const { checks } = await facts.examine({ baseUrl: "http://127.0.0.1:9" });
      assert.equal(checks.find(({ check }) => check === "database")?.state, "fail");
      assert.equal(counts.connections, connections);
    }
  });
});

/** A server that accepts connections as PostgreSQL does, and meets the first query with `onQuery`. */
async function troubledPostgres(t: TestContext, onQuery: (socket: Socket) => void) {
  const accepted = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
  const counts = { connections: 0 };
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    counts.connections += 1;
    sockets.push(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.write(accepted);
      socket.on("data", () => onQuery(socket));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const folder = await newDataFolder("breezeway-inspection-");
  const { port } = server.address() as AddressInfo;
  const location = { databaseUrl: `postgres://u:p@127.0.0.1:${port}/d`, folder };
  return { location, keyFile: join(folder, "breezeway.key"), counts };
}
