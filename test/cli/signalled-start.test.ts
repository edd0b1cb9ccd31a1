import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, it } from "node:test";
import pg from "pg";
import { freePort } from "../set-up/free-port.ts";
import { nodeFlags } from "../set-up/node-flags.ts";
import { sharedCluster } from "../set-up/postgres.ts";
import { cleanEnvironment } from "../stories/child-service.ts";
import { folderOf } from "./made-folder.ts";

const root = new URL("../..", import.meta.url).pathname;
/** The advisory lock of schema changes (src/store/postgres/schema.ts). */
const schemaLock = 20_180_831;

describe("a service that waits while it starts", () => {
  it("ends with success at SIGTERM, although another node still changes the schema", async (t) => {
    const databaseUrl = await (await sharedCluster()).createDatabase();
    const otherNode = new pg.Client({ connectionString: databaseUrl });
    await otherNode.connect();
    t.after(() => otherNode.end());
    await otherNode.query(`SELECT pg_advisory_lock(${schemaLock})`);
    const child = spawn(process.execPath, [...nodeFlags(root), join(root, "src/main.ts"), "serve"], {
      env: cleanEnvironment({
        BREEZEWAY_DATA: folderOf(t),
        BREEZEWAY_DATABASE_URL: databaseUrl,
        BREEZEWAY_PORT: String(await freePort()),
      }),
      stdio: ["ignore", "ignore", "pipe"],
    });
    t.after(() => child.kill("SIGKILL"));
    let said = "";
    child.stderr.on("data", (chunk) => {
      said += chunk;
      if (said.includes("Making a new store")) child.kill("SIGTERM");
    });
    const [code, signal] = await once(child, "close");
    assert.deepEqual([code, signal], [0, null], said);
    assert.doesNotMatch(said, /listening on/);
  });
});
