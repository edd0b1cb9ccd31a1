import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { thermostatAttribute } from "../../src/model/attribute-names.ts";
import { databases, eventually, world } from "./world.ts";

const request = "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite";
const active = "d.structures[1].d.thermostats[1].fan_timer_active";

/** A linked house, and a client that writes and reads as interface 7 tells it to. */
async function house(t: TestContext, database: "sqlite" | "postgres") {
  const made = await world(t, { database, structures: [{ thermostats: 2, alarms: 1 }] });
  const deviceId = await made.link();
  const reach = { kind: "user", userId: made.userId } as const;
  const read = async () => (await made.client.device(deviceId)).attributes;
  await eventually(t.signal, async () => assert.equal((await made.client.linkStatus()).state, "live"));
  return {
    simulator: made.simulator,
    accountId: made.accountId,
    deviceId,
    read,
    write: (value: string | null, name = request) =>
      made.service.parts.devices.write(reach, deviceId, [{ name, value }]),
    receipts: () => made.service.parts.federation.receipts(made.userId, deviceId),
  };
}

for (const database of databases) {
  describe(`a fan request on ${database}`, () => {
    it("starts the fan, erases itself, and is confirmed by the stream", async (t) => {
      const { write, read, receipts } = await house(t, database);
      await write("true");
      await eventually(t.signal, async () => {
        assert.equal((await read()).get(active)?.value, "true");
        assert.equal((await read()).get(request), undefined);
        assert.equal((await receipts())[0]?.state, "confirmed");
      });
    });

    it("is refused here while nobody is home", async (t) => {
      const { write, read, receipts, simulator, accountId } = await house(t, database);
      await simulator.playScene(accountId, { scene: "leave" });
      await eventually(t.signal, async () => assert.equal((await read()).get("d.structures[1].a.away")?.value, "away"));
      await write("true");
      assert.match(
        (await read()).get(request)?.value ?? "",
        /^error: Cannot change fan_timer_active while structure is away, true, \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
      );
      assert.equal((await receipts())[0]?.state, "rejected");
      assert.equal(thermostatAttribute(1, 1, "requestWrite") > 0, true);
    });
  });
}
