import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigurationError } from "../../src/config/config.ts";
import type { DemoEcosystem, DemoEcosystemOptions } from "./ecosystem.ts";
import { startGoogleHouse } from "./google.ts";
import { startHouse } from "./home-assistant.ts";
import { startNestSimulator, usualPort } from "./nest.ts";

interface Choice {
  /** The simulator takes this port, or the next free one. */
  readonly port: number;
  readonly start: (options: DemoEcosystemOptions) => Promise<DemoEcosystem>;
}

const choices: ReadonlyMap<string, Choice> = new Map([
  ["nest", { port: usualPort, start: startNestSimulator }],
  ["home-assistant", { port: 8123, start: startHouse }],
  ["google-device-access", { port: 8092, start: startGoogleHouse }],
]);

/**
 * The ecosystem of the demo: the chosen one, else the one whose house is in the folder. Throws for an unknown one, and
 * for another one than the house in the folder is linked to.
 */
export function ecosystemChoice(folder: string, chosen: string | undefined): Choice {
  const stored = storedChoice(folder);
  const name = chosen ?? stored ?? "nest";
  const choice = choices.get(name);
  const known = [...choices.keys()].join(", ");
  if (!choice) throw new ConfigurationError([`--ecosystem ${name}: the demo can play ${known}`]);
  if (stored !== undefined && stored !== name) {
    throw new ConfigurationError([
      `--ecosystem ${name}: the house in this folder is linked to ${stored}. Delete the folder, or choose another with --data`,
    ]);
  }
  writeFileSync(join(folder, "demo-ecosystem"), name);
  return choice;
}

/** Folders of earlier versions have no such file; their house is in the file of its simulator. */
function storedChoice(folder: string): string | undefined {
  const file = join(folder, "demo-ecosystem");
  if (existsSync(file)) return readFileSync(file, "utf8");
  return existsSync(join(folder, "simulator.json")) ? "nest" : undefined;
}
