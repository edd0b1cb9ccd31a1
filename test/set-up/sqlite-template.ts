import { copyFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlite } from "../../src/store/sqlite/store.ts";

const file = "breezeway.db";
let template: Promise<string> | undefined;

/** A new data folder with an empty store that has the schema: a copy takes a fifth of what the schema's steps take. */
export async function newDataFolder(prefix: string): Promise<string> {
  template ??= makeTemplate();
  const from = await template;
  const folder = mkdtempSync(join(tmpdir(), prefix));
  copyFileSync(join(from, file), join(folder, file));
  return folder;
}

/** It goes with the temporary folder of the run. */
async function makeTemplate(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-template-"));
  const store = await openSqlite({ folder, nowMs: () => 0 });
  await store.close();
  return folder;
}
