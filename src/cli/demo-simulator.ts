import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** The name of the file in the demo's data folder that holds the address of its simulator. It is no secret. */
export const demoSimulatorFile = "demo-simulator-url";

/** The address of the simulator of the demo that started last; its usual port may have been taken. */
export function demoSimulator(dataFolder?: string, workingFolder = "."): string | undefined {
  // Each ecosystem of the demo has a data folder of its own.
  const folders = dataFolder === undefined ? globSync(join(workingFolder, "breezeway-data{,-*}")) : [dataFolder];
  const files = folders.map((folder) => join(folder, demoSimulatorFile)).filter((file) => existsSync(file));
  const [newest] = files.toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  return newest === undefined ? undefined : readFileSync(newest, "utf8").trim();
}
