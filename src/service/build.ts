import { fileURLToPath } from "node:url";
import type { Build } from "../model/build.ts";
import { readCommit } from "../runtime/process/commit.ts";
import { version } from "../runtime/process/version.ts";
import { schemaVersion } from "../store/migrations.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

export const build: Build = { version, commit: readCommit(root), schema: schemaVersion };
