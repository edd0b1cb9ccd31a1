import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Where checkouts keep the flags: this version's place first, then that of older ones. */
const places = ["src/runtime/process/node-flags", "src/node-flags"];

/** The flags with which the launcher of a checkout starts the service. The oldest checkouts have none. */
export function nodeFlags(tree: string): readonly string[] {
  const file = places.map((place) => join(tree, place)).find((path) => existsSync(path));
  return file ? readFileSync(file, "utf8").trim().split("\n") : ["--disable-warning=ExperimentalWarning"];
}
