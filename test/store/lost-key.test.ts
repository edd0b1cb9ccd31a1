import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { exitCodeOf, exitCodes } from "../../src/cli/exit-codes.ts";
import { readConfig } from "../../src/config/config.ts";
import { answerContext } from "../../src/idempotency/idempotent-writes.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts } from "../../src/service/parts.ts";
import { inspectStore } from "../../src/store/inspection.ts";
import { keysFromFile, readKeyFile, sealingFromFile } from "../../src/store/keys/key-file.ts";
import { keyIdOf } from "../../src/store/keys/sealing.ts";
import { folderOf } from "../cli/made-folder.ts";
import { runCommand } from "../cli/run-command.ts";
import { startChild } from "../stories/child-service.ts";
import { longSuiteOn } from "../stories/world.ts";
import { madeWorld } from "./sealed-world.ts";

/** One link with its credential, one address, one answer and secrets of webhooks. The address and one of the secrets belong to the same webhook. */
const values = 6;

describe("a lost key", () => {
  it("stops the start with its id, is never replaced by a new key, and can be dropped", {
    timeout: 60_000,
  }, async (t) => {
    const { folder, keyFile, parts } = await madeWorld(t, "sqlite", values);
    await parts.close();
    const environment = { BREEZEWAY_DATA: folder, BREEZEWAY_PORT: "0", BREEZEWAY_LOG_LEVEL: "silent" };
    const command = (...args: string[]) => runCommand(args, { environment });
    const lost = keyIdOf(readKeyFile(keyFile)[0]);
    rmSync(keyFile);

    const start = await command("serve");
    assert.equal(start.code, 3);
    assert.match(
      start.stderr,
      /breezeway\.key does not exist, but 6 values in this store are sealed with key \S+\. Put/,
    );
    assert.ok(start.stderr.includes(`breezeway key drop --key ${lost} (docs/operations.md, A lost key)`));
    assert.equal((await command("user", "list")).code, 3);
    const { checks } = JSON.parse((await command("doctor")).stdout);
    const found = checks.find(({ check }: { check: string }) => check === "key file");
    assert.deepEqual(
      [found.state, found.words],
      ["fail", `${keyFile} does not exist, and the store needs key ${lost}`],
    );
    const { keys } = JSON.parse((await command("key", "list")).stdout);
    assert.deepEqual(keys, [{ keyId: lost, role: "missing", values }]);
    assert.equal(existsSync(keyFile), false);

    const dropped = await command("key", "drop", "--key", lost);
    assert.equal(dropped.code, 0, dropped.stderr);
    const said = JSON.parse(dropped.stdout);
    assert.deepEqual(said.links, [{ userId: 1, deviceId: 1, ecosystem: "nest" }]);
    assert.deepEqual(
      said.webhooks.map(({ id }: { id: string }) => id),
      ["w00001", "w00002"],
    );
    const service = await startChild("serve", environment);
    t.after(() => service.process.kill("SIGKILL"));
    const { links } = JSON.parse((await command("link", "list")).stdout);
    assert.deepEqual(
      links.map(({ deviceId, state, reason }: Record<string, unknown>) => [deviceId, state, reason]),
      [[1, "needs_reauth", "its token was sealed with a key that is lost; connect the account again"]],
    );
    const again = await command("key", "drop", "--key", lost);
    assert.deepEqual(
      [again.code, again.stderr.includes(`Nothing in this store is sealed with key ${lost}`)],
      [5, true],
    );
    service.process.kill("SIGTERM");
    assert.equal(await service.ended, 0);
  });

  it("is missed by doctor when it sealed no link and no webhook", async (t) => {
    const folder = folderOf(t);
    const keyFile = join(folder, "breezeway.key");
    const config = readConfig({ flags: {}, environment: { BREEZEWAY_DATA: folder } });
    const { identity, store, close } = await openParts(config, startLogging("silent"));
    await identity.addTenant({ name: "Acme" });
    const ownerId = await identity.addUser({
      tenant: "Acme",
      name: "ada",
      password: "a good password",
      isAdmin: false,
    });
    const text = sealingFromFile(keyFile).seal("an answer", answerContext({ ownerId, hash: "k" }));
    await store.transaction((tx) => tx.idempotencyKeys.add({ ownerId, hash: "k" }, { isSealed: true, text }, 60_000));
    await close();
    rmSync(keyFile);
    const { keyProblem } = await inspectStore({ folder }, keyFile);
    assert.match(keyProblem ?? "", /breezeway\.key does not exist, and the store needs key /);
  });

  it("stays in use while the file can't be reached", (t) => {
    const file = join(folderOf(t), "breezeway.key");
    keysFromFile(file);
    const sealing = sealingFromFile(file);
    const [sealed, keyIds] = [sealing.seal("a secret", "a"), sealing.keyIds];
    rmSync(file);
    // The system refuses to follow it, as it refuses to search a folder without permission.
    symlinkSync(file, file);
    assert.equal(sealing.open(sealed, "a"), "a secret");
    assert.deepEqual(sealing.keyIds, keyIds);
  });

  it("is replaced at the next start of a single node when it sealed nothing", async (t) => {
    const folder = folderOf(t);
    const config = readConfig({ flags: {}, environment: { BREEZEWAY_DATA: folder } });
    const keyIdAfterStart = async () => {
      const { close } = await openParts(config, startLogging("silent"));
      await close();
      return keyIdOf(readKeyFile(join(folder, "breezeway.key"))[0]);
    };
    const first = await keyIdAfterStart();
    rmSync(join(folder, "breezeway.key"));
    const second = await keyIdAfterStart();
    assert.notEqual(second, first);
    assert.equal(await keyIdAfterStart(), second);
  });

  for (const database of longSuiteOn("sqlite")) {
    it(`is not dropped while a key file still holds it (${database})`, { timeout: 60_000 }, async (t) => {
      const { keyFile, parts, run, open } = await madeWorld(t, database, values);
      const right = readFileSync(keyFile);
      const lost = keyIdOf(readKeyFile(keyFile)[0]);
      await assert.rejects(
        run("key drop", undefined, { key: lost }),
        /is in the key file: no value that it sealed is lost/,
      );
      await parts.close();
      rmSync(keyFile);
      await assert.rejects(open(), (error) => exitCodeOf(error) === exitCodes.configuration);
      assert.equal(existsSync(keyFile), false);
      writeFileSync(keyFile, `${Buffer.alloc(32, 7).toString("base64url")}\n`, { mode: 0o600 });
      await assert.rejects(open(), (error: Error) => error.message.includes(`are sealed with key ${lost}`));

      const repairing = await open({ mayLackKeys: true });
      const standings = async () =>
        ((await repairing.administration.run("key list", {})) as { keys: { role: string; values: number }[] }).keys.map(
          ({ role, values }) => [role, values],
        );
      assert.deepEqual(await standings(), [
        ["current", 0],
        ["missing", values],
      ]);
      await repairing.close();
      writeFileSync(keyFile, right);
      await (await open()).close();
    });
  }
});
