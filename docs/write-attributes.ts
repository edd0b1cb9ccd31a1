import { readFileSync, writeFileSync } from "node:fs";
import { withAttributes } from "./attribute-tables.ts";

/** `node bin/breezeway --run docs/write-attributes.ts`: writes the attributes into docs/interface.md from the catalogue. */
const file = new URL("interface.md", import.meta.url);
writeFileSync(file, withAttributes(readFileSync(file, "utf8")));
