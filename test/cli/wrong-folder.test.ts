import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import pg from "pg";
import { sharedCluster } from "../set-up/postgres.ts";
import { folderOf } from "./made-folder.ts";
import { typed } from "./typed.ts";

const commands = [
  ["status"],
  ["tenant", "list"],
  ["user", "list"],
  ["device", "list"],
  ["link", "list"],
  ["audit", "list"],
  ["key", "list"],
  ["backup", "--to", "never-written.backup"],
  ["user", "remove", "3"],
];

describe("a command where there is no store", () => {
  it("names the folder and how to choose another, exits with 5, and creates nothing", async (t) => {
    const [folder, absent] = [folderOf(t), join(folderOf(t), "absent")];
    for (const data of [folder, absent]) {
      const environment = { BREEZEWAY_DATA: data };
      for (const args of commands) {
        const { code, out, err } = await typed(args, { environment });
        assert.deepEqual([code, out], [5, ""], args.join(" "));
        const sentence = `breezeway: There is no store in ${data}. Name another folder with --data or BREEZEWAY_DATA.`;
        assert.ok(err.startsWith(sentence), err);
      }
    }
    assert.deepEqual(readdirSync(folder), []);
    assert.deepEqual(readdirSync(join(absent, "..")), []);
  });

  it("on PostgreSQL creates no tables", async (t) => {
    const url = await (await sharedCluster()).createDatabase();
    const environment = { BREEZEWAY_DATA: folderOf(t), BREEZEWAY_DATABASE_URL: url };
    const { code, err } = await typed(["tenant", "list"], { environment });
    assert.equal(code, 5);
    assert.match(err, /no store in the database that BREEZEWAY_DATABASE_URL names\. Name another one with/);
    assert.ok(!err.includes(url), "the address holds a password");
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    t.after(() => client.end());
    const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
    assert.deepEqual(rows, []);
  });
});

describe("the first tenant", () => {
  it("creates the store, and says so on standard error", async (t) => {
    const folder = folderOf(t);
    const environment = { BREEZEWAY_DATA: folder };
    const first = await typed(["tenant", "add", "--name", "Acme"], { environment });
    assert.deepEqual([first.code, first.err], [0, `Making a new store in ${folder}.\n`]);
    const second = await typed(["tenant", "add", "--name", "Other"], { environment });
    assert.deepEqual([second.code, second.err], [0, ""]);
    assert.equal((await typed(["tenant", "list"], { environment })).json.tenants.length, 2);
  });
});

describe("verify without an address", () => {
  it("checks the service on this folder and no other service on the machine", async (t) => {
    const folder = folderOf(t);
    const { code, err } = await typed(["verify"], { environment: { BREEZEWAY_DATA: folder } });
    assert.equal(code, 6);
    assert.ok(err.startsWith(`breezeway: No service runs on ${folder}. Start one with: breezeway serve.`), err);
  });
});
