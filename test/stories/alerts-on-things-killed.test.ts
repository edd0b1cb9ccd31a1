import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runCommand } from "../cli/run-command.ts";
import { killableDeployment } from "./killable-deployment.ts";
import { alarmsOf, firingsOf, smokeOf, watchSmoke } from "./smoke-alerts.ts";
import { eventually, longSuiteOn } from "./world.ts";

const kills = 10;

for (const database of longSuiteOn("sqlite")) {
  describe(`an alert on a thing of a service on ${database} that is killed`, () => {
    it("fires exactly once for each emergency", { timeout: 180_000 }, async (t) => {
      const house = await killableDeployment(t, database);
      const { simulator, client, nodes } = house;
      const account = simulator.addAccount({ structures: [{ thermostats: 1, alarms: 1 }] });
      await nodes.start();
      await house.signIn();
      await client.federate("POST", account.token);
      const v3 = await house.authorizeClient();
      const [thingId] = await alarmsOf(v3, t.signal, 1);
      const added = await runCommand(["device", "add", "--user", "1", "--name", "Lamp", "--type", "Lamp", "--json"], {
        environment: house.environment,
      });
      const lamp = JSON.parse(added.stdout).deviceId as number;
      const alertId = await watchSmoke(v3, thingId!, lamp);
      for (let round = 1; round <= kills; round++) {
        await simulator.playScene(account.accountId, { scene: "smoke" });
        // Kills before, in and after the commit: each round gives the service a little more time.
        for (let turns = 0; turns < 40 * (round - 1); turns++) await new Promise((resolve) => setImmediate(resolve));
        await nodes.kill();
        await nodes.start();
        await eventually(t.signal, async () => assert.equal(await smokeOf(v3, thingId!), "alarm"));
        assert.deepEqual(await firingsOf(v3, alertId, thingId!, lamp), [round, round, round]);
        await simulator.playScene(account.accountId, { scene: "clear" });
        await eventually(t.signal, async () => assert.equal(await smokeOf(v3, thingId!), "clear"));
      }
    });
  });
}
