import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { world } from "../stories/world.ts";
import { startCommand } from "./long-running-command.ts";
import { typed } from "./typed.ts";

describe("a command that watches", () => {
  it("prints one JSON object a line, continues after a restart without a gap, and ends silently", async (t) => {
    const story = await world(t);
    const deviceId = await story.addLamp();
    const environment = { BREEZEWAY_DATA: story.config.dataFolder };
    const set = async (value: string) => {
      const { code, err } = await typed(["device", "set", String(deviceId), `power=${value}`], { environment });
      assert.equal(code, 0, err);
    };
    const { child, next, ended } = startCommand(t, ["device", "watch", String(deviceId)], environment);
    const { type, deviceName, attributes } = await next();
    assert.deepEqual([type, deviceName, attributes], ["device", "Lamp", {}]);
    await set("on");
    assert.equal((await next()).value, "on");
    await story.restart();
    await set("off");
    assert.equal((await next()).value, "off");
    child.kill("SIGINT");
    const { code, signal, err } = await ended;
    assert.deepEqual([code, signal], [null, "SIGINT"], "a shell reports 130");
    // A service that is slow to start still holds the folder when the command comes back.
    assert.match(
      err.replace(/^Another Breezeway process holds .*\n/m, ""),
      /^Not live since \S+: The connection to \S+ was lost\. Trying again …\nLive again: connected to \S+\n$/,
    );
  });

  it("ends silently when its pipe is closed", async (t) => {
    const story = await world(t);
    const deviceId = await story.addLamp();
    const environment = { BREEZEWAY_DATA: story.config.dataFolder };
    const { child, next, ended } = startCommand(t, ["device", "watch", String(deviceId)], environment);
    await next();
    child.stdout.destroy();
    await typed(["device", "set", String(deviceId), "power=on"], { environment });
    assert.deepEqual(await ended, { code: 0, signal: null, err: "" });
  });
});
