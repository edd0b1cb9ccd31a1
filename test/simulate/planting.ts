import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { type Plant, plants } from "./plants.ts";

/** Plants a mistake (or each of them, one after the other) and runs the simulation on it; answers the exit code. */
export async function runPlanted(name: string, args: readonly string[]): Promise<number> {
  const chosen = plants.filter((plant) => name === "all" || plant.name === name);
  if (chosen.length === 0)
    throw new Error(`There is no plant ${name}. Known: ${plants.map((p) => p.name).join(", ")}.`);
  let found = 0;
  for (const plant of chosen) {
    console.error(`planted ${plant.name}: ${plant.mistake}`);
    if ((await runPlant(plant, withoutPlant(args), "inherit")).code === 1) found += 1;
  }
  if (name === "all") console.error(`${found} of ${chosen.length} plants were found`);
  return found > 0 ? 1 : 0;
}

/** Runs the simulation on a copy of the core with the mistake in it. */
export async function runPlant(
  plant: Plant,
  args: readonly string[],
  output: "inherit" | "pipe",
): Promise<{ readonly code: number | null; readonly said: string }> {
  const folder = copyWith(plant);
  try {
    const main = join(folder, "test/simulate/main.ts");
    const child = spawn(process.execPath, [main, ...args, "--planted", plant.name], {
      cwd: folder,
      stdio: ["ignore", output, output],
    });
    const said: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (bytes: Buffer) => said.push(bytes));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", resolve);
    });
    return { code, said: Buffer.concat(said).toString() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function copyWith({ name, edits }: Plant): string {
  const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
  const folder = mkdtempSync(join(tmpdir(), "breezeway-plant-"));
  cpSync(join(root, "src"), join(folder, "src"), { recursive: true });
  cpSync(join(root, "test/simulate"), join(folder, "test/simulate"), { recursive: true });
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  for (const { file, find, replace } of edits) {
    const path = join(folder, "src", file);
    const parts = readFileSync(path, "utf8").split(find);
    if (parts.length !== 2) throw new Error(`plant ${name}: found ${parts.length - 1} times in ${file}: ${find}`);
    writeFileSync(path, parts.join(replace));
  }
  return folder;
}

function withoutPlant(args: readonly string[]): string[] {
  return args.filter((arg, index) => {
    return !arg.startsWith("--plant") && (args[index - 1] !== "--plant" || arg.startsWith("--"));
  });
}
