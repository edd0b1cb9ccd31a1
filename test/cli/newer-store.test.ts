import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import pg from "pg";
import { schemaVersion } from "../../src/store/migrations.ts";
import { sharedCluster } from "../set-up/postgres.ts";
import { folderOf } from "./made-folder.ts";
import { runCommand } from "./run-command.ts";

const sentence = `breezeway: The store has schema version ${schemaVersion + 1}, this Breezeway knows ${schemaVersion}. Start the version that made it, or a later one.\n`;
const oneStepOn = `INSERT INTO schema_steps (step) VALUES (${schemaVersion + 1})`;

describe("a store that a later version has made", () => {
  it("on sqlite is refused by every command with a sentence and exit code 3, and not touched", async (t) => {
    const folder = folderOf(t);
    const environment = { BREEZEWAY_DATA: folder, BREEZEWAY_PORT: "0" };
    assert.equal((await runCommand(["tenant", "add", "--name", "Acme"], { environment })).code, 0);
    const file = join(folder, "breezeway.db");
    const database = new DatabaseSync(file);
    database.exec(oneStepOn);
    database.close();
    const before = readFileSync(file);
    for (const command of ["serve", "status"]) {
      const { code, stderr } = await runCommand([command], { environment });
      assert.deepEqual([code, stderr], [3, sentence]);
    }
    assert.ok(readFileSync(file).equals(before));
  });

  it("on postgres is refused in the same way", async (t) => {
    const url = await (await sharedCluster()).createDatabase();
    const environment = { BREEZEWAY_DATA: folderOf(t), BREEZEWAY_PORT: "0", BREEZEWAY_DATABASE_URL: url };
    assert.equal((await runCommand(["tenant", "add", "--name", "Acme"], { environment })).code, 0);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    t.after(() => client.end());
    await client.query(oneStepOn);
    const { code, stderr } = await runCommand(["serve"], { environment });
    assert.deepEqual([code, stderr], [3, sentence]);
    const { rows } = await client.query("SELECT MAX(step) AS step FROM schema_steps");
    assert.deepEqual(rows, [{ step: schemaVersion + 1 }]);
  });

  it("that records compatibility with this version is served, and doctor reports it", async (t) => {
    const folder = folderOf(t);
    const url = await (await sharedCluster()).createDatabase();
    for (const store of [{}, { BREEZEWAY_DATABASE_URL: url }]) {
      const environment = { BREEZEWAY_DATA: folder, BREEZEWAY_PORT: "0", ...store };
      assert.equal((await runCommand(["tenant", "add", "--name", "Acme"], { environment })).code, 0);
      const statements = `${oneStepOn}; INSERT INTO schema_reach (step, oldest) VALUES (${schemaVersion + 1}, ${schemaVersion})`;
      if ("BREEZEWAY_DATABASE_URL" in store) {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        await client.query(statements);
        await client.end();
      } else {
        const database = new DatabaseSync(join(folder, "breezeway.db"));
        database.exec(statements);
        database.close();
      }
      assert.equal((await runCommand(["status"], { environment })).code, 0);
      const { stdout } = await runCommand(["doctor"], { environment });
      assert.match(stdout, /of a later version \(\d+, this one knows \d+\), which is compatible with this one/);
    }
  });
});
