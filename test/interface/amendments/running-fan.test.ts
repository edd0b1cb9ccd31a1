import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fanHouse } from "../../stories/fan-client.ts";
import { databases, eventually } from "../../stories/world.ts";

for (const database of databases) {
  describe(`settled: a fan that runs already (${database})`, () => {
    for (const order of ["after", "before"] as const) {
      it(`moves the time of fan_timer_active if the snapshot comes ${order} the answer`, async (t) => {
        const { fan, story, received, receipts } = await fanHouse(t, { database });
        await fan.request("true");
        await eventually(t.signal, async () => assert.deepEqual(await fan.check(), { is: "running" }));
        const { updateTime } = (await fan.read(""))!;
        if (order === "before") story.simulator.addFault({ fault: "answer-late", times: 1 });
        await fan.request("true");
        await eventually(t.signal, async () => {
          assert.deepEqual(await fan.check(), { is: "running" });
          assert.deepEqual(
            (await receipts()).map(({ state }) => state),
            ["confirmed", "confirmed"],
          );
        });
        assert.ok((await fan.read(""))!.updateTime > updateTime);
        assert.equal((await fan.read(".requestWrite"))?.value, null);
        assert.equal(received().length, 2);
      });
    }

    it("moves no time if the ecosystem refuses", async (t) => {
      const { fan, story } = await fanHouse(t, { database });
      await fan.request("true");
      await eventually(t.signal, async () => assert.deepEqual(await fan.check(), { is: "running" }));
      const { updateTime } = (await fan.read(""))!;
      story.simulator.addFault({ fault: "reject-fan", times: 1 });
      await fan.request("true");
      const { is } = await fan.outcome(t.signal);
      assert.equal(is, "error");
      assert.equal((await fan.read(""))!.updateTime, updateTime);
    });
  });
}
