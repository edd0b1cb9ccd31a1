import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readConfig } from "../../src/config/config.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts } from "../../src/service/parts.ts";
import { startService } from "../../src/service/service.ts";
import { newKey, readKeyFile } from "../../src/store/keys/key-file.ts";
import { keyIdOf } from "../../src/store/keys/sealing.ts";
import { missingPostgres } from "../set-up/postgres.ts";
import { readOnlyFolder } from "../set-up/read-only-folder.ts";
import { eventually } from "../stories/world.ts";
import { madeWorld, openAll } from "./sealed-world.ts";

describe("a key file that is mounted read-only", { skip: missingPostgres() ?? false }, () => {
  it("is changed outside: nodes read it again, and key rotate does not write it", {
    timeout: 60_000,
  }, async (t) => {
    const disk = await readOnlyFolder(t);
    if (!disk) return t.skip("this machine has no way to make a folder read-only for root");
    const { folder, databaseUrl, parts, keyFile } = await madeWorld(t, "postgres", 5);
    const [old, fresh] = [readKeyFile(keyFile)[0], newKey()];
    const [oldId, freshId] = [keyIdOf(old), keyIdOf(fresh)];
    await parts.close();

    // As Kubernetes mounts secrets: the file is a link into a folder that is replaced as a whole.
    const mounted = join(disk.path, "breezeway.key");
    let version = 0;
    const mount = (...keys: Uint8Array[]) => {
      disk.setReadOnly(false);
      const next = `..version-${++version}`;
      mkdirSync(join(disk.path, next));
      const text = keys.map((key) => `${Buffer.from(key).toString("base64url")}\n`).join("");
      writeFileSync(join(disk.path, next, "breezeway.key"), text, { mode: 0o400 });
      symlinkSync(next, join(disk.path, "..next"));
      renameSync(join(disk.path, "..next"), join(disk.path, "..data"));
      disk.setReadOnly(true);
    };
    symlinkSync("..data/breezeway.key", mounted);
    mount(old);
    const environment = {
      BREEZEWAY_DATA: folder,
      BREEZEWAY_DATABASE_URL: databaseUrl,
      BREEZEWAY_KEY_FILE: mounted,
      BREEZEWAY_PORT: "0",
    };
    const config = readConfig({ flags: {}, environment });
    const node = await startService(config, startLogging("silent"));
    t.after(() => node.stop());
    const { administration, ...command } = await openParts(config, startLogging("silent"));
    t.after(() => command.close());
    // biome-ignore lint/suspicious/noExplicitAny: each answer's shape is what the test looks at
    const run = (name: string): Promise<any> => administration.run(name, {});
    const standings = async () =>
      (await run("key list")).keys.map(({ keyId, role, values, nodes }: Record<string, unknown>) => [
        keyId,
        role,
        values,
        nodes,
      ]);

    await assert.rejects(run("key add"), /can't be changed here: it is read-only.*Change it where it is made/);
    mount(old, fresh);
    await eventually(t.signal, async () =>
      assert.deepEqual(await standings(), [
        [oldId, "current", 5, 1],
        [freshId, "unused", 0, 0],
      ]),
    );
    mount(fresh, old);
    await eventually(t.signal, async () =>
      assert.deepEqual(await standings(), [
        [freshId, "current", 0, 1],
        [oldId, "old", 5, 0],
      ]),
    );
    assert.deepEqual(await run("key rotate"), { keyId: freshId, resealed: 5, behind: [] });
    await assert.rejects(run("key prune"), /can't be changed here/);
    mount(fresh);
    await eventually(t.signal, async () => assert.deepEqual(await standings(), [[freshId, "current", 5, 1]]));
    rmSync(keyFile);
    assert.equal(await openAll({ ...command, administration }, mounted), 5);
  });
});
