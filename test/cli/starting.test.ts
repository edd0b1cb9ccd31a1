import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { callControl, serveControl } from "../../src/cli/administration/control-socket.ts";
import { defaultWaitLimits, whenFree, whenReachable } from "../../src/service/waiting-for-start.ts";
import { type DataFolder, dataFolder, FolderInUse } from "../../src/store/disk/data-folder.ts";
import { folderOf } from "./made-folder.ts";
import { typed } from "./typed.ts";

/** A data folder whose lock is held by a process that accepts no commands yet, like a service that starts. */
function heldFolder(t: TestContext): { readonly folder: DataFolder; readonly release: () => void } {
  const folder = dataFolder(folderOf(t));
  const unlock = folder.lock();
  let isHeld = true;
  const release = () => {
    if (isHeld) unlock();
    isHeld = false;
  };
  t.after(release);
  return { folder, release };
}

describe("a command while the service starts", () => {
  it("waits for the service, says so on standard error, and is answered by it", async (t) => {
    const { folder } = heldFolder(t);
    let isServiceRunning = false;
    const serve = async () => {
      if (isServiceRunning) return;
      isServiceRunning = true;
      const control = await serveControl(folder.prepareSocket(), async () => ({ tenants: [] }));
      t.after(() => control.stop());
    };
    const environment = { BREEZEWAY_DATA: folder.path };
    const result = await typed(["tenant", "list"], { environment, onError: () => void serve() });
    assert.deepEqual([result.code, result.json], [0, { tenants: [] }]);
    assert.equal(
      result.err,
      `Another Breezeway process holds ${folder.path} and starts or stops. Waiting up to 30 s for it; Ctrl-C ends.\n`,
    );
  });

  it("opens the store itself when the process that held it has ended", async (t) => {
    const { folder, release } = heldFolder(t);
    const environment = { BREEZEWAY_DATA: folder.path };
    const result = await typed(["tenant", "add", "--name", "Acme"], { environment, onError: release });
    assert.deepEqual([result.code, result.json.name], [0, "Acme"], result.err);
    const device = await typed(["device", "get", "1"], { environment });
    assert.equal(device.code, 6);
    assert.match(
      device.err,
      /^breezeway: No service runs on /,
      "nothing holds the folder: there is nothing to wait for",
    );
  });

  it("has a time limit", async (t) => {
    const { folder } = heldFolder(t);
    const limits = { ...defaultWaitLimits, commandMs: 0 };
    const overSocket = () => callControl(folder.trustedSocket(), "status", {});
    const otherwise = () => assert.fail("the store is held");
    await assert.rejects(
      whenReachable(folder, { overSocket, otherwise }, () => undefined, limits),
      {
        code: "not_running",
        message: /has not answered within 0 s\. .* see: breezeway doctor$/,
      },
    );
  });
});

describe("a service that starts while a command has the store open", () => {
  it("starts when the command has ended, and fails at once if another service runs", async (t) => {
    const { folder, release } = heldFolder(t);
    let tries = 0;
    const start = async () => {
      if (++tries === 2) release();
      return folder.lock();
    };
    const releaseAgain = await whenFree(folder, start);
    t.after(releaseAgain);
    assert.equal(tries, 2);
    const control = await serveControl(folder.prepareSocket(), async () => ({ running: true }));
    t.after(() => control.stop());
    let begun = 0;
    const second = async () => {
      begun++;
      return folder.lock();
    };
    await assert.rejects(whenFree(folder, second), FolderInUse);
    assert.equal(begun, 1);
  });
});
