import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { Conflict } from "../../src/model/errors.ts";
import { dataFolder } from "../../src/store/data-folder.ts";

describe("the data folder", () => {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-folder-"));
  after(() => rmSync(folder, { recursive: true }));

  it("is made when it is locked, for its owner alone", () => {
    const inside = dataFolder(join(folder, "new", "deep"));
    inside.lock()();
    assert.equal(statSync(inside.path).mode & 0o777, 0o700);
    assert.equal(statSync(join(inside.path, "breezeway.lock")).mode & 0o777, 0o600);
  });

  it("is locked by one at a time, and the refusal names the folder", () => {
    const data = dataFolder(join(folder, "one"));
    const unlock = data.lock();
    assert.throws(
      () => dataFolder(data.path).lock(),
      (error: Error) => error instanceof Conflict && error.message.includes(data.path),
    );
    // The refused one must not have taken the lock away from its holder.
    assert.throws(() => data.lock(), Conflict);
    unlock();
    data.lock()();
  });

  it("is free again when the process that held it was killed", async () => {
    const data = dataFolder(join(folder, "killed"));
    const program = `
      const { dataFolder } = await import(${JSON.stringify(new URL("../../src/store/data-folder.ts", import.meta.url).href)});
      globalThis.unlock = dataFolder(process.argv[1]).lock();
      console.log("locked");
      process.stdin.resume();`;
    const holder = spawn(process.execPath, ["--input-type=module", "--eval", program, data.path], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const ended = once(holder, "exit");
    try {
      await once(holder.stdout, "data");
      assert.throws(() => data.lock(), Conflict);
    } finally {
      holder.kill("SIGKILL");
      await ended;
    }
    data.lock()();
  });

  it("says what is wrong when it can't be locked for another reason", () => {
    const data = dataFolder(join(folder, "damaged"));
    mkdirSync(data.path);
    writeFileSync(
      join(data.path, "breezeway.lock"),
      "this is no lock of ours, and long enough to be looked at".repeat(20),
    );
    assert.throws(
      () => data.lock(),
      (error: Error) => !(error instanceof Conflict),
    );
  });

  it("has its control socket inside, or beside the temporary files when the path is too long for one", () => {
    assert.equal(dataFolder(folder).controlSocket, join(folder, "control.sock"));
    const deep = dataFolder(join(folder, "d".repeat(120)));
    assert.ok(Buffer.byteLength(deep.controlSocket) <= 100 && !existsSync(deep.controlSocket));
    assert.notEqual(deep.controlSocket, dataFolder(join(folder, "e".repeat(120))).controlSocket);
  });
});
