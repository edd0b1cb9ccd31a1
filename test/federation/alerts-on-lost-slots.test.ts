import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { disableAlertsOn } from "../../src/federation/alerts-on-lost-slots.ts";
import type { NewTrigger } from "../../src/store/tables/triggers.ts";
import { attributeName, thermostatAttribute } from "../../src/virtual-device/attribute-names.ts";
import { fanHome, madeFans, until } from "./made-fans.ts";
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

  it("disables the alerts that write to it, behind however many that write to other slots", async (t) => {
    const { store, linkLive, userId } = await madeFederation(t);
    const deviceId = await linkLive();
    const keptFan = {
      deviceId,
      attributeName: attributeName(thermostatAttribute(1, 19, "requestWrite")),
      value: "true",
    };
    const lostFan = { deviceId, attributeName: fan, value: "true" };
    const flags = { autoDisarm: true, autoDelete: false, autoDisable: false, isArmed: true, isEnabled: true };
    const watched = { userId, deviceId, key: kept, attributeName: attributeName(kept), createdMs: 1, reason: null };
    const condition = { operation: "equals", text: "x" } as const;
    const texts = { action: "attribute", address: "", message: "" } as const;
    const alert = (...targets: readonly object[]) =>
      ({ ...watched, ...flags, ...texts, condition, targets }) as unknown as NewTrigger;
    const last = await store.transaction(async (tx) => {
      for (let i = 0; i < 500; i++) await tx.triggers.add(alert(keptFan));
      const id = await tx.triggers.add(alert(keptFan, lostFan));
      await disableAlertsOn(tx, { userId, deviceId }, evicted);
      return id;
    });
    const rows = await store.read((tx) => tx.triggers.ofUser(userId));
    assert.deepEqual(
      rows.filter(({ isEnabled }) => !isEnabled).map(({ id, reason }) => [id, reason]),
      [[last, `${fan} has passed to another device`]],
    );
  });

  it("disables them in the commit of the snapshot that gives the slot away", async (t) => {
    const { store, userId, deviceId, connector, shown } = await madeFans(t);
    const name = thermostatAttribute(1, 1, "name");
    const condition = { operation: "equals", text: "New" } as const;
    const base = { userId, deviceId, key: name, attributeName: attributeName(name), condition, createdMs: 1 };
    const flags = { autoDisarm: true, autoDelete: false, autoDisable: false, isArmed: true, isEnabled: true };
    const rest = { action: "attribute", targets: [], address: "", message: "", reason: null } as const;
    const id = await store.transaction((tx) =>
      tx.triggers.add({ ...base, ...flags, ...rest } as unknown as NewTrigger),
    );
    const crowd = Array.from({ length: 20 }, (_, i) => [`n${i}`, { name: "New" }] as const);
    connector.stream.brings(fanHome({ thermostats: Object.fromEntries(crowd) }));
    await until(async () => assert.notEqual(await shown("deviceId"), "t1"));
    const [alert] = await store.read((tx) => tx.triggers.ofUser(userId));
    assert.deepEqual(
      [alert?.id, alert?.isEnabled, alert?.reason],
      [id, false, `${attributeName(name)} has passed to another device`],
    );
  });
});
