import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Breezeway, UnexpectedAnswer } from "../../sdk/src/index.ts";
import { StoreUnavailable } from "../../src/model/errors.ts";
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
    // The status decides which members an answer has.
    assert.deepEqual(
      answers.flatMap((answer) => (answer.status === 201 ? [] : [[answer.line, answer.status, answer.error]])),
      [[3, 404, "not_found"]],
    );
    assert.ok(answers.every((answer) => answer.status !== 201 || Number.isInteger(answer.deviceId)));
    const ids = (await devicesOf()).map(({ id }) => id as number);
    assert.equal(ids.length, 599);
    const stated = await devices.setStates({ [ids[0]!]: { power: "off" }, 999: { power: "off" } });
    assert.deepEqual([stated.written, stated.failed.map(({ error }) => error)], [[ids[0]], ["unknown_device"]]);
    assert.equal((await getDevice(ids[0]!)).attributes.power?.value, "off");
  });

  it("repeats a batch that the service breaks off, and adds no device twice", async (t) => {
    const { world, acme, lamp, devicesOf } = await provisioningWorld(t);
    const { addSome } = world.service.parts.provisioning;
    let groups = 0;
    t.mock.method(world.service.parts.provisioning, "addSome", (...call: Parameters<typeof addSome>) => {
      if (++groups === 2) throw new StoreUnavailable("The store is away.");
      return addSome(...call);
    });
    const { devices } = bound(new Breezeway({ baseUrl: world.baseUrl, accessToken: acme }));
    const lamps = Array.from({ length: 150 }, (_, n) => lamp({ deviceName: `lamp ${n}` }));
    const answers = await Array.fromAsync(devices.batch(lamps));
    assert.deepEqual([answers.length, (await devicesOf()).length], [150, 150]);
    assert.ok(groups > 2);
  });

  it("yields what was answered when a batch can't be finished, and its error has the key to resume it", async (t) => {
    const { world, acme, lamp, devicesOf } = await provisioningWorld(t);
    const { addSome } = world.service.parts.provisioning;
    let groups = 0;
    const broken = t.mock.method(world.service.parts.provisioning, "addSome", (...call: Parameters<typeof addSome>) => {
      if (++groups > 1) throw new StoreUnavailable("The store is away.");
      return addSome(...call);
    });
    const { devices } = bound(new Breezeway({ baseUrl: world.baseUrl, accessToken: acme, retries: 1 }));
    const lamps = Array.from({ length: 150 }, (_, n) => lamp({ deviceName: `lamp ${n}` }));
    const answers: unknown[] = [];
    const read = async () => {
      for await (const answer of devices.batch(lamps)) answers.push(answer);
    };
    const error = await read().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof UnexpectedAnswer, String(error));
    assert.match(error.message, /can't use its store now/);
    assert.equal(groups, 3, "the batch is sent twice");
    assert.ok(answers.length > 0);
    assert.equal(answers.length, (await devicesOf()).length);
    broken.mock.restore();
    const { idempotencyKey } = error;
    assert.ok(idempotencyKey);
    const all = await Array.fromAsync(devices.batch(lamps, { idempotencyKey }));
    assert.deepEqual(all.slice(0, answers.length), answers);
    assert.equal((await devicesOf()).length, 150);
  });
});

function bound(breezeway: Breezeway) {
  return { devices: breezeway.devices, getDevice: (id: number) => breezeway.getDevice(id) };
}
