import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eventually } from "../stories/world.ts";
import { googleWorld, type Json } from "./google-world.ts";

describe("an outlet's health", () => {
  it("shows the last directive, how long a report waits, and the errors of reports by code", async (t) => {
    const { story, graph, google, outlet: added, synced } = await googleWorld(t);
    const { administration } = story.service.parts;
    const { outlet } = added;
    const run = (command: string, input: object = {}): Promise<Json> => administration.run(command, input);
    const shown = () => run("outlet show", { outlet });
    const before = await shown();
    assert.deepEqual([before.lastDirective, before.reportLagMs, before.errors], [null, 0, []]);
    assert.ok(Date.parse(before.directivesSince) <= Date.now());

    await synced();
    const { name, error, time } = (await shown()).lastDirective;
    assert.deepEqual([name, error], ["SYNC", null]);
    assert.ok(Date.parse(time) >= Date.parse(before.directivesSince));
    await google.execute("t_unknown", ["OnOff", { on: true }]);
    const asked = { requestId: "1", inputs: [{ intent: "action.devices.SYNC" }] };
    await run("outlet try", { outlet, user: String(story.userId), message: JSON.stringify(asked) });
    const [listed] = (await run("outlet list")).outlets;
    assert.deepEqual([listed.lastDirective.name, listed.lastDirective.error], ["EXECUTE", "deviceNotFound"]);

    await eventually(t.signal, async () => assert.equal((await shown()).reportLagMs, 0));
    const silence = graph.inject({ method: "reportStateAndNotification", status: 503, times: 1_000 });
    await story.simulator.playScene(story.accountId, { scene: "smoke" });
    await eventually(t.signal, async () => {
      const { errors, reportLagMs } = await shown();
      assert.equal(errors[0]?.code, "FAULT");
      assert.ok(errors[0].count >= 2 && reportLagMs > 0);
    });
    silence();
    await eventually(t.signal, async () => assert.equal((await shown()).reportLagMs, 0));
    assert.equal((await shown()).errors[0].code, "FAULT");
  });
});
