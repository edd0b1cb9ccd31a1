import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, it } from "node:test";
import { folderOf } from "../cli/made-folder.ts";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";
import { madeWorld } from "../store/sealed-world.ts";
import { cleanEnvironment, startChild } from "../stories/child-service.ts";

const root = new URL("../..", import.meta.url).pathname;
const page = readFileSync(join(root, "docs/operations.md"), "utf8");

/** The blocks of shell below a heading that stands below another, as one script. */
function blocksBelow(section: string, heading: string): string {
  const [, part = ""] = page.split(`\n## ${section}\n`);
  const [, below = ""] = part.split(/\n## /)[0]!.split(`\n### ${heading}\n`);
  const blocks = [...below.split(/\n### /)[0]!.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text);
  assert.ok(blocks.length > 0, `${section}, ${heading}: there is no block`);
  return blocks.join("");
}

describe("the operations document, followed on two nodes of one PostgreSQL", {
  skip: missingPostgres() ?? false,
}, () => {
  it("changes their key, backs their store up and restores it, as it is written", { timeout: 120_000 }, async (t) => {
    const { folder, keyFile, databaseUrl, parts } = await madeWorld(t, "postgres", 4);
    await parts.close();
    const [other, desk] = [folderOf(t), folderOf(t)];
    const otherFile = join(other, "breezeway.key");
    copyFileSync(keyFile, otherFile);
    const nodes = [folder, other].map((data) => ({
      BREEZEWAY_DATA: data,
      BREEZEWAY_DATABASE_URL: databaseUrl!,
      BREEZEWAY_PORT: "0",
    }));
    for (const service of await Promise.all(nodes.map((environment) => startChild("serve", environment)))) {
      t.after(() => service.process.kill("SIGKILL"));
    }
    const cluster = await sharedCluster();
    const restored = new URL(databaseUrl!);
    restored.pathname = "/breezeway_restored";
    // The other machine is a folder here.
    writeFileSync(join(desk, "scp"), '#!/bin/sh\nexec cp "$@"\n', { mode: 0o755 });
    const environment = {
      ...nodes[0]!,
      PATH: [desk, join(root, "bin"), cluster.place.bin, process.env.PATH].join(delimiter),
      BREEZEWAY_KEY_FILE: keyFile,
      OTHER_KEY_FILES: otherFile,
      ADMIN_DATABASE_URL: cluster.url,
      RESTORED_DATABASE_URL: String(restored),
    };
    const follow = (section: string, heading: string) => {
      const options = { cwd: desk, env: cleanEnvironment(environment), encoding: "utf8" } as const;
      const script = blocksBelow(section, heading);
      const { status, stdout, stderr } = spawnSync("bash", ["-euo", "pipefail", "-c", script], options);
      assert.equal(status, 0, `${section}, ${heading}:\n${stdout}${stderr}`);
      return stdout.trim().split("\n");
    };

    const { keys } = JSON.parse(follow("Change the key", "Several nodes on PostgreSQL").at(-1)!);
    assert.deepEqual(
      keys.map(({ role, values, nodes }: Record<string, unknown>) => [role, values, nodes]),
      [["current", 4, 2]],
    );
    assert.equal(readFileSync(otherFile, "utf8"), readFileSync(keyFile, "utf8"));

    assert.ok(Number(follow("Back up", "PostgreSQL").at(-1)) > 20);
    const { tenants } = JSON.parse(follow("Restore", "PostgreSQL").at(-2)!);
    assert.deepEqual(
      tenants.map(({ name }: { name: string }) => name),
      ["Acme"],
    );
  });
});
