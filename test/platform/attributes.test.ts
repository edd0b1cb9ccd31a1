import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { DeviceWriting } from "../../src/devices/write.ts";
import { type PlatformCallParts, platformCalls } from "../../src/outlets/platform/calls.ts";
import { structureSummary, thermostatAttribute } from "../../src/virtual-device/attribute-names.ts";
import { assertFault, madePlatform, textsOf } from "./made-platform.ts";

const fan = "d.structures[1].d.thermostats[2].fan_timer_active.requestWrite";

async function house(t: TestContext) {
  const made = await madePlatform(t);
  const account = String(await made.addDevice("Nest account", true));
  const lamp = String(await made.addDevice("Lamp"));
  const call = (operation: string, parameters: Readonly<Record<string, string>>) =>
    made.call(operation, { secToken: made.secToken, ...parameters });
  const read = async (devId: string, name: string) => {
    const { value, updTime } = textsOf((await call("getDeviceAttribute", { devId, name })).root);
    return { value, updTime: Number(updTime) };
  };
  const set = (parameters: Readonly<Record<string, string>>) => call("setMultiDeviceAttributes2", parameters);
  return { ...made, account, lamp, call, read, set };
}

describe("a write", () => {
  it("knows when its client has gone, so that it need not wait for costly patterns", async () => {
    const gone = new AbortController();
    const signals: (AbortSignal | undefined)[] = [];
    const { call } = platformCalls({
      identity: { authenticate: async () => ({ kind: "user", userId: 1, tenantId: 1 }) },
      devices: { write: async (...given: Parameters<DeviceWriting["write"]>) => void signals.push(given[4]) },
      onLimitReached: () => undefined,
    } as unknown as PlatformCallParts);
    const write = (operation: string, ...named: readonly (readonly [string, string])[]) =>
      call(operation, [["secToken", "x"], ["devId", "1"], ...named], "192.0.2.1", gone.signal);
    await write("setDeviceAttribute", ["name", "power"], ["value", "on"]);
    await write("setMultiDeviceAttributes2", ["name1", "power"], ["value1", "on"]);
    assert.deepEqual(signals, [gone.signal, gone.signal]);
  });
});

describe("getDeviceAttribute", () => {
  it("returns an erased attribute as an empty element, with the time of its erasure", async (t) => {
    const { clock, account, lamp, read, call, write, addDevice } = await house(t);
    const linked = await addDevice("Another account", true);
    await write(linked, { [thermostatAttribute(1, 2, "name")]: "Hall" });
    for (const [devId, name] of [
      [lamp, "power"],
      [account, fan],
    ] as const) {
      assert.equal((await call("setDeviceAttribute", { devId, name, value: "true" })).status, 200);
      const written = await read(devId, name);
      assert.equal(written.value, "true");
      clock.nowMs += 1_000;
      await call("setDeviceAttribute", { devId, name, value: "" });
      assert.deepEqual(await read(devId, name), { value: "", updTime: written.updTime + 1_000 });
    }
    const gone = "d.structures[1].d.thermostats[2].name";
    assert.equal((await read(String(linked), gone)).value, "Hall");
    await write(linked, { [thermostatAttribute(1, 2, "name")]: null });
    assert.deepEqual(await read(String(linked), gone), { value: "", updTime: clock.nowMs });
    assert.deepEqual(await read(account, "o.totalStructures"), { value: "", updTime: 0 }, "it never had a value");
  });

  it("returns the empty fan request of a present thermostat with the time at which it got its slot", async (t) => {
    const { clock, addDevice, read, write } = await house(t);
    const linked = await addDevice("Another account", true);
    assert.deepEqual(await read(String(linked), fan), { value: "", updTime: 0 }, "no thermostat has the slot");
    await write(linked, { [thermostatAttribute(1, 2, "deviceId")]: "t-2" });
    assert.deepEqual(await read(String(linked), fan), { value: "", updTime: clock.nowMs });
  });

  it("refuses unknown devices and attributes", async (t) => {
    const { call, account, lamp } = await house(t);
    const get = (devId: string, name: string) => call("getDeviceAttribute", { devId, name });
    assertFault(await get("999", "power"), 109);
    assertFault(await get(account, "power"), 110);
    assertFault(await get(lamp, "power"), 110);
    assertFault(await get(lamp, ""), 102);
  });

  it("understands totals.smokeCoAlarms like totals.smokeCOAlarms, and so does addTrigger", async (t) => {
    const { addDevice, write, read, call } = await house(t);
    const linked = await addDevice("Another account", true);
    await write(linked, { [structureSummary(2, "totalAlarms")]: "3" });
    for (const word of ["smokeCOAlarms", "smokeCoAlarms"]) {
      const name = `o.structures[2].totals.${word}`;
      assert.equal((await read(String(linked), name)).value, "3", word);
      const condition = { attrName: name, operation: ">", threshold: "3", action: "email" };
      const added = await call("addTrigger", { devId: String(linked), ...condition });
      const { triggerId = "" } = textsOf(added.root);
      const { root } = await call("getTrigger", { triggerId });
      assert.equal(textsOf(root.children[0]!).attrName, name, "as it was spelled");
    }
  });
});

describe("setMultiDeviceAttributes2", () => {
  it("writes up to three attributes at one time", async (t) => {
    const { lamp, read, set } = await house(t);
    const three = { name1: "power", value1: "on", name2: "colour", value2: "<warm>", name3: "level", value3: "7" };
    const { status, root } = await set({ devId: lamp, ...three });
    assert.deepEqual(
      [status, root.name, textsOf(root)],
      [200, "ns1:setMultiDeviceAttributes2Response", { retCode: "0" }],
    );
    const { updTime } = await read(lamp, "power");
    assert.deepEqual(await read(lamp, "colour"), { value: "<warm>", updTime });
    assert.deepEqual(await read(lamp, "level"), { value: "7", updTime });

    assert.equal((await set({ devId: lamp, name1: "power", value1: "off" })).status, 200);
    const blank = { name2: "", value2: "", name3: "level", value3: "" };
    assert.equal((await set({ devId: lamp, name1: "power", value1: "dim", ...blank })).status, 200);
    assert.equal((await read(lamp, "power")).value, "dim");
    assert.equal((await read(lamp, "level")).value, "", "an empty value erases");
  });

  it("writes nothing when one of them can't be written, and names the parameter that is missing", async (t) => {
    const { account, lamp, read, set, call } = await house(t);
    await call("setDeviceAttribute", { devId: lamp, name: "power", value: "on" });
    const first = { name1: "power", value1: "off" };
    const before = await read(lamp, "power");
    const refused = [
      [102, { devId: lamp }, "The parameter name1 is missing."],
      [102, { devId: lamp, name1: "power" }, "The parameter value1 is missing."],
      [102, { devId: lamp, ...first, value2: "x" }, "The parameter name2 is missing."],
      [102, { devId: lamp, ...first, name3: "level" }, "The parameter value3 is missing."],
      [102, { devId: lamp, ...first, name2: "power", value2: "x" }, /^The parameter name2 names an attribute/],
      [112, { devId: lamp, ...first, name3: "level", value3: "x".repeat(9_000) }, undefined],
      [109, { devId: "999", ...first }, "Device does not exist."],
      [110, { devId: account, name1: fan, value1: "true", name2: "power", value2: "on" }, undefined],
      [111, { devId: account, name1: fan, value1: "true", name2: "o.totalStructures", value2: "2" }, undefined],
      [
        102,
        { devId: account, name1: fan, value1: "true", name2: fan.replace("thermostats", "thermostat"), value2: "true" },
        "An attribute must be written once, in one of its spellings.",
      ],
    ] as const;
    for (const [code, parameters, sentence] of refused) {
      const fault = await set(parameters);
      assertFault(fault, code, typeof sentence === "string" ? sentence : undefined);
      if (sentence instanceof RegExp) assert.match(textsOf(fault.root).errorMsg!, sentence);
    }
    assert.deepEqual(await read(lamp, "power"), before);
    assert.deepEqual(await read(account, fan), { value: "", updTime: 0 });
  });
});
