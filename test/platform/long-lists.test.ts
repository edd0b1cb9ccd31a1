import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { madePlatform, textsOf, xmlOf } from "./made-platform.ts";
import { readStrictly } from "./strict-xml.ts";

const names = (count: number) => Array.from({ length: count }, (_, at) => `lamp ${at}`);

/** Alice with a device and this many alerts on it. */
async function withAlerts(t: TestContext, count: number) {
  const world = await madePlatform(t);
  const deviceId = await world.addDevice("Lamp");
  await world.store.transaction(async (tx) => {
    for (let at = 0; at < count; at++) {
      await tx.triggers.add({
        userId: world.userId,
        deviceId,
        key: "on",
        attributeName: "on",
        condition: { operation: "equals", text: `value ${at}` },
        action: "email",
        targets: [],
        address: "",
        message: "",
        autoDisarm: false,
        autoDelete: false,
        autoDisable: false,
        isEnabled: true,
        isArmed: true,
        reason: null,
        createdMs: 1,
      });
    }
  });
  return { ...world, deviceId };
}

describe("a list that is longer than a page", () => {
  it("has all devices, in order", async (t) => {
    const { call, secToken, addDevice } = await madePlatform(t);
    for (const name of names(250)) await addDevice(name);
    const { status, root } = await call("getDeviceList", { secToken });
    assert.equal(status, 200);
    assert.deepEqual(
      root.children.map((device) => textsOf(device).devName),
      names(250),
    );
  });

  it("has all alerts of a user and of a device, in order", async (t) => {
    const { call, secToken, deviceId } = await withAlerts(t, 1_050);
    for (const [operation, parameters] of [
      ["getTriggerDetailListByUser", { secToken }],
      ["getTriggerDetailListByDevice", { secToken, devId: String(deviceId) }],
    ] as const) {
      const { status, root } = await call(operation, parameters);
      assert.equal(status, 200);
      assert.deepEqual(
        root.children.map((alert) => textsOf(alert).stringThreshold),
        Array.from({ length: 1_050 }, (_, at) => `value ${at}`),
      );
    }
  });

  it("is read page by page, as the client takes the slices", async (t) => {
    const { calls, secToken, store } = await withAlerts(t, 1_000);
    let reads = 0;
    const { read } = store;
    t.mock.method(store, "read", (...args: Parameters<typeof read>) => {
      reads += 1;
      return read.apply(store, args);
    });
    const answer = await calls.call("getTriggerDetailListByUser", [["secToken", secToken]], "192.0.2.1");
    assert.ok("slices" in answer);
    const before = reads;
    const sizes: number[] = [];
    let taken = 0;
    for await (const slice of answer.slices) {
      sizes.push(slice.match(/<trigList>/g)?.length ?? 0);
      taken += 1;
      assert.ok(reads - before < taken, `${reads - before} pages were read ahead of ${taken} slices`);
    }
    assert.deepEqual(sizes, [...Array<number>(10).fill(100), 0]);
  });

  it("that fails halfway rejects instead of ending early", async (t) => {
    const { calls, secToken, store } = await withAlerts(t, 300);
    const answer = await calls.call("getTriggerDetailListByUser", [["secToken", secToken]], "192.0.2.1");
    assert.ok("slices" in answer);
    const broken = new Error("row 250 of table triggers is broken");
    t.mock.method(store, "read", () => Promise.reject(broken));
    await assert.rejects(Array.fromAsync(answer.slices), broken);
  });
});

describe("a device with large attributes", () => {
  it("is written in slices, with all attributes in order", async (t) => {
    const { calls, secToken, addDevice, write } = await madePlatform(t);
    const deviceId = await addDevice("Lamp");
    const value = "v".repeat(8_000);
    const keys = Array.from({ length: 200 }, (_, at) => `k${String(at).padStart(3, "0")}`);
    await write(deviceId, Object.fromEntries(keys.map((key) => [key, value])));
    const parameters = Object.entries({ secToken, devId: String(deviceId) });
    const answer = await calls.call("getDeviceAttributesWithValues", parameters, "192.0.2.1");
    assert.ok("slices" in answer);
    const slices = await Array.fromAsync(answer.slices);
    assert.ok(slices.length > 5 && slices.every(({ length }) => length < 400_000));
    const whole = {
      status: 200,
      caller: undefined,
      slices: (async function* () {
        yield* slices;
      })(),
    } as const;
    const attributes = readStrictly(await xmlOf(whole)).children.filter(({ name }) => name === "attrList");
    assert.deepEqual(
      attributes.map((attribute) => [textsOf(attribute).id, textsOf(attribute).name]),
      keys.map((key, at) => [String(at), key]),
    );
  });
});
