import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TriggerInput } from "../../src/alerts/alerts.ts";
import { checkSize } from "../../src/alerts/definition.ts";
import type { DeviceId } from "../../src/model/ids.ts";
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
