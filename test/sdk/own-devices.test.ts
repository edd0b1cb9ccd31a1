import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Breezeway } from "../../sdk/src/index.ts";
import { provisioningWorld } from "../provisioning/world.ts";

describe("the SDK for a company's own devices", () => {
  it("adds, changes, states and removes them, one by one and in batches", async (t) => {
    const { world, acme, lamp, devicesOf } = await provisioningWorld(t);
    const { devices, getDevice } = bound(new Breezeway({ baseUrl: world.baseUrl, accessToken: acme }));
    const added = await devices.add(lamp({ room: "Hall", attributes: { power: "on" } }));
    assert.deepEqual([added.room, added.attributes.power?.value], ["Hall", "on"]);
    const changed = await devices.update(added.deviceId, { deviceName: "Spot", room: null });
    assert.deepEqual([changed.deviceName, changed.room], ["Spot", undefined]);
    await devices.remove(added.deviceId);
    await assert.rejects(getDevice(added.deviceId), { code: "unknown_device" });

    async function* lamps(count: number) {
      for (let n = 1; n <= count; n++) yield n === 3 ? lamp({ userId: 999 }) : lamp({ deviceName: `lamp ${n}` });
    }
    const options = { idempotencyKey: "the batch" };
    const part: unknown[] = [];
    for await (const answer of devices.batch(lamps(600), options)) if (part.push(answer) === 500) break;
    const answers = await Array.fromAsync(devices.batch(lamps(600), options));
    assert.deepEqual(answers.slice(0, 500), part);
    assert.deepEqual(
      answers.map(({ line }) => line),
      Array.from({ length: 600 }, (_, n) => n + 1),
    );
    assert.deepEqual(
      answers.filter(({ status }) => status !== 201).map(({ line, status }) => [line, status]),
      [[3, 404]],
    );
    const ids = (await devicesOf()).map(({ id }) => id as number);
    assert.equal(ids.length, 599);
    const stated = await devices.setStates({ [ids[0]!]: { power: "off" }, 999: { power: "off" } });
    assert.deepEqual([stated.written, stated.failed.map(({ error }) => error)], [[ids[0]], ["unknown_device"]]);
    assert.equal((await getDevice(ids[0]!)).attributes.power?.value, "off");
  });
});

function bound(breezeway: Breezeway) {
  return { devices: breezeway.devices, getDevice: (id: number) => breezeway.getDevice(id) };
}
