import assert from "node:assert/strict";
import { type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { freePort } from "../set-up/free-port.ts";
import { nodeFlags } from "../set-up/node-flags.ts";
import { cleanEnvironment } from "../stories/child-service.ts";
import { folderOf } from "./made-folder.ts";

const root = new URL("../..", import.meta.url).pathname;

describe("a service whose log can't be written", () => {
  it("goes on when the reader of standard error has gone", async (t) => {
    const { child, answers } = await serve(t, "pipe");
    await answers();
    child.stderr!.destroy();
    for (let request = 0; request < 3; request++) await answers();
    await endsInOrder(child);
  });

  const skip = process.platform !== "linux" && "only Linux has a device that is always full";
  it("goes on when the disk of the log is full", { skip }, async (t) => {
    const full = openSync("/dev/full", "w");
    t.after(() => closeSync(full));
    const { child, answers } = await serve(t, full);
    for (let request = 0; request < 3; request++) await answers();
    await endsInOrder(child);
  });
});

describe("a command in a folder with .env", () => {
  it("takes a folder of that name for no settings", async (t) => {
    const folder = folderOf(t);
    mkdirSync(join(folder, ".env"));
    const child = run(t, ["--version"], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr!.on("data", (chunk) => {
      said += chunk;
    });
    assert.deepEqual([(await once(child, "close"))[0], said], [0, ""]);
  });
});

function run(t: TestContext, args: readonly string[], options: SpawnOptions) {
  const child = spawn(process.execPath, [...nodeFlags(root), join(root, "src/main.ts"), ...args], options);
  t.after(() => child.kill("SIGKILL"));
  return child;
}

async function serve(t: TestContext, standardError: "pipe" | number) {
  const port = await freePort();
  const environment = { BREEZEWAY_DATA: folderOf(t), BREEZEWAY_PORT: String(port), BREEZEWAY_LOG_LEVEL: "debug" };
  const child = run(t, ["serve"], { env: cleanEnvironment(environment), stdio: ["ignore", "ignore", standardError] });
  child.stderr?.resume();
  /** Each request is a line of the log. */
  const answers = async () => {
    for (;;) {
      assert.deepEqual([child.exitCode, child.signalCode], [null, null], "the service has ended");
      const answer = await fetch(`http://127.0.0.1:${port}/v3/devices`).catch(() => undefined);
      if (answer) return assert.equal(answer.status, 401);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  return { child, answers };
}

async function endsInOrder(child: ReturnType<typeof run>): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null]);
}
