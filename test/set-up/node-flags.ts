import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The flags with which the launcher of a checkout starts the service. An older checkout has none. */
export function nodeFlags(tree: string): readonly string[] {
  try {
    return readFileSync(join(tree, "src/runtime/process/node-flags"), "utf8").trim().split("\n");
  } catch {
    return ["--disable-warning=ExperimentalWarning"];
  }
}
