import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, afterEach, before, describe, it } from "node:test";
import { callControl, serveControl } from "../../src/cli/administration/control-socket.ts";
import { Conflict } from "../../src/model/errors.ts";
import { type DataFolder, dataFolder } from "../../src/store/disk/data-folder.ts";

/** A uid that no user of this machine has. Only root can change the owner of a folder. */
const stranger = 4711;
const onlyRoot = process.geteuid?.() !== 0;

describe("the data folder", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "breezeway-folder-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  it("is created when it is locked, for its owner only", () => {
    const inside = dataFolder(join(folder, "new", "deep"));
    inside.lock()();
    assert.equal(statSync(inside.path).mode & 0o777, 0o700);
    assert.equal(statSync(join(inside.path, "breezeway.lock")).mode & 0o777, 0o600);
  });

  it("has a lock whose journal other users can't read either, whatever the umask", () => {
    const inside = dataFolder(join(folder, "umask"));
    const umask = process.umask(0);
    try {
      const unlock = inside.lock();
      const modes = readdirSync(inside.path).map((name) => [name, statSync(join(inside.path, name)).mode & 0o777]);
      assert.deepEqual(modes, [
        ["breezeway.lock", 0o600],
        ["breezeway.lock-journal", 0o600],
      ]);
      unlock();
    } finally {
      process.umask(umask);
    }
  });

  it("is locked by one process at a time, and the error names the folder", () => {
    const data = dataFolder(join(folder, "one"));
    const unlock = data.lock();
    assert.throws(
      () => dataFolder(data.path).lock(),
      (error: Error) => error instanceof Conflict && error.message.includes(data.path),
    );
    // The refused attempt must not have released the lock.
    assert.throws(() => data.lock(), Conflict);
    unlock();
    data.lock()();
  });

  it("is free again when the process that held it was killed", async () => {
    const data = dataFolder(join(folder, "killed"));
    const program = `
      const { dataFolder } = await import(${JSON.stringify(new URL("../../src/store/disk/data-folder.ts", import.meta.url).href)});
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

  it("is closed to other users when it is opened, with Breezeway's files and no others", () => {
    const data = dataFolder(join(folder, "open"));
    mkdirSync(data.path);
    chmodSync(data.path, 0o777);
    for (const name of [
      "breezeway.db",
      "breezeway.db-wal",
      "breezeway.lock",
      "breezeway.lock-journal",
      "demo-access-token",
      "notes.txt",
    ]) {
      writeFileSync(join(data.path, name), "");
      chmodSync(join(data.path, name), 0o664);
    }
    data.make(() => assert.fail("there is nothing to warn of"));
    const modeOf = (name: string) => (statSync(join(data.path, name)).mode & 0o777).toString(8);
    assert.deepEqual(
      [".", "breezeway.db", "breezeway.db-wal", "breezeway.lock", "breezeway.lock-journal", "notes.txt"].map(modeOf),
      ["700", "600", "600", "600", "600", "664"],
    );
  });

  it("is refused when all users share it", () => {
    const shared = join(folder, "shared");
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    assert.throws(() => dataFolder(shared).make(() => undefined), /is shared by all users.*Choose a folder of its own/);
    assert.equal(statSync(shared).mode & 0o7777, 0o1777);
  });

  it("is refused when it belongs to another user", { skip: onlyRoot }, () => {
    const data = dataFolder(join(folder, "foreign"));
    mkdirSync(data.path);
    chownSync(data.path, stranger, stranger);
    assert.throws(() => data.make(() => undefined), /belongs to another user \(uid 4711; .*Run Breezeway as that user/);
  });
});

describe("the control socket", () => {
  let folder = "";
  const temporary = process.env.TMPDIR;
  let deep: DataFolder;
  const handle = async (command: string) => ({ command });
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "breezeway-socket-"));
    process.env.TMPDIR = folder;
    deep = dataFolder(join(folder, "d".repeat(120)));
    mkdirSync(deep.path);
  });
  afterEach(() => rmSync(dirname(deep.controlSocket), { recursive: true, force: true }));
  after(() => {
    if (temporary === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = temporary;
    rmSync(folder, { recursive: true });
  });

  it("is in the data folder", () => {
    assert.equal(dataFolder(folder).prepareSocket(), join(folder, "control.sock"));
    assert.equal(dataFolder(folder).trustedSocket(), join(folder, "control.sock"));
  });

  it("of a data folder with a long path is in a folder that only its user can open", async () => {
    const socket = deep.prepareSocket();
    assert.ok(Buffer.byteLength(socket) <= 100);
    assert.notEqual(socket, dataFolder(join(folder, "e".repeat(120))).prepareSocket());
    assert.equal(statSync(dirname(socket)).mode & 0o777, 0o700);
    const server = await serveControl(socket, handle);
    try {
      assert.deepEqual(await callControl(deep.trustedSocket(), "status", {}), { command: "status" });
      assert.equal(statSync(socket).mode & 0o777, 0o600);
    } finally {
      await server.stop();
    }
  });

  const traps: readonly (readonly [what: string, lay: (path: string) => void, skip?: boolean])[] = [
    ["is open to other users", (path) => mkdirSync(path, 0o711)],
    ["is not a folder", (path) => symlinkSync(mkdtempSync(join(folder, "elsewhere-")), path)],
    [
      "belongs to another user",
      (path) => chownSync(mkdirSync(path, { recursive: true, mode: 0o700 })!, stranger, stranger),
      onlyRoot,
    ],
  ];
  for (const [what, lay, skip = false] of traps) {
    it(`is neither served nor called in a folder that ${what}`, { skip }, () => {
      lay(dirname(deep.controlSocket));
      const refused = new RegExp(`${what}.*Remove it, or choose a data folder with a shorter path`);
      assert.throws(() => deep.prepareSocket(), refused);
      assert.throws(() => deep.trustedSocket(), refused);
    });
  }
});
