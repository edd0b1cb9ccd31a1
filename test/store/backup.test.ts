import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it, type TestContext } from "node:test";
import { BreezewayError } from "../../src/model/errors.ts";
import { digestOf } from "../../src/store/backup/archive.ts";
import { Backups } from "../../src/store/backup/backups.ts";
import { restoreBackup } from "../../src/store/backup/restore.ts";
import { dataFolder } from "../../src/store/disk/data-folder.ts";
import { keysFromFile } from "../../src/store/keys/key-file.ts";
import { keyIdOf } from "../../src/store/keys/sealing.ts";
import { adoptKey } from "../../src/store/keys/used-keys.ts";
import { schemaVersion } from "../../src/store/migrations.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { folderOf, storeFolderOf } from "../cli/made-folder.ts";
import { linkOf, makeHome, node } from "../contracts/store/home.ts";

const timeMs = Date.UTC(2026, 0, 2, 3, 4, 5);

/** A store with a new key in one folder, and a second folder for backups. */
async function madeStore(t: TestContext) {
  const folder = await storeFolderOf(t);
  const outside = folderOf(t);
  const keyFile = join(folder, "breezeway.key");
  // Creates the key.
  const keyId = keyIdOf(keysFromFile(keyFile)[0]);
  const store = await openSqlite({ folder, nowMs: () => timeMs });
  t.after(() => store.close());
  await store.transaction((tx) => adoptKey(tx, keyId));
  const backups = new Backups({
    folder,
    keyFile,
    build: { version: "1.2.3", commit: "0a1b2c3d", schema: 1 },
    nowMs: () => timeMs,
  });
  const take = (to: string, withKey = false) => backups.take(to, withKey, () => undefined);
  return { folder, outside, keyFile, keyId, store, backups, take };
}

const writeSetting = (store: OpenStore, name: string) => store.transaction((tx) => tx.settings.set(name, "written"));

async function settingIn(t: TestContext, folder: string, name: string) {
  const store = await openSqlite({ folder, nowMs: () => timeMs });
  t.after(() => store.close());
  return store.read((tx) => tx.settings.get(name));
}

function restore(from: string, folder: string, keyFile?: string) {
  const place = dataFolder(folder);
  return restoreBackup({ from, folder: place, keyFile: keyFile ?? place.keyFile });
}

describe("a backup", () => {
  it("ends at once when the service stops while the copy is read", async (t) => {
    const file = join(folderOf(t), "copy.db");
    writeFileSync(file, "pages");
    assert.equal((await digestOf(file, new AbortController().signal)).length, 64);
    await assert.rejects(digestOf(file, AbortSignal.abort(new Error("the service stops"))), /the service stops/);
  });

  it("is one file that only its owner can read, with a manifest and without the key", async (t) => {
    const { outside, take, keyId, keyFile } = await madeStore(t);
    const { file, bytes, manifest } = await take(outside);
    assert.equal(file, join(outside, "breezeway-2026-01-02T03-04-05.000Z.tar"));
    assert.deepEqual([statSync(file).size, statSync(file).mode & 0o777], [bytes, 0o600]);
    assert.deepEqual(readdirSync(outside), ["breezeway-2026-01-02T03-04-05.000Z.tar"]);
    const { files, ...facts } = manifest;
    assert.deepEqual(facts, {
      format: "breezeway backup",
      formatVersion: 1,
      version: "1.2.3",
      commit: "0a1b2c3d",
      schema: schemaVersion,
      time: "2026-01-02T03:04:05.000Z",
      keyIds: [keyId],
    });
    assert.deepEqual(Object.keys(files), ["breezeway.db"]);
    assert.ok(!readFileSync(file).includes(readFileSync(keyFile, "utf8").trim()));
  });

  it("can be read with tar", { skip: spawnSync("tar", ["--version"]).status !== 0 }, async (t) => {
    const { outside, take } = await madeStore(t);
    const { file, manifest } = await take(join(outside, "b.tar"), true);
    const list = execFileSync("tar", ["-tf", file], { encoding: "utf8" });
    assert.deepEqual(list.trim().split("\n"), ["manifest.json", "breezeway.key", "breezeway.db"]);
    const shown = execFileSync("tar", ["-xOf", file, "manifest.json"], { encoding: "utf8" });
    assert.deepEqual(JSON.parse(shown), manifest);
  });

  it("holds exactly the commits from before its start, while the store is written", {
    timeout: 60_000,
  }, async (t) => {
    const { outside, store, backups } = await madeStore(t);
    await writeSetting(store, "before");
    // More than one step of the copy: without a read transaction, each commit would restart the copy.
    await store.transaction((tx) => tx.settings.set("ballast", "x".repeat(60_000_000)));
    const meanwhile: Promise<void>[] = [];
    const { file } = await backups.take(join(outside, "b.tar"), true, (done) => {
      meanwhile.push(writeSetting(store, `meanwhile ${done}`));
    });
    assert.ok(meanwhile.length > 0);
    await Promise.all(meanwhile);
    const restored = join(outside, "restored");
    await restore(file, restored);
    assert.equal(await settingIn(t, restored, "before"), "written");
    assert.ok(await store.read((tx) => tx.settings.get("before")));
    const later = new DatabaseSync(join(restored, "breezeway.db"), { readOnly: true });
    assert.equal(later.prepare("SELECT COUNT(*) AS n FROM settings WHERE name LIKE 'meanwhile%'").get()?.n, 0);
    later.close();
  });

  it("holds the credentials of links", async (t) => {
    const { outside, store, take } = await madeStore(t);
    const home = await makeHome(store);
    await store.transaction((tx) => tx.links.add({ ...linkOf(home, node("A")), sealedCredential: "v1.credential" }));
    await take(join(outside, "b.tar"), true);
    await restore(join(outside, "b.tar"), join(outside, "restored"));
    const restored = await openSqlite({ folder: join(outside, "restored"), nowMs: () => timeMs });
    t.after(() => restored.close());
    const link = await restored.read((tx) => tx.links.find(home.userId, "nest"));
    assert.equal(link?.sealedCredential, "v1.credential");
  });

  it("replaces an older backup, and no other file", async (t) => {
    const { outside, folder, store, take } = await madeStore(t);
    const file = join(outside, "b.tar");
    await take(file, true);
    await writeSetting(store, "later");
    await take(file, true);
    await restore(file, join(outside, "restored"));
    assert.equal(await settingIn(t, join(outside, "restored"), "later"), "written");

    const letter = join(outside, "letter.txt");
    writeFileSync(letter, "Dear Ada");
    await assert.rejects(take(letter), /letter\.txt already exists and is not a Breezeway backup/);
    assert.equal(readFileSync(letter, "utf8"), "Dear Ada");
    await assert.rejects(take(join(folder, "breezeway.db")), /is not a Breezeway backup/);
    await assert.rejects(take(join(outside, "nowhere", "b.tar")), /--to: there is no folder .*nowhere/);
  });

  it("is refused while another is being taken, and is removed when the service stops before it is done", async (t) => {
    const { outside, backups } = await madeStore(t);
    const file = join(outside, "b.tar");
    const first = backups.take(file, false, () => undefined);
    await assert.rejects(
      backups.take(file, false, () => undefined),
      /being taken already/,
    );
    const stopped = backups.stop();
    await assert.rejects(first, /The service stopped before the backup was done/);
    await stopped;
    assert.deepEqual(readdirSync(outside), []);
  });
});

describe("a restore", () => {
  it("needs only the backup and the key, wherever the key file is", async (t) => {
    const { outside, take, keyFile, store } = await madeStore(t);
    await writeSetting(store, "it");
    const { file } = await take(join(outside, "b.tar"));
    const elsewhere = join(outside, "safe.key");
    copyFileSync(keyFile, elsewhere);
    const restored = join(outside, "restored");
    const { isKeyFromBackup } = await restore(file, restored, elsewhere);
    assert.equal(isKeyFromBackup, false);
    assert.equal(await settingIn(t, restored, "it"), "written");
    assert.equal(statSync(join(restored, "breezeway.db")).mode & 0o777, 0o600);

    const beside = join(outside, "beside");
    mkdirSync(beside);
    copyFileSync(keyFile, join(beside, "breezeway.key"));
    await restore(file, beside);
    assert.equal(await settingIn(t, beside, "it"), "written");
  });

  it("writes the key file when the backup contains it", async (t) => {
    const { outside, take, keyFile } = await madeStore(t);
    const { file } = await take(join(outside, "b.tar"), true);
    const restored = join(outside, "restored");
    assert.equal((await restore(file, restored)).isKeyFromBackup, true);
    assert.deepEqual(keysFromFile(join(restored, "breezeway.key")), keysFromFile(keyFile));
  });

  it("succeeds after a restore that was killed", async (t) => {
    const { outside, take } = await madeStore(t);
    const { file } = await take(join(outside, "b.tar"), true);
    const restored = join(outside, "restored");
    mkdirSync(restored);
    writeFileSync(join(restored, "breezeway.db.draft"), "half");
    await restore(file, restored);
    assert.deepEqual(readdirSync(restored).sort(), ["breezeway.db", "breezeway.key", "breezeway.lock"]);
  });

  it("marks queued fan requests as sent, so that none is sent twice, and makes every reader of events resync", async (t) => {
    const { outside, folder, take } = await madeStore(t);
    const database = new DatabaseSync(join(folder, "breezeway.db"));
    database.exec(`INSERT INTO commands
      (user_id, device_id, attribute, thermostat_id, value, state, requested_ms) VALUES (1, 1, 1, 't', 'true', 'queued', 5)`);
    database.exec(`PRAGMA foreign_keys = OFF; INSERT INTO thing_commands
      (user_id, device_id, thing_id, external_key, command, state, step, requested_ms)
      VALUES (1, 1, 't', 'thermostat/t', '{}', 'queued', 0, 5)`);
    database.exec("INSERT INTO log (user_id, kind, time_ms, body) VALUES (1, 'device', 5, '{}')");
    database.close();
    const { file } = await take(join(outside, "b.tar"), true);
    const restored = join(outside, "restored");
    await restore(file, restored);
    const store = await openSqlite({ folder: restored, nowMs: () => timeMs });
    t.after(() => store.close());
    const { queued, sent, sentToThings, end, horizon } = await store.read(async (tx) => ({
      queued: await tx.fanRequests.overdue(timeMs, -1, -1, 10),
      sent: await tx.fanRequests.overdue(-1, timeMs, -1, 10),
      sentToThings: await tx.thingCommands.overdue(-1, timeMs, -1, 10),
      end: await tx.log.end(),
      horizon: await tx.log.horizon(),
    }));
    assert.deepEqual([queued.length, sent.map(({ sentMs }) => sentMs)], [0, [5]]);
    assert.deepEqual(
      sentToThings.map(({ sentMs }) => sentMs),
      [5],
    );
    assert.deepEqual(horizon, { ...end });
    // A restore skips ids: entries that were written after the backup may have had the next ones.
    assert.ok(end.id > 1_000_000);
  });

  const refusals: readonly (readonly [
    what: string,
    prepare: (file: string, folder: string, keyFile: string) => void,
    code: string,
    sentence: RegExp,
  ])[] = [
    ["without the key", () => undefined, "wrong_key", /sealed with key \S+, which is not in it\. Put the key file at /],
    [
      "with another key",
      (_file, folder) => {
        mkdirSync(folder);
        // Creates another key.
        keysFromFile(join(folder, "breezeway.key"));
      },
      "wrong_key",
      /holds key \S+, but .* was sealed with \S+/,
    ],
    [
      "to a folder that holds something",
      (_file, folder, keyFile) => {
        mkdirSync(folder);
        copyFileSync(keyFile, join(folder, "breezeway.key"));
        writeFileSync(join(folder, "notes"), "mine");
      },
      "conflict",
      /is not empty \(it holds notes\)\. Restore to a new folder with --data\./,
    ],
    [
      "from a file that was cut short",
      (file, folder, keyFile) => {
        mkdirSync(folder);
        copyFileSync(keyFile, join(folder, "breezeway.key"));
        writeFileSync(file, readFileSync(file).subarray(0, 9_000));
      },
      "bad_backup",
      /is not a Breezeway backup, or a part of it is missing/,
    ],
    [
      "from a file of which one byte was touched",
      (file, folder, keyFile) => {
        mkdirSync(folder);
        copyFileSync(keyFile, join(folder, "breezeway.key"));
        const bytes = readFileSync(file);
        bytes[40_000]! ^= 1;
        writeFileSync(file, bytes);
      },
      "bad_backup",
      /breezeway\.db in it can't be trusted \(its content differs from its digest\)\. Nothing was restored\./,
    ],
    [
      "from a file that is not a backup",
      (file) => writeFileSync(file, "hello".repeat(999)),
      "bad_backup",
      /is not a Breezeway backup/,
    ],
  ];
  for (const [what, prepare, code, sentence] of refusals) {
    it(`is refused ${what}, and leaves no file but breezeway.lock`, async (t) => {
      const { outside, take, keyFile } = await madeStore(t);
      const { file } = await take(join(outside, "b.tar"));
      const folder = join(outside, "restored");
      prepare(file, folder, keyFile);
      const before = existsSync(folder) ? readdirSync(folder) : undefined;
      await assert.rejects(
        restore(file, folder),
        (error) => error instanceof BreezewayError && error.code === code && sentence.test(error.message),
      );
      const after = existsSync(folder) ? readdirSync(folder).filter((name) => name !== "breezeway.lock") : undefined;
      assert.deepEqual(after, before);
    });
  }

  it("is refused from a later version's schema, with the message of a service that opens such a store", async (t) => {
    const { outside, take, folder } = await madeStore(t);
    const database = new DatabaseSync(join(folder, "breezeway.db"));
    database.exec(`INSERT INTO schema_steps (step) VALUES (${schemaVersion + 1})`);
    database.close();
    const { file } = await take(join(outside, "b.tar"), true);
    await assert.rejects(
      restore(file, join(outside, "restored")),
      /The store has schema version \d+, this Breezeway knows/,
    );
    assert.equal(existsSync(join(outside, "restored")), false);
  });
});
