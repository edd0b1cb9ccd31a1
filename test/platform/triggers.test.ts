import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { limits } from "../../src/model/limits.ts";
import { structureAttribute, thermostatAttribute } from "../../src/virtual-device/attribute-names.ts";
import { assertFault, madePlatform, textsOf } from "./made-platform.ts";
import type { ReadElement } from "./strict-xml.ts";

const awayName = "d.structures[1].a.away";
const away = structureAttribute(1, "away");

/** Alice with a linked account and a lamp. `add` creates an alert with a test's changes. */
async function house(t: TestContext) {
  const made = await madePlatform(t);
  const account = await made.addDevice("Nest account", true);
  const lamp = await made.addDevice("Lamp");
  const call = (operation: string, parameters: Readonly<Record<string, string>> = {}) =>
    made.call(operation, { secToken: made.secToken, ...parameters });
  const add = (change: Readonly<Record<string, string>> = {}) =>
    call("addTrigger", {
      devId: String(account),
      action: "attribute",
      attrName: awayName,
      operation: "regex",
      stringThreshold: "home",
      address: "",
      msg: "",
      autoDisarm: "true",
      autoDelete: "false",
      autoDisable: "false",
      enable: "true",
      targetDeviceAttributes: `${lamp},power:"on"`,
      ...change,
    });
  const added = async (change: Readonly<Record<string, string>> = {}) =>
    textsOf((await add(change)).root).triggerId ?? assert.fail("no trigger");
  return { ...made, account, lamp, call, add, added };
}

/** A `trigList` as its texts, with its targets. */
function trigger(element: ReadElement | undefined) {
  assert.equal(element?.name, "trigList");
  const targets = element.children.filter(({ name }) => name === "targetAttributesList").map(textsOf);
  const { targetAttributesList: _, ...texts } = textsOf(element);
  return { ...texts, targets };
}

describe("addTrigger", () => {
  it("creates the interface's sample alert, which getTrigger returns in the protocol's order", async (t) => {
    const { call, added, account, lamp } = await house(t);
    const triggerId = await added();
    assert.match(triggerId, /^[1-9]\d*$/);
    const { root } = await call("getTrigger", { triggerId });
    assert.equal(root.name, "ns1:getTriggerResponse");
    assert.deepEqual(
      root.children[0]?.children.map(({ name }) => name),
      [
        ...["triggerId", "devId", "action", "attrName", "operation", "threshold", "stringThreshold", "address", "msg"],
        ...["autoDisarm", "disarmed", "autoDelete", "autoDisable", "enable", "targetAttributesList"],
      ],
    );
    assert.deepEqual(trigger(root.children[0]), {
      triggerId,
      devId: String(account),
      action: "attribute",
      attrName: awayName,
      operation: "regex",
      threshold: "",
      stringThreshold: "home",
      address: "",
      msg: "",
      autoDisarm: "true",
      disarmed: "false",
      autoDelete: "false",
      autoDisable: "false",
      enable: "true",
      targets: [{ deviceTriggerID: triggerId, deviceID: String(lamp), attributeName: "power", value: "on" }],
    });
  });

  it("takes switches as words or digits; omitted ones are off, except enable", async (t) => {
    const { call, added, account, lamp } = await house(t);
    const bare = await call("addTrigger", {
      devId: String(account),
      action: "attribute",
      attrName: awayName,
      operation: "equals",
      stringThreshold: "home",
      targetDeviceAttributes: `${lamp},power:on`,
    });
    const [first] = (await call("getTrigger", { triggerId: textsOf(bare.root).triggerId! })).root.children;
    const { autoDisarm, autoDelete, autoDisable, enable } = trigger(first) as Record<string, unknown>;
    assert.deepEqual([autoDisarm, autoDelete, autoDisable, enable], ["false", "false", "false", "true"]);
    const digits = await added({ autoDisarm: "1", autoDelete: "1", autoDisable: "0", enable: "0" });
    const [second] = (await call("getTrigger", { triggerId: digits })).root.children;
    const flags = trigger(second) as Record<string, unknown>;
    assert.deepEqual(
      [flags.autoDisarm, flags.autoDelete, flags.autoDisable, flags.enable],
      ["true", "true", "false", "false"],
    );
  });

  it("returns names and values unchanged, with any characters", async (t) => {
    const { call, added, lamp } = await house(t);
    const message = `<&]]>"'🏠‮\n`;
    const triggerId = await added({
      attrName: "d.structures[2].d.thermostat[3].is_online",
      stringThreshold: "true|<&>",
      address: "a&b",
      msg: message,
      targetDeviceAttributes: `${lamp},colour <1>:"\\"red\\"; & blue";${lamp},power:off`,
    });
    const { attrName, stringThreshold, address, msg, targets } = trigger(
      (await call("getTrigger", { triggerId })).root.children[0],
    ) as Record<string, unknown>;
    assert.deepEqual(
      [attrName, stringThreshold, address, msg],
      ["d.structures[2].d.thermostat[3].is_online", "true|<&>", "a&b", message],
    );
    assert.deepEqual(
      (targets as Record<string, string>[]).map(({ attributeName, value }) => [attributeName, value]),
      [
        ["colour <1>", '"red"; & blue'],
        ["power", "off"],
      ],
    );
  });

  it("takes each numeric operation with its threshold", async (t) => {
    const { call, added } = await house(t);
    for (const operation of [">", ">=", "<", "<=", "=="]) {
      const triggerId = await added({ attrName: "o.totalStructures", operation, threshold: "1.50" });
      const shown = trigger((await call("getTrigger", { triggerId })).root.children[0]) as Record<string, unknown>;
      assert.deepEqual([shown.operation, shown.threshold, shown.stringThreshold], [operation, "1.5", ""]);
    }
  });

  it("refuses an invalid alert with its fault, and creates nothing", async (t) => {
    const { add, call, lamp, account, addDevice, identity } = await house(t);
    const bob = await identity.addUser({ tenant: "Acme", name: "bob", password: "correct horse", isAdmin: false });
    const foreign = await addDevice("foreign", false, bob);
    const request = "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite";
    const refused: readonly (readonly [code: number, change: Readonly<Record<string, string>>])[] = [
      [102, { devId: "" }],
      [109, { devId: "x" }],
      [109, { devId: String(foreign) }],
      [102, { action: "" }],
      [102, { attrName: "" }],
      [110, { attrName: "d.structures[3].a.away" }],
      [110, { attrName: "power" }],
      [102, { operation: "" }],
      [102, { operation: "matches" }],
      [102, { stringThreshold: "" }],
      [102, { stringThreshold: "(" }],
      [102, { stringThreshold: "(?=home)" }],
      [102, { stringThreshold: "(.)\\1" }],
      [102, { stringThreshold: "a".repeat(257) }],
      [102, { stringThreshold: "(.*a){1000}" }],
      [102, { operation: ">", stringThreshold: "7" }],
      [102, { operation: ">", threshold: "warm" }],
      [102, { autoDisarm: "yes" }],
      [102, { enable: "2" }],
      [102, { targetDeviceAttributes: "" }],
      [102, { targetDeviceAttributes: "lamp" }],
      [102, { targetDeviceAttributes: `${lamp},power:"on` }],
      [102, { targetDeviceAttributes: `${lamp},:"on"` }],
      [102, { targetDeviceAttributes: `${lamp},power:"on";${lamp},power:"off"` }],
      [109, { targetDeviceAttributes: `${foreign},power:"on"` }],
      [109, { targetDeviceAttributes: `999,power:"on"` }],
      [110, { targetDeviceAttributes: `${account},power:"on"` }],
      [111, { targetDeviceAttributes: `${account},${awayName}:"home"` }],
      [112, { targetDeviceAttributes: `${account},${request}:"${"x".repeat(257)}"` }],
      [112, { targetDeviceAttributes: `${lamp},power:"${"x".repeat(8_193)}"` }],
      [102, { msg: "bell\u0007" }],
      [102, { address: "x".repeat(2_049) }],
    ];
    for (const [code, change] of refused) {
      const fault = await add(change);
      assert.equal(textsOf(fault.root).errorCode, String(code), `${JSON.stringify(change).slice(0, 80)}`);
      assertFault(fault, code);
    }
    assert.deepEqual((await call("getTriggerDetailListByUser")).root.children, []);
    assert.equal((await add({ targetDeviceAttributes: `${account},${request}:"true"` })).status, 200);
    assert.equal((await add({ action: "email", targetDeviceAttributes: "" })).status, 200);
  });

  it("is refused beyond the limits per device and per user", async (t) => {
    const { add, store, userId, account, lamp, addDevice } = await house(t);
    const trigger = {
      ...{ userId, key: away, attributeName: awayName, action: "note", targets: [], address: "", message: "" },
      ...{ autoDisarm: true, autoDelete: false, autoDisable: false, isEnabled: true, isArmed: true, reason: null },
      ...{ condition: { operation: "equals", text: "home" } as const, createdMs: 1 },
    };
    const fill = (deviceId: typeof account, count: number) =>
      store.transaction(async (tx) => {
        for (let i = 0; i < count; i++) await tx.triggers.add({ ...trigger, deviceId });
      });
    await fill(account, limits.alertsPerDevice - 1);
    assert.equal((await add()).status, 200);
    assertFault(await add(), 113, `Device ${account} has 1000 alerts already.`);
    const other = await addDevice("Other");
    await fill(other, limits.alertsPerUser - limits.alertsPerDevice - 1);
    assert.equal((await add({ devId: String(lamp), attrName: "power" })).status, 200);
    assertFault(await add({ devId: String(lamp), attrName: "power" }), 113, "This user has 10000 alerts already.");
  });
});

describe("the other calls for alerts", () => {
  it("list the alerts of a device and of a user, ascending, as siblings", async (t) => {
    const { call, added, account, lamp, userId } = await house(t);
    for (const operation of ["getTriggerDetailListByUser", "getTriggerDetailListByDevice"]) {
      assert.deepEqual((await call(operation, { devId: String(account) })).root.children, []);
    }
    const one = await added();
    const two = await added({ devId: String(lamp), attrName: "button" });
    const three = await added();
    const ids = async (operation: string, parameters: Readonly<Record<string, string>>) =>
      (await call(operation, parameters)).root.children.map((element) => textsOf(element).triggerId);
    assert.deepEqual(await ids("getTriggerDetailListByUser", { userId: String(userId) }), [one, two, three]);
    assert.deepEqual(await ids("getTriggerDetailListByDevice", { devId: String(account) }), [one, three]);
    assertFault(await call("getTriggerDetailListByUser", { userId: String(userId + 1) }), 106);
    assertFault(await call("getTriggerDetailListByDevice", { devId: "999" }), 109);
  });

  it("enable or disable one alert, or all of a device; enabling arms them", async (t) => {
    const { call, added, account, write } = await house(t);
    const triggerId = await added();
    const other = await added();
    await write(account, { [away]: "home" });
    const shown = async (id = triggerId) => {
      const { enable, disarmed } = trigger(
        (await call("getTrigger", { triggerId: id })).root.children[0],
      ) as unknown as Record<string, string>;
      return `${enable} ${disarmed}`;
    };
    assert.equal(await shown(), "true true");
    const off = await call("updateTriggerEnableState", { triggerId, enable: "0" });
    assert.deepEqual(textsOf(off.root), { retCode: "0" });
    assert.equal(await shown(), "false true");
    await call("updateTriggerEnableState", { triggerId, enable: "true" });
    assert.equal(await shown(), "true false");
    await call("updateTriggersEnableStateByDevice", { devId: String(account), enable: "false" });
    assert.deepEqual([await shown(), await shown(other)], ["false false", "false true"]);
    const on = await call("updateTriggersEnableStateByDevice", { devId: String(account), enable: "1" });
    assert.deepEqual(textsOf(on.root), { retCode: "0" });
    assert.deepEqual([await shown(), await shown(other)], ["true false", "true false"]);
    assertFault(await call("updateTriggerEnableState", { triggerId }), 102, "The parameter enable is missing.");
    assertFault(await call("updateTriggersEnableStateByDevice", { devId: "999", enable: "1" }), 109);
  });

  it("remove an alert, whose id is never used again", async (t) => {
    const { call, added } = await house(t);
    const triggerId = await added();
    assert.deepEqual(textsOf((await call("removeTrigger", { triggerId })).root), { retCode: "0" });
    assertFault(await call("removeTrigger", { triggerId }), 113, "Trigger does not exist.");
    assert.ok(Number(await added()) > Number(triggerId));
  });

  it("give the same fault for foreign, absent and malformed ids", async (t) => {
    const { call, added, identity, login } = await house(t);
    const triggerId = await added();
    await identity.addUser({ tenant: "Acme", name: "bob", password: "correct horse", isAdmin: false });
    const { secToken } = await login({ name: "bob" });
    const faults = [];
    for (const operation of ["getTrigger", "updateTriggerEnableState", "removeTrigger"]) {
      faults.push(await call(operation, { secToken, triggerId, enable: "1" }));
      for (const bad of ["999999", "0", "-1", "abc", "99999999999"]) {
        faults.push(await call(operation, { triggerId: bad, enable: "1" }));
      }
    }
    for (const fault of faults) {
      assertFault(fault, 113, "Trigger does not exist.");
      assert.deepEqual(fault, faults[0]);
    }
    assert.deepEqual((await call("getTriggerDetailListByUser", { secToken })).root.children, []);
  });
});

describe("setDeviceAttribute", () => {
  it("writes writable attributes, and refuses others with a reason", async (t) => {
    const { call, account, lamp, store, userId } = await house(t);
    const set = (devId: number | string, name: string, value: string) =>
      call("setDeviceAttribute", { devId: String(devId), name, value });
    const request = "d.structures[1].d.thermostat[1].fan_timer_active.requestWrite";
    assert.deepEqual(textsOf((await set(account, request, "true")).root), { retCode: "0" });
    const key = thermostatAttribute(1, 1, "requestWrite");
    assert.equal((await store.read((tx) => tx.attributes.some(userId, account, [key])))[0]?.value, "true");
    assertFault(await set("999", "power", "on"), 109, "Device does not exist.");
    assertFault(await set(account, "power", "on"), 110);
    assertFault(await set(account, awayName, "home"), 111);
    assertFault(await set(account, request, "x".repeat(257)), 112);
    assertFault(await set(account, request, "a\tb"), 112);
    assertFault(await set(lamp, "power", "x".repeat(8_193)), 112);
    assertFault(await set(lamp, "power", "bell\u0007"), 102);
    assertFault(await call("setDeviceAttribute", { devId: String(lamp), name: "power" }), 102);
  });

  it("fires alerts at each write", async (t) => {
    const { call, added, account, lamp } = await house(t);
    const targetDeviceAttributes = `${lamp},light:"on"`;
    await added({ devId: String(lamp), attrName: "button", stringThreshold: "on", targetDeviceAttributes });
    await call("setDeviceAttribute", { devId: String(lamp), name: "button", value: "on" });
    const { root } = await call("getDeviceAttribute", { devId: String(lamp), name: "light" });
    assert.equal(textsOf(root).value, "on");
    assert.ok(account);
  });
});
