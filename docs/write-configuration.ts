import { writeFileSync } from "node:fs";
import { configurationPage } from "../src/config/configuration-page.ts";

/** `node bin/breezeway --run docs/write-configuration.ts`: writes docs/configuration.md from the table of settings. */
writeFileSync(new URL("configuration.md", import.meta.url), configurationPage());
