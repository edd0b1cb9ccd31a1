import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { startGoogle } from "../../simulator/google-device-access/simulator.ts";
import { startHomeAssistant } from "../../simulator/home-assistant/simulator.ts";
import { startSimulator } from "../../simulator/simulator.ts";
import { demoSimulator } from "../../src/cli/demo-simulator.ts";
import { runCommand } from "./run-command.ts";

async function house(t: TestContext) {
  const simulator = await startSimulator({ port: 0 });
  t.after(() => simulator.stop());
  const { accountId } = simulator.addAccount({ structures: [{ name: "Maple Street", thermostats: 1, alarms: 1 }] });
  const sim = (...args: string[]) => runCommand(["sim", ...args, "--simulator", simulator.url]);
  return { simulator, accountId, sim };
}

describe("breezeway sim", () => {
  it("plays a scene in the only account, with arguments", async (t) => {
    const { simulator, accountId, sim } = await house(t);
    const { code, stdout } = await sim("trigger", "rename", "structure=1", "name=Elm Street", "--json");
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout).applied, true);
    assert.match(JSON.stringify(simulator.document(accountId)), /"name":"Elm Street"/);
  });

  it("lists accounts, scenes and faults", async (t) => {
    const { accountId, sim } = await house(t);
    assert.equal(JSON.parse((await sim("accounts")).stdout).accounts[0].accountId, accountId);
    const { scenes } = JSON.parse((await sim("scenes")).stdout);
    assert.ok(scenes.some(({ name }: { name: string }) => name === "smoke"));
    const { kinds, active } = JSON.parse((await sim("fault")).stdout);
    assert.ok(kinds.some(({ fault }: { fault: string }) => fault === "silence"));
    assert.deepEqual(active, []);
  });

  it("injects a fault and clears it", async (t) => {
    const { simulator, sim } = await house(t);
    assert.equal((await sim("fault", "server-error", "status=503")).code, 0);
    assert.equal(simulator.faults().length, 1);
    assert.equal((await sim("fault", "--clear")).code, 0);
    assert.equal(simulator.faults().length, 0);
  });

  it("plays scenes in the simulators of all ecosystems", async (t) => {
    const instance = await startHomeAssistant({ port: 0 });
    t.after(() => instance.stop());
    const google = await startGoogle();
    t.after(() => google.stop());
    google.addAccount("Ada");
    const played = [
      [instance.url, "smoke"],
      [google.url, "cold"],
    ] as const;
    for (const [url, scene] of played) {
      const sim = (...args: string[]) => runCommand(["sim", ...args, "--simulator", `${url}/`, "--json"]);
      const { accounts } = JSON.parse((await sim("accounts")).stdout);
      assert.equal(accounts.length, 1);
      const { scenes } = JSON.parse((await sim("scenes")).stdout);
      assert.ok(scenes.some(({ name }: { readonly name: string }) => name === scene));
      assert.deepEqual(JSON.parse((await sim("trigger", scene)).stdout), { scene });
      const fault = await sim("fault");
      assert.deepEqual([fault.code, /faults are scenes/.test(fault.stderr)], [5, true], fault.stderr);
    }
    const smoke = [...instance.instance.states.values()].find(({ attributes }) => attributes.device_class === "smoke");
    assert.equal(smoke?.state, "on");
  });

  it("finds the demo that started last, whichever ecosystem it plays", (t) => {
    const folder = mkdtempSync(join(tmpdir(), "breezeway-demos-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    for (const [name, ageSeconds] of [
      ["breezeway-data", 60],
      ["breezeway-data-home-assistant", 0],
    ] as const) {
      mkdirSync(join(folder, name));
      const file = join(folder, name, "demo-simulator-url");
      writeFileSync(file, `http://127.0.0.1:1/${name}`);
      const seconds = Date.now() / 1_000 - ageSeconds;
      utimesSync(file, seconds, seconds);
    }
    assert.equal(demoSimulator(undefined, folder), "http://127.0.0.1:1/breezeway-data-home-assistant");
    assert.equal(demoSimulator(join(folder, "breezeway-data")), "http://127.0.0.1:1/breezeway-data");
  });

  it("says what to do when a scene, an account or the simulator does not exist", async (t) => {
    const { simulator, sim } = await house(t);
    for (const [args, sentence] of [
      [["trigger", "smok"], "There is no scene smok. Did you mean smoke? All: breezeway sim scenes"],
      [["trigger", "earthquake"], "There is no scene earthquake. All: breezeway sim scenes"],
      [["fault", "silense"], "There is no fault silense. Did you mean silence? All: breezeway sim fault"],
    ] as const) {
      const unknown = await sim(...args);
      assert.deepEqual([unknown.code, unknown.stderr], [2, `breezeway: ${sentence}\n`]);
    }
    simulator.addAccount({});
    const several = await sim("trigger", "smoke");
    assert.deepEqual(
      [several.code, several.stderr],
      [2, "breezeway: There are several accounts. Choose one with --account.\n"],
    );
    const word = await sim("trigger", "smoke", "alarm");
    assert.equal(word.code, 2);
    await simulator.stop();
    const unreachable = await sim("scenes");
    assert.equal(unreachable.code, 6);
    assert.match(
      unreachable.stderr,
      /No simulator answers at .*Start one with: breezeway simulator, or breezeway demo/,
    );
  });
});
