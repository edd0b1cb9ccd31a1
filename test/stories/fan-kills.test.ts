import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import { startChild } from "./child-service.ts";
import { killAroundCommands } from "./command-kills.ts";
import { killAtEachStep } from "./fan-kill-steps.ts";
import { killAroundFanRequests } from "./fan-kills.ts";
import { killableDeployment } from "./killable-deployment.ts";
import { databases, eventually } from "./world.ts";

const minutes = 60_000;
const request = "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite";
const active = "d.structures[1].d.thermostats[1].fan_timer_active";

describe("a fan request around which the service is killed", () => {
  for (const database of databases) {
    // On a shared database each outcome takes longer: another node might still wait for the answer.
    if (database !== "postgres") {
      it(`at each step is sent at most once and has an outcome, on ${database}`, { timeout: 5 * minutes }, (t) =>
        killAtEachStep(t, database),
      );
    }
    if (database !== "sqlite") {
      const kills = database === "three nodes" ? 12 : 3;
      it(`is sent at most once and has an outcome, on ${database}`, { timeout: 5 * minutes }, (t) =>
        killAroundFanRequests(t, { database, seed: 6, rounds: kills }),
      );
    }
  }

  for (const database of databases) {
    it(
      `which came through /v3/things, is sent at most once and has an outcome, on ${database}`,
      {
        timeout: 5 * minutes,
      },
      (t) => killAroundCommands(t, { database, seed: 7, rounds: database === "sqlite" ? 12 : 3 }),
    );
  }

  it("is sent by the next owner of its link when the owner died before sending it", {
    timeout: 3 * minutes,
  }, async (t) => {
    const house = await killableDeployment(t, "postgres");
    const { simulator, client, environment } = house;
    const account = simulator.addAccount({ structures: [{ thermostats: 1, alarms: 0 }] });
    const owner = await startChild("serve", environment);
    const other = await startChild("serve", environment);
    for (const { process } of [owner, other]) t.after(() => process.kill("SIGKILL"));
    house.baseUrl = owner.baseUrl;
    await house.signIn();
    const { body } = await client.federate("POST", account.token);
    await eventually(t.signal, async () => assert.equal((await client.linkStatus()).state, "live"));
    const program = await house.authorizeClient();
    owner.process.kill("SIGKILL");
    await owner.ended;
    house.baseUrl = other.baseUrl;
    const deviceId = Number(body.DeviceId) as DeviceId;
    await program.write(deviceId, { [request]: "true" });
    await eventually(t.signal, async () => {
      const { attributes } = await client.device(deviceId);
      assert.deepEqual([attributes.get(active)?.value, attributes.get(request)?.value], ["true", undefined]);
    });
    assert.equal(simulator.log().filter(({ kind }) => kind === "command").length, 1);
  });
});
