import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readOnlyFolder } from "../set-up/read-only-folder.ts";
import { breezeway } from "../stories/child-service.ts";

describe("a data folder that can't be written", () => {
  it("is reported with the reason and exit code 6, whether it exists or not", {
    timeout: 60_000,
  }, async (t) => {
    const disk = await readOnlyFolder(t);
    if (!disk) return t.skip("this machine has no way to make a folder read-only for root");
    const [there, missing] = [join(disk.path, "there"), join(disk.path, "missing")];
    mkdirSync(there, { mode: process.getuid?.() === 0 ? 0o700 : 0o500 });
    disk.setReadOnly(true);
    const reason =
      "(the file system is mounted read-only|this user has no permission; \\S+ belongs to uid \\d+ with mode 500.*)";
    for (const data of [there, missing]) {
      const { code, stderr } = await breezeway(["serve", "--data", data, "--port", "0"]);
      assert.equal(code, 6, stderr);
      const advice = "Breezeway keeps its store there\\. Make it writable, or choose another folder with --data";
      assert.match(stderr, new RegExp(`The data folder ${data} can't be written: ${reason}\\. ${advice}`));
    }
  });
});
