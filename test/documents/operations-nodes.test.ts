import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, it } from "node:test";
import { folderOf } from "../cli/made-folder.ts";
import { freePort } from "../set-up/free-port.ts";
import { ensurePostgresWithPrograms, missingPostgresPrograms } from "../set-up/installed-postgres.ts";
import { startCluster } from "../set-up/postgres.ts";
import { madeWorld } from "../store/sealed-world.ts";
import { cleanEnvironment } from "../stories/child-service.ts";
import { pastingShell } from "./pasting-shell.ts";

const root = new URL("../..", import.meta.url).pathname;
const page = readFileSync(join(root, "docs/operations.md"), "utf8");

/** The shell blocks of a section, or of one subsection of it, as one script. */
function blocksBelow(section: string, heading?: string): string {
  const [, part = ""] = page.split(`\n## ${section}\n`);
  const parts = part.split(/\n## /)[0]!.split(/\n### /);
  const below = heading === undefined ? parts[0]! : parts.find((one) => one.startsWith(`${heading}\n`));
  const blocks = [...(below ?? "").matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text);
  assert.ok(blocks.length > 0, `${section}, ${heading}: there is no block`);
  return blocks.join("");
}

describe("the operations document, followed on PostgreSQL in one terminal", {
  skip: missingPostgresPrograms() ?? false,
}, () => {
  it("starts two nodes, changes their key, backs their store up and restores it", { timeout: 240_000 }, async (t) => {
    const cluster = await startCluster({ fsync: false, installation: ensurePostgresWithPrograms() });
    t.after(() => cluster.stop());
    const { keyFile, databaseUrl, parts } = await madeWorld(t, "postgres", 5, async () => cluster);
    await parts.close();
    const desk = folderOf(t);
    mkdirSync(join(desk, "node-1"), { mode: 0o700 });
    copyFileSync(keyFile, join(desk, "node-1/breezeway.key"));
    const restored = new URL(databaseUrl!);
    restored.pathname = "/breezeway_restored";
    // The other machines are folders here.
    writeFileSync(join(desk, "scp"), '#!/bin/sh\nexec cp "$@"\n', { mode: 0o755 });
    const environment = {
      PATH: [desk, join(root, "bin"), cluster.place.bin, process.env.PATH].join(delimiter),
      BREEZEWAY_DATABASE_URL: databaseUrl!,
      BREEZEWAY_DRAIN_SECONDS: "0",
      ADMIN_DATABASE_URL: cluster.url,
      RESTORED_DATABASE_URL: String(restored),
    };
    const ports = { 8086: await freePort(), 8087: await freePort() };
    const env = cleanEnvironment(environment);
    const shell = pastingShell(t, { cwd: desk, env, farewell: "kill $(jobs -p); wait" });
    const follow = (section: string, heading?: string) => {
      const onFreePorts = Object.entries(ports).reduce(
        (text, [written, free]) => text.replaceAll(written, String(free)),
        blocksBelow(section, heading),
      );
      return shell.paste([section, heading].join(" "), onFreePorts);
    };

    assert.equal(JSON.parse((await follow("Several nodes")).at(-1)!).nodes, 2);
    await follow("Settings for commands");
    const { keys } = JSON.parse((await follow("Change the key", "Several nodes on PostgreSQL")).at(-1)!);
    assert.deepEqual(
      // The nodes remove the webhook at some time, because its client does not exist: two to four values are left.
      keys.map(({ role, values, nodes }: Record<string, unknown>) => [role, Number(values) >= 2, nodes]),
      [["current", true, 2]],
    );
    const [key, otherKey] = ["node-1", "node-2"].map((node) => readFileSync(join(desk, node, "breezeway.key"), "utf8"));
    assert.equal(otherKey, key);
    assert.notEqual(key, readFileSync(keyFile, "utf8"));

    assert.ok(Number((await follow("Back up", "PostgreSQL")).at(-1)) > 20);
    const { tenants } = JSON.parse((await follow("Restore", "PostgreSQL")).at(-2)!);
    assert.deepEqual(
      tenants.map(({ name }: { name: string }) => name),
      ["Acme"],
    );
  });
});
