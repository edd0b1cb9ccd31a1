import assert from "node:assert/strict";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { exitCodeOf, exitCodes } from "../../src/cli/exit-codes.ts";
import { readConfig } from "../../src/config/config.ts";
import type { NodeId, TenantId } from "../../src/model/ids.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { startService } from "../../src/service/service.ts";
import { sealingFromFile } from "../../src/store/keys/key-file.ts";
import { folderOf } from "../cli/made-folder.ts";
import { missingPostgres } from "../set-up/postgres.ts";
import { eventually } from "../stories/world.ts";
import { madeWorld, openAll, webhook } from "./sealed-world.ts";

describe("the key of several nodes", { skip: missingPostgres() ?? false }, () => {
  it("is rotated as docs/operations.md says, and never removed while a node needs it", {
    timeout: 60_000,
  }, async (t) => {
    const { keyFile, databaseUrl, parts, run } = await madeWorld(t, "postgres", 5);
    const otherFolder = folderOf(t);
    const otherFile = join(otherFolder, "breezeway.key");
    const copy = () => copyFileSync(keyFile, otherFile);
    copy();
    const environment = { BREEZEWAY_DATA: otherFolder, BREEZEWAY_DATABASE_URL: databaseUrl, BREEZEWAY_PORT: "0" };
    const other = await startService(readConfig({ flags: {}, environment }), startLogging("silent"));
    t.after(() => other.stop());
    const { id: otherId } = other.parts.membership;
    const refused = (sentence: RegExp) => (error: Error) =>
      exitCodeOf(error) === exitCodes.conflict && sentence.test(error.message) && error.message.includes(otherId);
    const addHook = (id: string) =>
      parts.store.transaction((tx) => tx.webhooks.add(webhook(id, 1 as TenantId, sealingFromFile(otherFile).seal)));

    const { keyId } = await run("key add");
    await assert.rejects(
      run("key rotate"),
      refused(/^The key file of node \S+ \(last heartbeat \d+ s ago\) lacks key/),
    );
    copy();
    const first = await eventually(t.signal, () => run("key rotate"));
    assert.deepEqual(first, { keyId, resealed: 5, behind: [otherId] });

    // The other node's file still has the old key first.
    await addHook("late");
    await assert.rejects(run("key prune"), /A rotation isn't over yet/);
    const [, old] = (await run("key list")).keys;
    assert.deepEqual(old, { keyId: old.keyId, role: "old", values: 1, nodes: 1 });
    copy();
    await eventually(t.signal, async () => assert.equal((await run("key list")).keys[0].nodes, 1));
    assert.deepEqual(await run("key rotate"), { keyId, resealed: 1, behind: [] });
    assert.deepEqual(await run("key rotate"), { keyId, resealed: 0, behind: [] });

    // The other node gets an old copy of the file.
    const lines = readFileSync(keyFile, "utf8").trim().split("\n");
    writeFileSync(otherFile, `${lines.toReversed().join("\n")}\n`);
    await eventually(t.signal, async () => assert.equal((await run("key list")).keys[0].nodes, 0));
    await assert.rejects(run("key prune"), refused(/^Node \S+ \(.*\) still seals with another key/));
    copy();
    await eventually(t.signal, async () => assert.equal((await run("key list")).keys[0].nodes, 1));

    // A node of an older version does not report its keys.
    await parts.store.transaction((tx) => tx.nodes.beat("node-before" as NodeId));
    await assert.rejects(run("key prune"), /^Conflict: Node node-before .* doesn't report which key it seals with/);
    assert.deepEqual(await run("key prune", undefined, { force: true }), { removed: [old.keyId] });
    assert.equal(await openAll(parts, keyFile), 6);
    await assert.rejects(run("key rotate"), /The other nodes must know the new key first/);
  });
});
