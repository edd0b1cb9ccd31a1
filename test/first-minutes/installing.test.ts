import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { describe, it, type TestContext } from "node:test";
import { promisify } from "node:util";
import { folderOf } from "../cli/made-folder.ts";
import { cleanEnvironment } from "../stories/child-service.ts";

const launcher = new URL("../../bin", import.meta.url).pathname;
const skip = process.platform === "win32" ? "npm is replaced by a shell script" : false;

/** Installs one package of the service and, unless they are left out, one that only tests need. */
const npm = `
  mkdir -p node_modules/served
  case "$*" in *--omit=dev*) ;; *) mkdir -p node_modules/tested ;; esac
  touch node_modules/.package-lock.json`;

describe("the first start", { skip, timeout: 30_000 }, () => {
  it("installs what the service needs, says so, and the second start has nothing to do", async (t) => {
    const clone = cloneWith(t, npm);
    const first = await clone.start();
    assert.deepEqual([first.code, first.out], [0, "started\n"]);
    assert.equal(first.err, "breezeway: installing the npm packages that the service needs …\n");
    assert.deepEqual(clone.packages(), ["served"]);
    assert.deepEqual(await clone.start(), { code: 0, out: "started\n", err: "" });
    assert.equal(clone.timesInstalled(), 1);
  });

  it("goes on when npm stops halfway and exits with 0", async (t) => {
    const clone = cloneWith(t, "mkdir node_modules 2>/dev/null || touch node_modules/.package-lock.json");
    const { code, out, err } = await clone.start();
    assert.deepEqual([code, out], [0, "started\n"]);
    assert.match(err, /\nbreezeway: npm stopped halfway\. Trying again …\n$/);
    assert.equal(clone.timesInstalled(), 2);
  });

  it("that can't install says why, and the next one tries again", async (t) => {
    for (const [broken, sentence, tries] of [
      ["mkdir -p node_modules", /npm stopped halfway twice\. Run npm ci by hand in \S+ to see why/, 2],
      ["exit 3", /npm ci failed \(exit code 3\)\. Run it by hand in \S+ to see why/, 1],
    ] as const) {
      const clone = cloneWith(t, broken);
      for (const round of [1, 2]) {
        const { code, out, err } = await clone.start();
        assert.deepEqual([code, out], [1, ""]);
        assert.match(err, sentence);
        assert.equal(clone.timesInstalled(), tries * round);
      }
    }
  });
});

describe("packages that npm ci has installed by itself", { skip, timeout: 30_000 }, () => {
  const platform = { os: [process.platform], cpu: [process.arch], optional: true };
  const packages = {
    "": { version: "0.1.0" },
    "node_modules/served": { version: "1.0.0", integrity: "sha512-a" },
    "node_modules/node-here": { version: "26.0.0", integrity: "sha512-b", ...platform },
    "node_modules/node-elsewhere": { version: "26.0.0", integrity: "sha512-c", os: ["plan9"], optional: true },
    "node_modules/tested": { version: "2.0.0", integrity: "sha512-d", dev: true },
  };
  const { "node_modules/served": served, "node_modules/node-here": nodeHere } = packages;
  const installed = { "node_modules/served": served, "node_modules/node-here": nodeHere };
  /** A clone in which npm has installed these packages, without our stamp. */
  const cloneAfterNpm = (t: TestContext, listed: object) => {
    const clone = cloneWith(t, npm);
    clone.write("package-lock.json", JSON.stringify({ packages }));
    for (const path of Object.keys(installed)) mkdirSync(clone.at(path), { recursive: true });
    clone.write("node_modules/.package-lock.json", JSON.stringify({ packages: listed }));
    return clone;
  };

  it("are used as they are", async (t) => {
    const clone = cloneAfterNpm(t, installed);
    for (const round of [1, 2])
      assert.deepEqual(await clone.start(), { code: 0, out: "started\n", err: "" }, `${round}`);
    assert.equal(clone.timesInstalled(), 0);
    clone.write("package-lock.json", JSON.stringify({ packages: { ...packages, "node_modules/served": {} } }));
    await clone.start();
    assert.equal(clone.timesInstalled(), 1, "the lock file has changed since");
  });

  it("are replaced if one of them is missing or another one", async (t) => {
    for (const listed of [
      { ...installed, "node_modules/served": { ...served, version: "0.9.0" } },
      { ...installed, "node_modules/served": { ...served, integrity: "sha512-x" } },
      { "node_modules/served": served },
    ]) {
      const clone = cloneAfterNpm(t, listed);
      assert.equal((await clone.start()).code, 0);
      assert.equal(clone.timesInstalled(), 1, JSON.stringify(listed));
    }
  });
});

describe("a start by npm", { skip, timeout: 30_000 }, () => {
  it("ends when npm has ended, though npm passes no signal on", async (t) => {
    const clone = cloneWith(t, npm);
    await clone.start();
    // Ends only on a signal; without one the test would wait for it.
    clone.write(
      "src/main.ts",
      'process.on("SIGTERM", () => { console.log("stopped"); process.exit(); }); console.log("started"); setInterval(() => {}, 1e6);\n',
    );
    const parent = spawn("sh", ["-c", `"${process.execPath}" "${clone.at("bin/breezeway")}" & wait`], {
      env: cleanEnvironment({ npm_lifecycle_event: "start", PATH: `${clone.at("path")}:${process.env.PATH}` }),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface({ input: parent.stdout })[Symbol.asyncIterator]();
    assert.equal((await lines.next()).value, "started");
    parent.kill("SIGKILL");
    assert.equal((await lines.next()).value, "stopped");
  });
});

describe("development packages", { skip, timeout: 30_000 }, () => {
  it("are added for tests and checks, beside packages that a running service may use, and kept from then on", async (t) => {
    const clone = cloneWith(t, npm);
    await clone.start();
    clone.write("node_modules/served/in-use", "");
    const checks = await clone.start({ args: ["--run", "src/main.ts"] });
    assert.equal(checks.err, "breezeway: installing npm packages, with those for tests and checks …\n");
    assert.deepEqual(clone.packages(), ["served", "tested"]);
    assert.ok(clone.has("node_modules/served/in-use"), "an installed package was replaced");
    for (const args of [[], ["--run", "src/main.ts"]]) assert.equal((await clone.start({ args })).err, "");

    clone.write("package-lock.json", lockFile.replace("{", '{"version":"0.2.0",'));
    assert.equal((await clone.start()).err, "", "another version with the same packages");
    clone.write("package-lock.json", changedLockFile);
    assert.match((await clone.start()).err, /with those for tests and checks/);
    assert.deepEqual(clone.packages(), ["served", "tested"]);
    assert.ok(!clone.has("node_modules/served/in-use"), "an outdated package was kept");
    assert.equal(clone.timesInstalled(), 3);
  });
});

describe("a start while packages are installed", { skip, timeout: 30_000 }, () => {
  it("waits for the one that installs, and says so; nothing is installed twice", async (t) => {
    const clone = cloneWith(t, `cat "$CLONE/path/gate"; ${npm}`);
    await promisify(execFile)("mkfifo", [clone.at("path/gate")]);
    const first = clone.start();
    // Opens when npm has begun, and lets it go on when it is closed.
    const gate = await open(clone.at("path/gate"), "w");
    const hears = (said: string) => said.includes("waiting for it …\n") && void gate.close();
    const second = clone.start({ hears });
    assert.deepEqual([(await first).code, (await second).code], [0, 0]);
    assert.match((await second).err, /^breezeway: another start is installing npm packages; waiting for it …\n$/);
    assert.equal(clone.timesInstalled(), 1);
  });
});

describe("a start that was killed while it installed", { skip, timeout: 30_000 }, () => {
  it("leaves the packages as they were, the next start doesn't wait for it, and its npm changes nothing", async (t) => {
    const clone = cloneWith(t, npm);
    await clone.start();
    clone.write("package-lock.json", changedLockFile);
    clone.write("path/npm", npmThat('cat "$CLONE/path/gate"; mkdir -p node_modules/late; echo > "$CLONE/path/over"'));
    await promisify(execFile)("mkfifo", [clone.at("path/gate"), clone.at("path/over")]);
    const killed = clone.spawn();
    const gate = await open(clone.at("path/gate"), "w");
    killed.kill("SIGKILL");
    await once(killed, "exit");
    assert.deepEqual(clone.packages(), ["served"]);

    clone.write("path/npm", npmThat(npm));
    assert.equal((await clone.start()).code, 0);
    await gate.close();
    await readFile(clone.at("path/over"));
    assert.deepEqual(clone.packages(), ["served"]);
    assert.ok(!clone.has(".breezeway-installing"));
  });
});

const lockFile = JSON.stringify({ packages: { "node_modules/served": {}, "node_modules/tested": { dev: true } } });

const changedLockFile = lockFile.replace('"node_modules/served":{}', '"node_modules/served":{"version":"2.0.0"}');

/** Also counts how often it runs. */
const npmThat = (does: string) => `#!/bin/sh\necho once >> "$CLONE/counted"\n${does}\n`;

/** A clone with nothing in it but the launcher, on a machine whose npm does this. */
function cloneWith(t: TestContext, does: string) {
  const folder = folderOf(t);
  const at = (path: string) => join(folder, path);
  const write = (path: string, content: string) => writeFileSync(at(path), content);
  cpSync(launcher, at("bin"), { recursive: true });
  for (const name of ["src/runtime/process", "path"]) mkdirSync(at(name), { recursive: true });
  write("package-lock.json", lockFile);
  write("src/main.ts", 'console.log("started");\n');
  write("src/runtime/process/node-flags", "--disable-warning=ExperimentalWarning\n");
  write("path/npm", npmThat(does));
  chmodSync(at("path/npm"), 0o755);
  const start = (args: readonly string[] = []) =>
    spawn(process.execPath, [at("bin/breezeway"), ...args], {
      env: cleanEnvironment({ PATH: `${at("path")}:${process.env.PATH}`, CLONE: folder }),
      stdio: ["ignore", "pipe", "pipe"],
    });
  return {
    at,
    write,
    has: (path: string) => existsSync(at(path)),
    packages: () => readdirSync(at("node_modules")).filter((name) => !name.startsWith(".")),
    spawn: start,
    async start({ args = [], hears = () => undefined }: StartOptions = {}) {
      const child = start(args);
      child.stderr.on("data", (chunk) => hears(String(chunk)));
      const [out, err] = [text(child.stdout), text(child.stderr)];
      const [code] = await once(child, "close");
      return { code, out: await out, err: await err };
    },
    timesInstalled: () => (existsSync(at("counted")) ? readFileSync(at("counted"), "utf8").split("\n").length - 1 : 0),
  };
}

interface StartOptions {
  readonly args?: readonly string[];
  readonly hears?: (said: string) => void;
}
