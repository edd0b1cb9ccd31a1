import assert from "node:assert/strict";
import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { dailyForeignSuites, foreignSuites } from "../set-up/foreign-suites.ts";
import { longSuites } from "../set-up/long-suites.ts";
import { selectFiles } from "../set-up/selection.ts";

const root = new URL("../..", import.meta.url).pathname;

describe("a suite with programs of other people", () => {
  it("is left out of npm test but for one of each kind, and runs with npm run foreign and npm run test:all", () => {
    const [daily, foreign, all] = [[], ["foreign"], ["all"]].map((args) => selectFiles(args, root).files);
    const leftOut = Object.keys(foreignSuites);
    assert.deepEqual(foreign?.toSorted(), [...leftOut, ...dailyForeignSuites].sort());
    assert.deepEqual(daily?.filter((file) => foreign?.includes(file)).sort(), dailyForeignSuites.toSorted());
    assert.ok(foreign?.every((file) => all?.includes(file)));
  });
});

describe("a long suite", () => {
  it("exists, and so do the tests that cover its subject in npm test", () => {
    const daily = selectFiles([], root).files;
    for (const [file, covered] of Object.entries({ ...longSuites, ...foreignSuites })) {
      assert.ok(existsSync(join(root, file)), file);
      for (const path of covered.split(", ")) {
        assert.ok(
          daily.some((one) => one.startsWith(path)),
          `${path}, named for ${file}`,
        );
      }
    }
  });

  it("is left out of npm test, and runs with npm run test:all and by its name", () => {
    const [file] = Object.keys(longSuites) as [string];
    assert.ok(!selectFiles([], root).files.includes(file));
    assert.ok(selectFiles(["all"], root).files.includes(file));
    assert.deepEqual(selectFiles([file], root).files, [file]);
    const all = globSync("test/**/*.test.ts", { cwd: root }).filter((one) => !one.startsWith("test/faults/"));
    assert.equal(selectFiles(["all"], root).files.length, all.length);
  });
});
