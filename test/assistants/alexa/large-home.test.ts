import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eventually } from "../../stories/world.ts";
import { toldBy } from "./limited-home.ts";
import { ownHomeAtAlexa, ownMaps } from "./own-home.ts";

describe("a home of own devices at Alexa", () => {
  it("with more devices than Alexa takes is told as discovery names it, also when other devices come in or go", async (t) => {
    const { company, customer, skill, call, add, isTold, things, find, shown } = await ownHomeAtAlexa(t, 302);
    const told = () => customer.events.splice(0).map(toldBy);
    const lamps = (await things()).map(({ thingId }) => thingId).sort();
    const [firstLeftOut, secondLeftOut] = lamps.slice(300) as [string, string];
    assert.deepEqual([...customer.endpoints.keys()].sort(), lamps.slice(0, 300));
    assert.equal((await shown())[0]!.omitted.count, 2);
    assert.ok(!told().some((one) => one.includes(firstLeftOut) || one.includes(secondLeftOut)));

    const deviceOf = new Map((await things()).map(({ thingId, deviceId }) => [thingId, deviceId]));
    for (const id of [firstLeftOut, lamps[7]!]) await company.write(deviceOf.get(id)!, { power: "on" });
    await isTold();
    assert.deepEqual(told(), [`ChangeReport ${lamps[7]}`], "nothing of a lamp that discovery leaves out");

    await call("DELETE", `/devices/${deviceOf.get(lamps[3]!)}`);
    await isTold();
    assert.deepEqual(told(), [
      `DeleteReport ${lamps[3]} ${lamps[3]}:fan`,
      `DeleteReport ${firstLeftOut}:fan`,
      `AddOrUpdateReport ${firstLeftOut}`,
      `ChangeReport ${firstLeftOut}`,
    ]);
    assert.equal(customer.states.get(firstLeftOut)?.get("Alexa.PowerController.powerState"), "ON");

    await add("Alarm", ["Hall"]);
    const alarm = await find("Hall");
    await isTold();
    assert.deepEqual(told(), [
      `DeleteReport ${firstLeftOut} ${firstLeftOut}:fan`,
      `AddOrUpdateReport ${alarm.thingId}`,
      `ChangeReport ${alarm.thingId}`,
    ]);

    await call("DELETE", `/devices/${deviceOf.get(secondLeftOut)}`);
    await isTold();
    assert.deepEqual(told(), [], "it was not offered");
    assert.equal((await shown())[0]!.omitted.count, 1);
    const known = [...customer.endpoints.keys()].sort();
    await skill.discover();
    assert.deepEqual([...customer.endpoints.keys()].sort(), known, "a discovery names the same endpoints");
  });

  it("loses the fan of a thermostat whose trait map has none any more", async (t) => {
    const { customer, call, add, isTold, find } = await ownHomeAtAlexa(t, 1);
    await add("Heater", ["Attic"]);
    const { thingId } = await find("Attic");
    await isTold();
    assert.ok(customer.endpoints.has(thingId) && customer.endpoints.has(`${thingId}:fan`));
    customer.events.length = 0;
    const { kind, traits } = ownMaps.Heater;
    await call("PUT", "/device-types/Heater", { kind, traits: { thermostat: traits.thermostat } });
    await eventually(t.signal, async () => assert.ok(!customer.endpoints.has(`${thingId}:fan`)));
    await isTold();
    assert.deepEqual(customer.events.map(toldBy), [
      `DeleteReport ${thingId}:fan`,
      `AddOrUpdateReport ${thingId}`,
      `ChangeReport ${thingId}`,
    ]);
  });
});
