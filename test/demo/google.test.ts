import assert from "node:assert/strict";
import { exec } from "node:child_process";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { eventually } from "../stories/world.ts";
import { demoFolder, type RunningDemo, startDemo } from "./running-demo.ts";

const timeout = 120_000;

describe("the demo on a simulated Google", () => {
  it("plays a Google account: a fan switches the lamp, and the same house is there after kill -9", {
    timeout,
  }, async (t) => {
    const folder = demoFolder(t);
    const first = await startDemo(t, folder, 0, {}, ["--ecosystem", "google-device-access"]);
    const things = async (demo: RunningDemo) =>
      ((await demo.get("things?kind=thermostat")) as { things: { thingId: string; name: string }[] }).things;
    const before = await things(first);
    assert.deepEqual(before.map(({ name }) => name).sort(), ["Attic heater", "Hall"]);
    assert.match(await (await fetch(first.simulatorUrl)).text(), /Let something go wrong/);
    await promisify(exec)(`curl -sf -d scene=fan ${first.simulatorUrl}/simulator/scene`);
    await eventually(t.signal, async () => assert.equal(await lampPower(first), "on"));
    first.process.kill("SIGKILL");
    await first.ended;
    const second = await startDemo(t, folder);
    const ids = (list: readonly { thingId: string }[]) => list.map(({ thingId }) => thingId).sort();
    assert.deepEqual(ids(await things(second)), ids(before));
  });
});

/** The power of the demo's lamp, as a client reads it. */
async function lampPower(demo: RunningDemo): Promise<string> {
  const [lamp] = (await demo.get("devices?deviceTypeName=Lamp")).devices;
  return (await demo.get(`devices/${lamp.deviceId}`)).attributes.power.value;
}
