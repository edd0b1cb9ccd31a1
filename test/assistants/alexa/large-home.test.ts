import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AlexaMessage } from "../../../simulator/alexa/alexa-message.ts";
import { ownHomeAtAlexa } from "./own-home.ts";

/** What an event tells, as `name endpoints`. */
function toldBy({ event: { header, endpoint, payload } }: AlexaMessage): string {
  const listed = (payload.endpoints ?? []) as readonly { readonly endpointId: string }[];
  return [header.name, endpoint?.endpointId, ...listed.map(({ endpointId }) => endpointId)].filter(Boolean).join(" ");
}

describe("a home with more devices than Alexa takes", () => {
  it("is told as discovery names it, also when other devices come in or go", async (t) => {
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
      `AddOrUpdateReport ${firstLeftOut}`,
      `ChangeReport ${firstLeftOut}`,
    ]);
    assert.equal(customer.states.get(firstLeftOut)?.get("Alexa.PowerController.powerState"), "ON");

    await add("Alarm", ["Hall"]);
    const alarm = await find("Hall");
    await isTold();
    assert.deepEqual(told().toSorted(), [
      `AddOrUpdateReport ${alarm.thingId}`,
      `ChangeReport ${alarm.thingId}`,
      `DeleteReport ${firstLeftOut}`,
    ]);

    await call("DELETE", `/devices/${deviceOf.get(secondLeftOut)}`);
    await isTold();
    assert.deepEqual(told(), [], "it was not offered");
    assert.equal((await shown())[0]!.omitted.count, 1);
    const known = [...customer.endpoints.keys()].sort();
    await skill.discover();
    assert.deepEqual([...customer.endpoints.keys()].sort(), known, "a discovery names the same endpoints");
  });
});
