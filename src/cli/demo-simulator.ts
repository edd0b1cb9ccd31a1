import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The address of the demo's simulator, from the file in the data folder; its usual port may have been taken. */
export function demoSimulator(dataFolder = "./breezeway-data"): string | undefined {
  const file = join(dataFolder, "demo-simulator-url");
  return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
}
