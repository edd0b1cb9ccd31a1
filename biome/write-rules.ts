import { writeFileSync } from "node:fs";
import { arrowRules } from "./arrows.ts";

/** Writes the rules of `arrows.ts` to `arrows.json`, which `biome.json` extends. `npm run format` runs it. */
const rules = { overrides: arrowRules() };
writeFileSync(new URL("arrows.json", import.meta.url), `${JSON.stringify(rules, undefined, 2)}\n`);
