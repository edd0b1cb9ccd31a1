import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it, type TestContext } from "node:test";
import { exitCodeOf, exitCodes } from "../../src/cli/exit-codes.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import { Compaction } from "../../src/store/disk/compaction.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { folderOf, storeFolderOf } from "../cli/made-folder.ts";

const megabyte = 2 ** 20;
const ignoreProgress = () => undefined;

/** A store whose file has a little over `megabytes - 1` MB. 1 MB is in use; the rest is free pages. */
async function emptiedStore(t: TestContext, megabytes: number, { isOfEarlierVersion = false } = {}) {
  const folder = isOfEarlierVersion ? folderOf(t) : await storeFolderOf(t);
  const file = join(folder, "breezeway.db");
  if (isOfEarlierVersion) {
    // A file that exists keeps auto_vacuum off, as in an earlier version.
    const database = new DatabaseSync(file);
    database.exec("CREATE TABLE before (it INTEGER)");
    database.close();
  }
  const store = await openSqlite({ folder, nowMs: Date.now });
  t.after(() => store.close());
  for (const value of ["x".repeat(megabyte), ""]) {
    for (let at = 1; at < megabytes; at++) await store.transaction((tx) => tx.settings.set(`ballast ${at}`, value));
  }
  await store.transaction((tx) => tx.settings.set("kept", "k".repeat(megabyte)));
  await store.space!.flush();
  const real = processRuntime(startLogging("silent"));
  // Pauses between the steps take no time.
  const runtime = { ...real, after: (_: number, act: () => void) => real.after(0, act) };
  const compaction = new Compaction({ space: store.space, runtime });
  return { store, file, compaction, runtime, bytes: () => statSync(file).size };
}

/** Writes continuously until `stop` is called; `acknowledged` is the number of finished writes. */
function startWriting(store: OpenStore) {
  let [isOn, acknowledged] = [true, 0];
  const running = (async () => {
    while (isOn) {
      await store.transaction((tx) => tx.settings.set("count", String(acknowledged + 1)));
      acknowledged += 1;
    }
  })();
  return {
    get acknowledged() {
      return acknowledged;
    },
    stop: () => {
      isOn = false;
      return running;
    },
  };
}

describe("compacting a store in a file", () => {
  it("releases all free pages while the store is written, and loses nothing", { timeout: 60_000 }, async (t) => {
    const { store, file, compaction, bytes } = await emptiedStore(t, 12);
    assert.ok(bytes() > 11 * megabyte);
    const writer = startWriting(store);
    let acknowledgedAtLastStep = 0;
    const { bytesBefore, bytesAfter } = await compaction.compact({ mayRebuild: false }, () => {
      acknowledgedAtLastStep = writer.acknowledged;
    });
    await writer.stop();
    assert.ok(acknowledgedAtLastStep > 2, `${acknowledgedAtLastStep} writes were acknowledged between the steps`);
    assert.ok(bytesBefore > 11 * megabyte && bytesAfter < 3 * megabyte, `${bytesBefore} to ${bytesAfter}`);
    assert.ok(bytes() < 3 * megabyte, `the file has ${bytes()} bytes`);
    assert.ok(statSync(`${file}-wal`).size < megabyte);
    const [kept, count] = await store.read(async (tx) => [
      await tx.settings.get("kept"),
      await tx.settings.get("count"),
    ]);
    assert.deepEqual([kept?.length, count], [megabyte, String(writer.acknowledged)]);
  });

  it("releases free pages in the background too, and keeps 8 MB free for the next writes", {
    timeout: 60_000,
  }, async (t) => {
    const { store, compaction } = await emptiedStore(t, 14);
    assert.ok((await compaction.sweep()) > 0);
    const { freePages, pageBytes } = await store.space!.measure();
    assert.ok(freePages * pageBytes <= 8 * megabyte && freePages * pageBytes > 7 * megabyte, `${freePages} free pages`);
    assert.equal(await compaction.sweep(), 0);
  });

  it("rebuilds a file of an earlier version on request: reads continue, writes wait", {
    timeout: 60_000,
  }, async (t) => {
    const { store, compaction, runtime, bytes } = await emptiedStore(t, 12, { isOfEarlierVersion: true });
    assert.equal(await compaction.sweep(), 0);
    await assert.rejects(
      compaction.compact({ mayRebuild: false }, ignoreProgress),
      (error: Error) =>
        exitCodeOf(error) === exitCodes.conflict &&
        /rebuilt once: 2 MB are rewritten.*compact --rebuild/.test(error.message),
    );
    const order: string[] = [];
    const space = {
      ...store.space!,
      async rebuild() {
        const rebuilding = store.space!.rebuild().then(() => order.push("rebuilt"));
        const writing = store.transaction((tx) => tx.settings.set("count", "1")).then(() => order.push("written"));
        const reading = store.read((tx) => tx.settings.get("kept")).then((kept) => order.push(`read ${kept?.length}`));
        await Promise.all([rebuilding, writing, reading]);
      },
    };
    await new Compaction({ space, runtime }).compact({ mayRebuild: true }, ignoreProgress);
    assert.deepEqual(order, [`read ${megabyte}`, "rebuilt", "written"]);
    assert.ok(bytes() < 3 * megabyte, `the file has ${bytes()} bytes`);
    assert.deepEqual(
      [(await store.space!.measure()).isIncremental, await store.read((tx) => tx.settings.get("count"))],
      [true, "1"],
    );
  });
});
