import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AttributeQuery, selectAttributes } from "../../src/devices/attribute-query.ts";
import type { DeviceState } from "../../src/devices/states.ts";
import { wireName, wireValue } from "../../src/devices/wire-attribute.ts";
import { UnknownAttribute } from "../../src/model/errors.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import type { AttributeKey } from "../../src/store/tables/attributes.ts";
import { structureAttribute, thermostatAttribute, totalStructures } from "../../src/virtual-device/attribute-names.ts";

type Row = readonly [key: AttributeKey, value: string | null, timeMs: number];

function stateOf(isVirtual: boolean, ...rows: readonly Row[]): DeviceState {
  const device = {
    id: 1 as DeviceId,
    userId: 1 as UserId,
    typeId: 1,
    typeName: "lamp",
    name: "lamp",
    room: null,
    lastTimeMs: 9,
  };
  return {
    device: { ...device, isVirtual },
    attributes: new Map(rows.map(([key, value, timeMs]) => [key, { value, timeMs }])),
  };
}

function selected(state: DeviceState, query: Partial<AttributeQuery>): readonly string[] {
  return selectAttributes(state, { names: [], sinceMs: undefined, ...query }).map(
    ({ name, value, updateTimeMs }) => `${name}=${value} at ${updateTimeMs}`,
  );
}

const lamp = stateOf(false, ["power", "on", 5], ["colour", "red", 3], ["gone", null, 4], ["a,b", "both", 2]);

describe("a query for attributes", () => {
  it("without names shows all that have a value, in their order", () => {
    assert.deepEqual(selected(lamp, {}), ["a,b=both at 2", "colour=red at 3", "power=on at 5"]);
  });

  it("with a time shows all that changed strictly after it, erased ones too", () => {
    assert.deepEqual(selected(lamp, { sinceMs: 3 }), ["gone=null at 4", "power=on at 5"]);
    assert.deepEqual(selected(lamp, { names: ["power", "gone", "colour"], sinceMs: 4 }), ["power=on at 5"]);
  });

  it("with names shows those, also erased ones, and leaves out those that the device never had", () => {
    const names = ["gone", "power,absent", "a,b"];
    assert.deepEqual(selected(lamp, { names }), ["gone=null at 4", "power=on at 5", "a,b=both at 2"]);
  });
});

describe("a query for attributes of a linked account", () => {
  const away = "d.structures[1].a.away";
  const request = "d.structures[1].d.thermostats[2].fan_timer_active.requestWrite";
  const otherSpelling = request.replace("thermostats", "thermostat");
  const awayRow: Row = [structureAttribute(1, "away"), "home", 5];

  it("names attributes in any published spelling, which the answer repeats", () => {
    const state = stateOf(true, awayRow, [thermostatAttribute(1, 2, "requestWrite"), "true", 6]);
    assert.deepEqual(selected(state, {}), [`${away}=home at 5`, `${request}=true at 6`]);
    assert.deepEqual(selected(state, { names: [`${otherSpelling},${away}`] }), [
      `${otherSpelling}=true at 6`,
      `${away}=home at 5`,
    ]);
    assert.throws(() => selected(state, { names: [away, "power"] }), UnknownAttribute);
  });

  it("shows the fan request of a present thermostat as blank since the thermostat got its slot", () => {
    const present = stateOf(true, [thermostatAttribute(1, 2, "deviceId"), "t-2", 7]);
    assert.deepEqual(selected(present, { names: [request] }), [`${request}=null at 7`]);
    assert.deepEqual(selected(present, { names: [away, request.replace("[2]", "[3]")] }), []);
    assert.deepEqual(selected(present, { names: ["d.structures[1].d.thermostats[2].name"] }), []);
    const removed = stateOf(true, [thermostatAttribute(1, 2, "deviceId"), null, 8]);
    assert.deepEqual(selected(removed, { names: [request] }), []);
  });
});

describe("an attribute on the wire", () => {
  it("has its own name, or that of its number", () => {
    assert.equal(wireName("power"), "power");
    assert.equal(wireName(totalStructures), "o.totalStructures");
  });

  it("is a number when it is a total of a linked account, and otherwise a text", () => {
    assert.equal(wireValue(totalStructures, "2"), 2);
    assert.equal(wireValue(totalStructures, null), null);
    assert.equal(wireValue(structureAttribute(1, "name"), "2"), "2");
    assert.equal(wireValue("level", "2"), "2");
  });
});
