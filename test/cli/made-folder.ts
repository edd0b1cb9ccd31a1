import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { newDataFolder } from "../set-up/sqlite-template.ts";
import { startChild } from "../stories/child-service.ts";

/** A temporary data folder for the test. */
export function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-cli-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The same with an empty store in it. */
export async function storeFolderOf(t: TestContext): Promise<string> {
  const folder = await newDataFolder("breezeway-cli-");
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a service on the folder, in a child process. */
export async function running(t: TestContext, folder: string) {
  const service = await startChild("serve", { BREEZEWAY_DATA: folder, BREEZEWAY_PORT: "0" });
  t.after(() => service.process.kill("SIGKILL"));
  return service;
}
