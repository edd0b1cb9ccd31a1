import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { schemaVersion } from "../../src/store/migrations.ts";

const root = new URL("../..", import.meta.url).pathname;
const endOfSteps = "];\n\nexport const schemaVersion";

/** Steps that a next version may take while this one runs: a table, a column that this version doesn't know, a large index. */
const steps = `
  ({ integer }) => [
    \`CREATE TABLE next_things (user_id INTEGER NOT NULL, id INTEGER NOT NULL, at_ms \${integer} NOT NULL, PRIMARY KEY (user_id, id))\`,
    \`ALTER TABLE devices ADD COLUMN seen_ms \${integer} NOT NULL DEFAULT 0\`,
    "ALTER TABLE links ADD COLUMN next_hint TEXT",
    "ALTER TABLE access_tokens ADD COLUMN uses INTEGER NOT NULL DEFAULT 0",
  ],
  { index: "attributes_by_time", on: "attributes (time_ms, user_id)" },
`;

export const nextSchema = { version: schemaVersion + 2, index: "attributes_by_time", onTable: "attributes" };

/** A copy of this version with two more schema steps, in a folder that is removed after the test. */
export function nextVersion(test: TestContext): string {
  const tree = mkdtempSync(join(tmpdir(), "breezeway-next-"));
  test.after(() => rmSync(tree, { recursive: true, force: true }));
  for (const name of ["src", "sdk", "simulator", "verify", "demo", "package.json"]) {
    cpSync(join(root, name), join(tree, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  const file = join(tree, "src/store/migrations.ts");
  const [before, after, ...others] = readFileSync(file, "utf8").split(endOfSteps);
  if (after === undefined || others.length > 0) throw new Error("the end of the steps is not where it was");
  writeFileSync(file, `${before}${steps}${endOfSteps}${after}`);
  return tree;
}
