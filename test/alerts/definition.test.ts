import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AlertTables } from "../../src/alerts/alert-tables.ts";
import type { ThingTriggerInput, TriggerInput } from "../../src/alerts/alerts.ts";
import { commandsNothing } from "../../src/alerts/commanding.ts";
import { checkSize, checkThingDefinition } from "../../src/alerts/definition.ts";
import type { ThingState } from "../../src/home/stored-thing.ts";
import type { AlertCommand } from "../../src/model/alert-commands.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import type { TriggerDefinition } from "../../src/model/trigger.ts";
import { onStore } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { madeAlerts, target } from "./made-alerts.ts";

describe("the definition of an alert", () => {
  it("limits the length of its texts; refuses lone surrogates, and control characters but tabs and line breaks", () =>
    onStore(sqliteHarness, async (store) => {
      const { add } = await madeAlerts(store);
      const texts: readonly (readonly [parameter: string, member: keyof TriggerInput, most: number])[] = [
        ["action", "action", 60],
        ["address", "address", 2_048],
        ["msg", "message", 2_048],
        ["stringThreshold", "stringThreshold", 8_192],
      ];
      for (const [parameter, member, most] of texts) {
        await add({ [member]: "x".repeat(most) });
        await add({ [member]: "two\tlines\r\n" });
        for (const text of ["x".repeat(most + 1), "bell\u0007", "\u0000", "half \uD83C"]) {
          await assert.rejects(add({ [member]: text }), { code: "bad_parameter", parameter }, parameter);
        }
      }
    }));

  it("needs an action; a writing action needs targets that exist, no attribute twice", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, lamp, account } = await madeAlerts(store);
      await assert.rejects(add({ action: "" }), { code: "bad_parameter", parameter: "action" });
      const badTargets = { code: "bad_parameter", parameter: "targetDeviceAttributes" };
      await assert.rejects(add({ targets: [] }), badTargets);
      await add({ action: "note", targets: [] });
      await assert.rejects(add({ targets: [target(lamp, "power", "on"), target(lamp, "power", "off")] }), badTargets);
      await assert.rejects(add({ targets: [target(999 as DeviceId, "power", "on")] }), { code: "unknown_device" });
      await assert.rejects(add({ targets: [target(account, "power", "on")] }), { code: "unknown_attribute" });
    }));

  it("has at most 100 targets", () =>
    onStore(sqliteHarness, async (store) => {
      const { add, lamp } = await madeAlerts(store);
      const targets = (count: number) => Array.from({ length: count }, (_, i) => target(lamp, `light ${i}`, "on"));
      await add({ targets: targets(100) });
      const refused = { code: "bad_parameter", parameter: "targetDeviceAttributes" };
      await assert.rejects(add({ targets: targets(101) }), refused);
    }));

  it("takes at most 16,384 bytes; an older, larger definition may be changed if it does not grow", () => {
    const sized = (bytes: number): TriggerDefinition => {
      const empty: TriggerDefinition = {
        deviceId: 1 as DeviceId,
        attributeName: "power",
        condition: { operation: "equals", text: "on" },
        action: "note",
        targets: [],
        commands: [],
        address: "",
        message: "",
        autoDisarm: true,
        autoDelete: false,
        autoDisable: false,
      };
      return { ...empty, message: "x".repeat(bytes - checkSize(empty)) };
    };
    const most = limits.bytesPerAlert;
    const refused = { code: "limit_reached", limit: "bytesPerAlert" };
    assert.equal(checkSize(sized(most)), most);
    assert.throws(() => checkSize(sized(most + 1)), refused);
    assert.equal(checkSize(sized(most + 5), most + 5), most + 5);
    assert.throws(() => checkSize(sized(most + 6), most + 5), refused);
  });
});

describe("the definition of an alert on a thing", () => {
  const check = (change: Partial<ThingTriggerInput>, reached: readonly string[] = ["t_lamp"]) =>
    checkThingDefinition(
      { devices: { find: async () => undefined } } as unknown as AlertTables,
      { userId: 7 as UserId, deviceId: 5 as DeviceId, state: { onOff: { on: [true, 1, 1] } } as unknown as ThingState },
      {
        ...{ thingId: "t_lamp", field: "onOff.on", operation: "equals", stringThreshold: "true", threshold: "" },
        ...{ action: "note", address: "", message: "", targets: [], isEnabled: true },
        ...{ autoDisarm: false, autoDelete: false, autoDisable: false, ...change },
      },
      {
        patterns: { faultOf: () => undefined, matches: () => false },
        commanding: { ...commandsNothing, reached: async () => reached },
      },
    );
  const setOn = { trait: "onOff", command: "set", params: { on: true } } as const;

  it("is checked like that of any alert, and belongs to the device of the thing", async () => {
    assert.equal((await check({})).deviceId, 5);
    await assert.rejects(check({ action: "" }), { parameter: "action" });
    await assert.rejects(check({ action: "attribute" }), { parameter: "targetDeviceAttributes" });
    await assert.rejects(check({ targets: [target(9 as DeviceId, "power", "on")] }), { code: "unknown_device" });
    await assert.rejects(check({ stringThreshold: "maybe" }), { parameter: "stringThreshold" });
  });

  it("may command things of a kind that are still to come, and no single thing that is not there", async () => {
    const ofKind = { kind: "light", ...setOn } as const;
    const ofThing = { thingId: "t_lamp", ...setOn } as const;
    assert.deepEqual((await check({ commands: [ofKind, ofThing] })).commands, [ofKind, ofThing]);
    await check({ commands: [ofKind] }, []);
    await assert.rejects(check({ commands: [ofKind, ofThing] }, []), { code: "unknown_thing" });
  });

  it("sends no command that depends on the present state, and says which one it was", async () => {
    const relative = { kind: "thermostat", trait: "thermostat", command: "adjust", params: { byC: 1 } };
    await assert.rejects(check({ commands: [relative as unknown as AlertCommand] }), /can't send thermostat\.adjust,/);
  });
});
