import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, watch } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import { folderOf } from "../cli/made-folder.ts";
import { breezeway, startChild } from "./child-service.ts";
import { assertMirrors } from "./expected-attributes.ts";
import { killableDeployment } from "./killable-deployment.ts";
import { eventually } from "./world.ts";

describe("a backup of a running service", () => {
  it("holds every write that was acknowledged before it, and can be restored to another folder", {
    timeout: 120_000,
  }, async (t) => {
    const house = await killableDeployment(t, "sqlite");
    const { simulator, client, environment } = house;
    const account = simulator.addAccount({ structures: [{ thermostats: 2, alarms: 2 }] });
    const service = await startChild("serve", environment);
    t.after(() => service.process.kill("SIGKILL"));
    house.baseUrl = service.baseUrl;
    await house.signIn();
    const v3 = await house.authorizeClient();
    const linked = Number((await client.federate("POST", account.token)).body.DeviceId) as DeviceId;
    const addLamp = ["device", "add", "--user", "1", "--name", "Lamp", "--type", "Lamp", "--json"];
    const lamp = JSON.parse((await breezeway(addLamp, { environment })).stdout).deviceId as DeviceId;

    const acknowledged = [0, 0, 0, 0];
    let isWriting = true;
    const writers = acknowledged.map(async (_, writer) => {
      for (let count = 1; isWriting; count++) {
        await v3.write(lamp, { [`writer ${writer}`]: count });
        acknowledged[writer] = count;
      }
    });
    await eventually(t.signal, async () => assert.ok(acknowledged.every((count) => count > 5)));
    const before = [...acknowledged];
    const folder = folderOf(t);
    const file = join(folder, "backup.tar");
    const backup = await breezeway(["backup", "--to", "backup.tar", "--json"], { environment, cwd: folder });
    assert.equal(backup.code, 0, backup.stderr);
    assert.deepEqual([JSON.parse(backup.stdout).file, JSON.parse(backup.stdout).withKey], [file, false]);
    const during = [...acknowledged];
    isWriting = false;
    await Promise.all(writers);
    assert.ok(
      during.every((count, writer) => count > before[writer]!),
      "a writer was blocked during the backup",
    );
    service.process.kill("SIGKILL");
    await service.ended;

    const data = join(folder, "restored");
    mkdirSync(data);
    copyFileSync(join(environment.BREEZEWAY_DATA!, "breezeway.key"), join(data, "breezeway.key"));
    const restored = await breezeway(["restore", "--from", file, "--data", data], { environment: {} });
    assert.equal(restored.code, 0, restored.stderr);
    const restoredService = await startChild("serve", { ...environment, BREEZEWAY_DATA: data });
    t.after(() => restoredService.process.kill("SIGKILL"));
    house.baseUrl = restoredService.baseUrl;
    const attributes = await v3.attributes(lamp);
    for (const [writer, count] of before.entries()) {
      const kept = Number(attributes[`writer ${writer}`]?.value);
      assert.ok(kept >= count && kept <= acknowledged[writer]! + 1, `${kept} of ${count}`);
    }
    await simulator.playScene(account.accountId, { scene: "random", steps: 10 });
    await eventually(t.signal, async () => {
      const { body: map } = await client.largeStrings(linked);
      assertMirrors(await client.device(linked), simulator.document(account.accountId), map);
    });
    const refused = await breezeway(["restore", "--from", file, "--data", data], { environment: {} });
    assert.deepEqual([refused.code, /is not empty/.test(refused.stderr)], [7, true]);
  });

  it("that is killed leaves the older backup as it was", { timeout: 60_000 }, async (t) => {
    const [data, folder] = [folderOf(t), folderOf(t)];
    const environment = { BREEZEWAY_DATA: data, BREEZEWAY_PORT: "0", BREEZEWAY_LOG_LEVEL: "silent" };
    const file = join(folder, "backup.tar");
    assert.equal((await breezeway(["tenant", "add", "--name", "Acme"], { environment })).code, 0);
    assert.equal((await breezeway(["backup", "--to", file], { environment })).code, 0);
    const digest = () => createHash("sha256").update(readFileSync(file)).digest("hex");
    const before = digest();
    // Large enough that the copy is still in progress when the process is killed.
    const database = new DatabaseSync(join(data, "breezeway.db"));
    database.exec("CREATE TABLE ballast (bytes BLOB)");
    database.exec("INSERT INTO ballast VALUES (zeroblob(300000000))");
    database.close();
    const service = await startChild("serve", environment);
    t.after(() => service.process.kill("SIGKILL"));
    const watcher = watch(folder);
    t.after(() => watcher.close());
    const backup = breezeway(["backup", "--to", file], { environment });
    await once(watcher, "change");
    service.process.kill("SIGKILL");
    const { code, stderr } = await backup;
    assert.deepEqual(
      [code, stderr],
      [
        6,
        "breezeway: The service ended before it had answered. The command may have been carried out or not: look before you repeat it.\n",
      ],
    );
    assert.equal(digest(), before);
    const restored = await breezeway([
      "restore",
      "--from",
      file,
      "--data",
      join(folder, "r"),
      "--key-file",
      join(data, "breezeway.key"),
    ]);
    assert.equal(restored.code, 0, restored.stderr);
  });
});
