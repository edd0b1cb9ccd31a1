import assert from "node:assert/strict";
import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startChild } from "../stories/child-service.ts";
import { folderOf } from "./made-folder.ts";
import { runCommand } from "./run-command.ts";

describe("the files of a service that runs with umask 000", () => {
  it("are closed to other users, also those that an older version left open", async (t) => {
    const folder = join(folderOf(t), "data");
    const environment = { BREEZEWAY_DATA: folder, BREEZEWAY_PORT: "0" };
    const preload = new URL("data:text/javascript,process.umask(0)");
    const start = async () => {
      const service = await startChild("serve", environment, { preload });
      t.after(() => service.process.kill("SIGKILL"));
      return service;
    };
    const stop = async ({ process, ended }: Awaited<ReturnType<typeof start>>) => {
      process.kill("SIGTERM");
      assert.equal(await ended, 0);
    };

    const first = await start();
    const made = await runCommand(["backup", "--to", join(folder, "a.backup")], { environment });
    assert.equal(made.code, 0, made.stderr);
    const names = ["breezeway.db", "breezeway.db-shm", "breezeway.db-wal", "breezeway.key", "breezeway.lock"];
    const found = openedToOthers(folder);
    for (const name of [...names, "breezeway.lock-journal", "control.sock"])
      assert.ok(found.names.includes(name), name);
    assert.deepEqual(found.open, []);
    await stop(first);

    for (const name of ["breezeway.db", "breezeway.lock"]) chmodSync(join(folder, name), 0o644);
    chmodSync(folder, 0o755);
    const second = await start();
    assert.deepEqual(openedToOthers(folder).open, []);
    await stop(second);
  });
});

/** All files in the folder, and those that another user may reach. */
function openedToOthers(folder: string) {
  const names = readdirSync(folder, { recursive: true }).map(String);
  const modes = [".", ...names].map((name) => ({ name, mode: lstatSync(join(folder, name)).mode & 0o077 }));
  return { names, open: modes.filter(({ mode }) => mode !== 0) };
}
