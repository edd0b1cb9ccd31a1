import assert from "node:assert/strict";
import { exec } from "node:child_process";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { runCommand } from "../cli/run-command.ts";
import { eventually } from "../stories/world.ts";
import { demoFolder, type RunningDemo, startDemo } from "./running-demo.ts";

const timeout = 120_000;

describe("the demo on a simulated Home Assistant", () => {
  it("plays a Home Assistant: things, smoke, and the same house after kill -9", { timeout }, async (t) => {
    const folder = demoFolder(t);
    const first = await startDemo(t, folder, 0, {}, ["--ecosystem", "home-assistant"]);
    const ids = async (demo: RunningDemo) => {
      const { things } = (await demo.get("things")) as { things: { thingId: string; kind: string }[] };
      return things.map(({ kind, thingId }) => `${kind} ${thingId}`).sort();
    };
    const before = await ids(first);
    for (const kind of ["thermostat", "alarm", "light", "switch", "fan", "sensor", "home"]) {
      assert.ok(
        before.some((id) => id.startsWith(kind)),
        `no ${kind} in ${before}`,
      );
    }
    assert.match(await (await fetch(first.simulatorUrl)).text(), /Let something happen/);
    await promisify(exec)(`curl -sf -d scene=smoke ${first.simulatorUrl}/simulator/scene`);
    await eventually(t.signal, async () => {
      const { things } = await first.get("things?kind=alarm");
      assert.equal(things[0].traits.smoke.state.state.value, "alarm");
    });
    first.process.kill("SIGKILL");
    await first.ended;

    // The folder knows its ecosystem.
    const second = await startDemo(t, folder);
    await eventually(t.signal, async () => assert.deepEqual(await ids(second), before));
    second.process.kill("SIGINT");
    assert.equal(await second.ended, 0);
    const other = ["demo", "--ecosystem", "nest", "--port", "0"];
    const refused = await runCommand(other, { environment: { BREEZEWAY_DATA: folder } });
    assert.equal(refused.code, 3);
    assert.match(refused.stderr, /is linked to home-assistant/);
  });
});
