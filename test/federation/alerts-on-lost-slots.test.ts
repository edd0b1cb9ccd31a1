import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { disableAlertsOn } from "../../src/federation/alerts-on-lost-slots.ts";
import type { NewTrigger } from "../../src/store/tables/triggers.ts";
import { attributeName, thermostatAttribute } from "../../src/virtual-device/attribute-names.ts";
import { madeFederation } from "./made-federation.ts";

const lost = thermostatAttribute(1, 20, "name");
const kept = thermostatAttribute(1, 19, "name");
const fan = attributeName(thermostatAttribute(1, 20, "requestWrite"));
const evicted = [{ kind: "thermostat", x: 1, y: 20, oldId: "a", newId: "b" }] as const;

describe("a slot that passes to another device", () => {
  it("disables the enabled alerts that watch it or write to it, and reads no others", async (t) => {
    const { store, linkLive, userId, lamp } = await madeFederation(t);
    const deviceId = await linkLive();
    const base = { userId, deviceId, condition: { operation: "equals", text: "x" }, action: "attribute" } as const;
    const flags = { autoDisarm: true, autoDelete: false, autoDisable: false, isArmed: true, reason: null };
    const alert = (key: number, target: object, isEnabled = true) =>
      ({
        ...{ ...base, ...flags, key, attributeName: attributeName(key), targets: [target], address: "", message: "" },
        ...{ isEnabled, createdMs: 1 },
      }) as NewTrigger;
    const power = { deviceId: lamp, attributeName: "power", value: "on" };
    const starts = { deviceId, attributeName: fan, value: "true" };
    const [watches, writes, other, off] = await store.transaction(async (tx) => [
      await tx.triggers.add(alert(lost, power)),
      await tx.triggers.add(alert(kept, starts)),
      await tx.triggers.add(alert(kept, power)),
      await tx.triggers.add(alert(lost, starts, false)),
    ]);
    const run = () =>
      store.transaction(async (tx) => {
        await disableAlertsOn(tx, { userId, deviceId }, evicted);
        return tx.triggers.enabledWriting(userId, `"deviceId":${deviceId}`, 0, 10);
      });
    assert.deepEqual(await run(), [], "nothing is left to read");
    await run();
    const rows = await store.read((tx) => tx.triggers.ofUser(userId));
    const passed = (number: number) => `${attributeName(number)} has passed to another device`;
    assert.deepEqual(
      rows.map(({ id, isEnabled, reason }) => [id, isEnabled, reason]),
      [
        [watches, false, passed(lost)],
        [writes, false, passed(thermostatAttribute(1, 20, "requestWrite"))],
        [other, true, null],
        [off, false, null],
      ],
    );
  });
});
