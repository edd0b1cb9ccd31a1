import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../src/config/config.ts";
import { startLogging } from "../src/runtime/process/log.ts";
import { openParts, type Parts } from "../src/service/parts.ts";

/** A temporary data folder, and the settings to start a service on it. */
export interface PreparedFolder extends Disposable {
  readonly path: string;
  readonly settings: Readonly<Record<string, string>>;
}

export function preparedFolder(settings: Readonly<Record<string, string>> = {}): PreparedFolder {
  const path = mkdtempSync(join(tmpdir(), "breezeway-bench-"));
  const remove = () => rmSync(path, { recursive: true, force: true });
  process.once("exit", remove);
  return {
    path,
    settings: { BREEZEWAY_DATA: path, BREEZEWAY_PORT: "0", ...settings },
    [Symbol.dispose]() {
      remove();
      process.off("exit", remove);
    },
  };
}

/** Fills the folder with the service's own parts, before a service runs on it. */
export async function prepare<Result>(
  { settings }: PreparedFolder,
  work: (parts: Parts) => Promise<Result>,
): Promise<Result> {
  const parts = await openParts(readConfig({ flags: {}, environment: settings }), startLogging("warn"));
  try {
    return await work(parts);
  } finally {
    await parts.federation.stop();
    await parts.close();
  }
}
