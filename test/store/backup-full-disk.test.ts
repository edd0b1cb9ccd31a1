import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { Backups } from "../../src/store/backup/backups.ts";
import { restoreBackup } from "../../src/store/backup/restore.ts";
import { dataFolder } from "../../src/store/disk/data-folder.ts";
import { DiskFull } from "../../src/store/disk/disk-full.ts";
import { folderOf } from "../cli/made-folder.ts";
import { canMount, smallDisk } from "../set-up/small-disk.ts";
import { breezeway, cleanEnvironment } from "../stories/child-service.ts";

const root = new URL("../..", import.meta.url).pathname;

/** Runs a command in a process whose files may have at most so many bytes. */
function limited(bytes: number, args: readonly string[]) {
  const script = `ulimit -f ${Math.floor(bytes / 512)} && exec "$@"`;
  const command = [process.execPath, join(root, "bin/breezeway"), ...args];
  return spawnSync("sh", ["-c", script, "sh", ...command], { env: cleanEnvironment(), encoding: "utf8" });
}

describe("a backup without enough disk space", () => {
  it("fails with the reason, and leaves no file but the older backup; so does its restore", {
    timeout: 60_000,
  }, async (t) => {
    const [data, outside] = [folderOf(t), folderOf(t)];
    const environment = { BREEZEWAY_DATA: data };
    assert.equal((await breezeway(["tenant", "add", "--name", "Acme"], { environment })).code, 0);
    const file = join(outside, "b.tar");
    assert.equal((await breezeway(["backup", "--to", file, "--with-key"], { environment })).code, 0);
    const before = readFileSync(file);
    const { size } = statSync(join(data, "breezeway.db"));

    // First the copy of the database fits and the archive does not. Then not even the copy fits.
    for (const bytes of [size, size / 2]) {
      const { status, stderr } = limited(bytes, ["backup", "--data", data, "--to", file]);
      assert.equal(status, 1, stderr);
      assert.match(stderr, /The backup could not be written to \S+: .*(ulimit -f|file size limit)/);
      assert.match(stderr, /b\.tar is still the backup from before\. .*Free space there, or choose another folder/);
      assert.deepEqual(readdirSync(outside), ["b.tar"]);
      assert.ok(readFileSync(file).equals(before));
    }

    const restored = join(outside, "restored");
    const refused = limited(size / 2, ["restore", "--from", file, "--data", restored]);
    assert.equal(refused.status, 1, refused.stderr);
    assert.match(refused.stderr, /could not be restored to \S+: the file would be larger.*Nothing was restored/);
    assert.doesNotMatch(refused.stderr, /damaged/);
    assert.equal(existsSync(restored), false);
    assert.equal((await breezeway(["restore", "--from", file, "--data", restored], { environment })).code, 0);
  });

  it("fails in the same way on a full disk", {
    skip: canMount() ? false : "only root can mount a small disk",
  }, async (t) => {
    const [data, outside] = [folderOf(t), folderOf(t)];
    assert.equal((await breezeway(["tenant", "add", "--name", "Acme", "--data", data])).code, 0);
    const keyFile = join(data, "breezeway.key");
    const backups = new Backups({
      folder: data,
      keyFile,
      build: { version: "1.2.3", commit: "0a1b2c3d", schema: 1 },
      nowMs: () => 0,
    });
    const take = (to: string) => backups.take(to, true, () => undefined);
    const whole = await take(join(outside, "b.tar"));
    const { size } = statSync(join(data, "breezeway.db"));
    const disk = await smallDisk(8);
    t.after(() => disk.unmount());
    const [full, folder] = [join(disk.path, "b.tar"), join(disk.path, "restored")];
    const target = dataFolder(folder);
    const restore = () => restoreBackup({ from: whole.file, folder: target, keyFile: target.keyFile });

    for (const leaving of [Math.floor(1.5 * size), Math.floor(size / 2)]) {
      disk.fill(leaving);
      const refusal = (error: unknown) => error instanceof DiskFull && /: the disk is full\./.test(error.message);
      await assert.rejects(take(full), refusal);
      // Half of the size is too small for both; one and a half is enough for a restored database.
      if (leaving < size) await assert.rejects(restore(), refusal);
      assert.deepEqual(readdirSync(disk.path), ["ballast"]);
    }
    disk.empty();
    await take(full);
    mkdirSync(folder);
    await restore();
    assert.deepEqual(readdirSync(disk.path).sort(), ["b.tar", "restored"]);
  });
});
