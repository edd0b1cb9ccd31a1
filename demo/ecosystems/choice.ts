import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigurationError } from "../../src/config/config.ts";
import type { DemoEcosystem, DemoEcosystemOptions } from "./ecosystem.ts";
import { startGoogleHouse } from "./google.ts";
import { startHouse } from "./home-assistant.ts";
import { startNestSimulator, usualPort } from "./nest.ts";

interface Choice {
  /** The protocol of the ecosystem. */
  readonly name: string;
  /** The simulator takes this port, or the next free one. */
  readonly port: number;
  readonly start: (options: DemoEcosystemOptions) => Promise<DemoEcosystem>;
}

const defaultName = "nest";
const choices: readonly Choice[] = [
  { name: defaultName, port: usualPort, start: startNestSimulator },
  { name: "home-assistant", port: 8123, start: startHouse },
  { name: "google-device-access", port: 8092, start: startGoogleHouse },
];

/**
 * The ecosystem of the demo: the chosen one, else the one whose house is in the folder. Throws for an unknown one, and
 * for another one than the house in the folder is linked to.
 */
export function ecosystemChoice(folder: string, chosen: string | undefined): Choice {
  const stored = storedChoice(folder);
  const name = chosen ?? stored ?? defaultName;
  const choice = choices.find((one) => one.name === name);
  const known = choices.map((one) => one.name).join(", ");
  if (!choice) throw new ConfigurationError([`--ecosystem ${name}: the demo can play ${known}`]);
  if (stored !== undefined && stored !== name) {
    throw new ConfigurationError([
      `--ecosystem ${name}: the house in this folder is linked to ${stored}. Delete the folder, or choose another with --data`,
    ]);
  }
  return choice;
}

/** Each ecosystem has a default folder of its own, so that one demo can be tried after the other. */
export function defaultFolder(usual: string, chosen: string | undefined): string {
  const isInUsual = chosen === undefined || chosen === (storedChoice(usual) ?? defaultName);
  return isInUsual ? usual : `${usual}-${chosen}`;
}

/** Stores the choice for the next start. */
export function keepChoice(folder: string, { name }: Choice): void {
  writeFileSync(join(folder, choiceFile), name, { mode: 0o600 });
}

/** Folders of earlier versions have no such file; their house is in the file of its simulator. */
function storedChoice(folder: string): string | undefined {
  const file = join(folder, choiceFile);
  if (existsSync(file)) return readFileSync(file, "utf8");
  return existsSync(join(folder, "simulator.json")) ? defaultName : undefined;
}

const choiceFile = "demo-ecosystem";
