import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

const source = new URL("../../src/", import.meta.url).pathname;
const everyColumn = /\b(SELECT|RETURNING)\s+(DISTINCT\s+)?\*|\b(SELECT|RETURNING)\b[^;`"]*?\b\w+\.\*/;

describe("a statement", () => {
  it("names the columns that it wants: another version may have added some while this one runs", () => {
    const found = globSync("**/*.ts", { cwd: source }).filter((file) =>
      everyColumn.test(readFileSync(join(source, file), "utf8")),
    );
    assert.deepEqual(found, []);
    for (const wrong of ["SELECT * FROM links", "DELETE FROM links RETURNING *", "SELECT l.*, n.id FROM links l"]) {
      assert.match(wrong, everyColumn);
    }
    assert.doesNotMatch("SELECT COUNT(*) AS count FROM links", everyColumn);
  });
});
