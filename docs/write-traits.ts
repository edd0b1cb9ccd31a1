import { readFileSync, writeFileSync } from "node:fs";
import { withTraits } from "./trait-tables.ts";

/** `node bin/breezeway --run docs/write-traits.ts`: writes the traits into docs/interface.md from the catalogue. */
const file = new URL("interface.md", import.meta.url);
writeFileSync(file, withTraits(readFileSync(file, "utf8")));
