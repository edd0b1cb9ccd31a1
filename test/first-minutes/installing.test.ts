import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { promisify } from "node:util";
import { folderOf } from "../cli/made-folder.ts";
import { cleanEnvironment } from "../stories/child-service.ts";

const launcher = new URL("../../bin", import.meta.url).pathname;
const skip = process.platform === "win32" ? "npm is replaced by a shell script" : false;

describe("the first start", { skip, timeout: 30_000 }, () => {
  it("installs what is missing, says so, and the second start has nothing to do", async (t) => {
    const clone = cloneWith(t, "mkdir -p node_modules && touch node_modules/.package-lock.json");
    const first = await clone.start();
    assert.deepEqual([first.code, first.out], [0, "started\n"]);
    assert.match(first.err, /^breezeway: installing npm packages .*\n$/);
    assert.deepEqual(await clone.start(), { code: 0, out: "started\n", err: "" });
    assert.equal(clone.timesInstalled(), 1);
  });

  it("goes on when npm gives up halfway and calls that a success", async (t) => {
    const clone = cloneWith(t, "mkdir node_modules 2>/dev/null || touch node_modules/.package-lock.json");
    const { code, out, err } = await clone.start();
    assert.deepEqual([code, out], [0, "started\n"]);
    assert.match(err, /\nbreezeway: npm has given up halfway; once more …\n$/);
    assert.equal(clone.timesInstalled(), 2);
  });

  it("that can't install says why, and the next one tries again", async (t) => {
    for (const [npm, sentence, tries] of [
      ["mkdir -p node_modules", /npm has given up halfway twice\. Run npm ci by hand in \S+ to see why/, 2],
      ["exit 3", /npm ci failed \(exit code 3\)\. Run it by hand in \S+ to see why/, 1],
    ] as const) {
      const clone = cloneWith(t, npm);
      for (const round of [1, 2]) {
        const { code, out, err } = await clone.start();
        assert.deepEqual([code, out], [1, ""]);
        assert.match(err, sentence);
        assert.equal(clone.timesInstalled(), tries * round);
      }
    }
  });
});

describe("a start while packages are installed", { skip, timeout: 30_000 }, () => {
  it("waits for the one that installs, and says so; nothing is installed twice", async (t) => {
    const clone = cloneWith(t, "cat path/gate; mkdir node_modules; touch node_modules/.package-lock.json");
    await promisify(execFile)("mkfifo", [join(clone.folder, "path/gate")]);
    const first = clone.start();
    // Opens when npm has begun, and lets it go on when it is closed.
    const gate = await open(join(clone.folder, "path/gate"), "w");
    const second = clone.start((said) => said.includes("waiting for it …\n") && void gate.close());
    assert.deepEqual([(await first).code, (await second).code], [0, 0]);
    assert.match((await second).err, /^breezeway: another start is installing npm packages; waiting for it …\n$/);
    assert.equal(clone.timesInstalled(), 1);
  });

  it("doesn't wait for one that was stopped in the middle", async (t) => {
    const clone = cloneWith(t, "mkdir -p node_modules; touch node_modules/.package-lock.json");
    const gone = spawn(process.execPath, ["-e", "0"]);
    await once(gone, "close");
    mkdirSync(join(clone.folder, ".breezeway-installing"));
    writeFileSync(join(clone.folder, ".breezeway-installing/pid"), String(gone.pid));
    assert.equal((await clone.start()).code, 0);
  });
});

/** A clone with nothing in it but the launcher, on a machine whose npm does this. */
function cloneWith(t: TestContext, npm: string) {
  const folder = folderOf(t);
  const counted = join(folder, "counted");
  cpSync(launcher, join(folder, "bin"), { recursive: true });
  for (const name of ["src", "path"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "package-lock.json"), "{}");
  writeFileSync(join(folder, "src/main.ts"), 'console.log("started");\n');
  writeFileSync(join(folder, "src/node-flags"), "--disable-warning=ExperimentalWarning\n");
  writeFileSync(join(folder, "path/npm"), `#!/bin/sh\necho once >> "${counted}"\n${npm}\n`);
  chmodSync(join(folder, "path/npm"), 0o755);
  return {
    folder,
    async start(hears: (said: string) => void = () => undefined) {
      const child = spawn(process.execPath, [join(folder, "bin/breezeway")], {
        env: cleanEnvironment({ PATH: `${join(folder, "path")}:${process.env.PATH}` }),
        stdio: ["ignore", "pipe", "pipe"],
      });
      child.stderr.on("data", (chunk) => hears(String(chunk)));
      const [out, err] = [text(child.stdout), text(child.stderr)];
      const [code] = await once(child, "close");
      return { code, out: await out, err: await err };
    },
    timesInstalled: () => (existsSync(counted) ? readFileSync(counted, "utf8").split("\n").length - 1 : 0),
  };
}
