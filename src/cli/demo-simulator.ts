import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The address that the demo on this data folder has written down for its simulator: its usual port may be taken. */
export function demoSimulator(dataFolder = "./breezeway-data"): string | undefined {
  const file = join(dataFolder, "demo-simulator-url");
  return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
}
