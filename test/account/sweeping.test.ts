import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startSweeping } from "../../src/service/sweeping.ts";
import { manualRuntime } from "../federation/manual-runtime.ts";

describe("the sweeps of a node", () => {
  it("remove what has expired and finish removals every 10 minutes, and one that fails stops no other", async (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    const runtime = manualRuntime();
    const ran: string[] = [];
    const sweep = (name: string) => async () => void ran.push(name);
    const account = {
      sweep: () => Promise.reject(new Error("a defect")),
      finishRemovals: async () => {
        ran.push("removals");
        throw new Error("a link is left");
      },
    };
    const tokens = { sweep: sweep("tokens") };
    const parts = { identity: { sweep: sweep("identity") }, operators: { sweep: sweep("operators") } };
    const stop = startSweeping({ ...parts, oauth: { tokens }, account, runtime } as never);
    t.mock.timers.tick(599_999);
    assert.deepEqual(ran, []);
    t.mock.timers.tick(1);
    assert.deepEqual(ran, ["identity", "operators", "tokens", "removals"]);
    await new Promise((resolve) => setImmediate(resolve));
    const lines = JSON.stringify(runtime.logLines);
    assert.match(lines, /expired sign-ins and tokens could not be removed/);
    assert.match(lines, /an interrupted removal of a user could not be finished/);
    stop();
    t.mock.timers.tick(600_000);
    assert.equal(ran.length, 4);
  });
});
