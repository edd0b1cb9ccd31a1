import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { startSimulator } from "../../simulator/simulator.ts";
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

  it("says what to do when a scene, an account or the simulator does not exist", async (t) => {
    const { simulator, sim } = await house(t);
    const scene = await sim("trigger", "earthquake");
    assert.equal(scene.code, 5);
    assert.match(scene.stderr, /smoke/);
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
