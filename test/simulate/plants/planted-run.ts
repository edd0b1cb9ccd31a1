import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Plant } from "./plant.ts";
import { plants } from "./plants.ts";

/** Runs the simulation with a mistake (or with each of them, one after the other); answers the exit code. */
export async function runPlanted(name: string, args: readonly string[]): Promise<number> {
  const chosen = plants.filter((plant) => name === "all" || plant.name === name);
  if (chosen.length === 0)
    throw new Error(`There is no plant ${name}. Known: ${plants.map((p) => p.name).join(", ")}.`);
  const missed: string[] = [];
  for (const plant of chosen) {
    console.error(`planted ${plant.name}: ${plant.mistake}`);
    if ((await runPlant(plant, withoutPlant(args), "inherit")).code !== 1) missed.push(plant.name);
  }
  const found = chosen.length - missed.length;
  if (name === "all")
    console.error(`${found} of ${chosen.length} plants were found; missed: ${missed.join(", ") || "none"}`);
  return found > 0 ? 1 : 0;
}

/** Runs the simulation in a process of its own that loads the core with the mistake in it. */
export async function runPlant(
  plant: Plant,
  args: readonly string[],
  output: "inherit" | "pipe",
): Promise<{ readonly code: number | null; readonly said: string }> {
  const hook = new URL("plant-hook.ts", import.meta.url).href;
  const main = fileURLToPath(new URL("../main.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", hook, main, ...args, "--planted", plant.name], {
    env: { ...process.env, SIMULATION_PLANT: plant.name },
    stdio: ["ignore", output, output],
  });
  const said: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (bytes: Buffer) => said.push(bytes));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { code, said: Buffer.concat(said).toString() };
}

function withoutPlant(args: readonly string[]): string[] {
  return args.filter((arg, index) => {
    return !arg.startsWith("--plant") && (args[index - 1] !== "--plant" || arg.startsWith("--"));
  });
}
