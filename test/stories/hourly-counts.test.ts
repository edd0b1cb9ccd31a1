import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deployments } from "../set-up/deployment.ts";
import { clientOfUser } from "./v3-client.ts";
import { person, world } from "./world.ts";

for (const database of deployments) {
  describe(`the changes of the last 24 hours (${database})`, () => {
    it("stay counted after a restart of all nodes, and further ones are added", { timeout: 120_000 }, async (t) => {
      const home = await world(t, { database });
      const lamp = await home.addLamp();
      const v3 = await clientOfUser(() => home.service, "Story", person);
      const countChanges = async () => {
        // biome-ignore lint/suspicious/noExplicitAny: the shape of the answer is what the test examines
        const answer: any = await home.service.parts.administration.run("activity", {});
        const { changes, silentNodes } = answer;
        assert.deepEqual([changes.length, silentNodes], [24, []]);
        return changes.reduce((sum: number, count: number) => sum + count, 0);
      };
      for (const power of ["on", "off", "on"]) await v3.write(lamp, { power });
      await home.restart();
      const afterRestart = await countChanges();
      assert.ok(afterRestart >= 3, `${afterRestart} changes`);
      await v3.write(lamp, { power: "off" });
      await home.restart();
      assert.equal(await countChanges(), afterRestart + 1);
    });
  });
}
