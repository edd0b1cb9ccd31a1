import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { createQueue, queueVariable, unfinishedFiles } from "../set-up/file-queue.ts";

const setUp = new URL("../set-up/", import.meta.url).href;
const root = new URL("../..", import.meta.url).pathname;

describe("a process that many test files share", () => {
  it("runs the `after` hooks of a file before the next file is loaded", (t) => {
    const { output, isGood } = runFiles(t, {
      first: `
        import { after, describe, it } from "node:test";
        globalThis.events = ["first loaded"];
        after(() => globalThis.events.push("first ended"));
        describe("the first", () => it("passes", async () => { await new Promise((done) => setTimeout(done, 1)); }));`,
      second: `
        import { it } from "node:test";
        globalThis.events.push("second loaded");
        it("tells " + globalThis.events.join(", "), () => undefined);`,
    });
    assert.match(output, /tells first loaded, first ended, second loaded/);
    assert.ok(isGood, output);
  });

  it("fails for a file that can't be loaded, and runs the next one", (t) => {
    const { output, isGood, unfinished } = runFiles(t, {
      first: `import "./missing.mjs";`,
      second: `import { it } from "node:test"; it("is run", () => undefined);`,
    });
    assert.match(output, /✖ .*first\.mjs/);
    assert.match(output, /✔ is run/);
    assert.deepEqual({ isGood, unfinished }, { isGood: false, unfinished: [] });
  });

  it("leaves the file whose test ended the process listed as unfinished, also with exit code 0", (t) => {
    const { unfinished } = runFiles(t, {
      first: `import { it } from "node:test"; it("ends it all", () => process.exit(0));`,
      second: `import { it } from "node:test"; it("is not reached", () => undefined);`,
    });
    assert.match(unfinished.join(" "), /first\.mjs .*second\.mjs/);
  });

  it("fails and names the file that has not ended within the time limit", (t) => {
    const files = {
      first: `import { it } from "node:test"; it("passes", () => undefined);`,
      second: `import { it } from "node:test"; it("hangs", () => new Promise(() => setInterval(() => undefined, 1)));`,
    };
    const { output, isGood, unfinished } = runFiles(t, files, { TEST_MINUTES: "0.005" });
    assert.match(output, /second\.mjs did not end within 0\.005 minutes/);
    assert.match(unfinished.join(" "), /second\.mjs$/);
    assert.equal(isGood, false);
  });

  it("fails for an error that no test catches", (t) => {
    const { output, isGood } = runFiles(t, {
      only: `
        import { it } from "node:test";
        it("starts work that fails", async () => {
          Promise.reject(new Error("nobody waits for this"));
          await new Promise((done) => setTimeout(done, 1));
        });`,
    });
    assert.match(output, /nobody waits for this/);
    assert.equal(isGood, false);
  });
});

/** Runs the files, in the given order, in one shared process. */
function runFiles(t: TestContext, files: Readonly<Record<string, string>>, settings: NodeJS.ProcessEnv = {}) {
  const folder = mkdtempSync(join(tmpdir(), "breezeway-shared-process-"));
  const paths = Object.keys(files).map((name) => join(folder, `${name}.mjs`));
  for (const [index, text] of Object.values(files).entries()) writeFileSync(paths[index]!, text);
  const queue = createQueue(paths);
  t.after(() => {
    for (const path of [folder, queue]) rmSync(path, { recursive: true, force: true });
  });
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = ["--import", `${setUp}light-test-runner.ts`, "--test-reporter=spec", "test/set-up/shared-process.ts"];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    cwd: root,
    env: { ...env, ...settings, [queueVariable]: queue },
    encoding: "utf8",
  });
  const { interrupted, neverStarted } = unfinishedFiles(queue);
  return { output: stdout + stderr, isGood: status === 0, unfinished: [...interrupted, ...neverStarted] };
}
