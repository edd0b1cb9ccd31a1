import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { defaultFolder } from "../../demo/ecosystems/choice.ts";
import { breezeway, startChild } from "../stories/child-service.ts";
import { demoFolder } from "./running-demo.ts";

const timeout = 120_000;

/** Starts a demo without a data folder, stops it, and returns its folder from the banner. */
async function folderOfDemo(t: TestContext, cwd: string, args: readonly string[]): Promise<string> {
  const demo = await startChild("demo", { BREEZEWAY_PORT: "0" }, { cwd, args });
  t.after(() => demo.process.kill("SIGKILL"));
  demo.process.kill("SIGINT");
  assert.equal(await demo.ended, 0);
  return /Data +(\S+)/.exec(demo.output)?.[1] ?? "";
}

describe("a demo without a data folder", () => {
  it("has one folder for each ecosystem, so that one demo can be tried after the other", { timeout }, async (t) => {
    const cwd = demoFolder(t);
    const ha = ["--ecosystem", "home-assistant"];
    assert.equal(await folderOfDemo(t, cwd, []), "./breezeway-data");
    assert.equal(await folderOfDemo(t, cwd, ha), "./breezeway-data-home-assistant");
    assert.equal(await folderOfDemo(t, cwd, ["--ecosystem", "nest"]), "./breezeway-data");
  });

  it("stays in the usual folder if an earlier version put the same ecosystem there", (t) => {
    const usual = join(demoFolder(t), "breezeway-data");
    mkdirSync(usual);
    writeFileSync(join(usual, "demo-ecosystem"), "home-assistant");
    assert.equal(defaultFolder(usual, "home-assistant"), usual);
    assert.equal(defaultFolder(usual, "nest"), `${usual}-nest`);
    assert.equal(defaultFolder(usual, undefined), usual);
  });

  it("leaves nothing behind when the ecosystem is unknown", async (t) => {
    const cwd = demoFolder(t);
    const wrong = ["demo", "--ecosystem", "homeassistant"];
    const { code, stderr } = await breezeway(wrong, { cwd });
    assert.equal(code, 2);
    assert.match(stderr, /homeassistant.*Allowed choices are nest, home-assistant, google-device-access/);
    assert.deepEqual(readdirSync(cwd), []);
    const chosen = join(cwd, "chosen");
    assert.equal((await breezeway([...wrong, "--data", chosen], { cwd })).code, 2);
    assert.equal(existsSync(chosen), false);
  });
});
