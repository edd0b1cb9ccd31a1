import assert from "node:assert/strict";
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { OpenStore } from "../../src/store/seam.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { rounds } from "../set-up/extent.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";

describe("SQLite's write-ahead log", () => {
  it("is moved into the database while the store is open", { timeout: 30_000 }, (t) =>
    onFile(async (store, file) => {
      const before = statSync(file).size;
      await commitMany(store, 1_000, 100);
      // Only a checkpoint writes to the database itself.
      while (!t.signal.aborted && statSync(file).size <= before) await new Promise((resolve) => setImmediate(resolve));
    }),
  );

  it("stays bounded over thousands of commits that never pause", { timeout: 60_000 }, (t) =>
    onFile(async (store, file) => {
      let largest = 0;
      for (let round = 0; round < rounds({ all: 40, few: 12 }); round++) {
        await commitMany(store, 500, 8_000);
        largest = Math.max(largest, statSync(`${file}-wal`).size);
      }
      const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20);
      t.diagnostic(`at most ${megabytes(largest)} MB of log for ${megabytes(statSync(file).size)} MB of data`);
      assert.ok(megabytes(largest) <= 32, `the log grew to ${megabytes(largest)} MB`);
    }),
  );

  it("is removed when the store is closed", () =>
    onFile(async (store, file) => {
      await commitMany(store, 1_000, 100);
      await store.close();
      assert.throws(() => statSync(`${file}-wal`), { code: "ENOENT" });
    }));
});

let named = 0;

async function commitMany(store: OpenStore, commits: number, bytes: number): Promise<void> {
  const value = "x".repeat(bytes);
  const names = Array.from({ length: commits }, () => `fact ${named++}`);
  await Promise.all(names.map((name) => store.transaction((tx) => tx.settings.getOrKeep(name, value))));
}

async function onFile(test: (store: OpenStore, file: string) => Promise<void>): Promise<void> {
  const folder = await newDataFolder("breezeway-checkpoint-");
  const store = await openSqlite({ folder, nowMs: Date.now });
  try {
    await test(store, join(folder, "breezeway.db"));
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}
