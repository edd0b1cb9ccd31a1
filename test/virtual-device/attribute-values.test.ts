import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { attributeCount, thermostatAttribute, totalStructures } from "../../src/virtual-device/attribute-names.ts";
import {
  blankValues,
  findThermostat,
  mirrorChanges,
  packValues,
  unpackValues,
} from "../../src/virtual-device/attribute-values.ts";

const requests = new Set(
  [1, 2].flatMap((x) => Array.from({ length: 20 }, (_, y) => thermostatAttribute(x, y + 1, "requestWrite"))),
);

const anyValues = fc.array(fc.constantFrom<(string | null)[]>("a", "b", "", null), {
  minLength: attributeCount,
  maxLength: attributeCount,
});

describe("packed values", () => {
  it("are the same values again when they are unpacked", () => {
    fc.assert(fc.property(anyValues, (values) => assert.deepEqual(unpackValues(packValues(values)), values)));
    assert.deepEqual(packValues(blankValues), []);
  });
});

describe("the changes from one mirror to the next", () => {
  it("are each attribute that differs, in the order of the numbers, and lead from the one to the other", () => {
    fc.assert(
      fc.property(anyValues, anyValues, (current, wanted) => {
        const next = wanted.map((value, number) => (requests.has(number) ? null : value));
        const changed = [...current];
        for (const { attribute, value } of mirrorChanges(current, next)) changed[attribute] = value;
        assert.deepEqual(changed, next);
        const numbers = mirrorChanges(current, next).map(({ attribute }) => attribute);
        assert.deepEqual(
          numbers,
          [...new Set(numbers)].sort((a, b) => a - b),
        );
        assert.deepEqual(mirrorChanges(next, next), []);
      }),
    );
  });

  for (const y of [1, 7, 20])
    it(`erase the fan request of slot ${y} when its thermostat changed, though none was known`, () => {
      const deviceId = thermostatAttribute(2, y, "deviceId");
      const request = thermostatAttribute(2, y, "requestWrite");
      const before = blankValues.with(deviceId, "t1");
      assert.deepEqual(mirrorChanges(before, blankValues.with(deviceId, "t2")), [
        { attribute: deviceId, value: "t2" },
        { attribute: request, value: null },
      ]);
      assert.deepEqual(mirrorChanges(before, blankValues), [
        { attribute: deviceId, value: null },
        { attribute: request, value: null },
      ]);
      assert.deepEqual(mirrorChanges(before, before.with(totalStructures, "1")), [
        { attribute: totalStructures, value: "1" },
      ]);
    });
});

describe("a thermostat", () => {
  it("is found by its id in any slot", () => {
    for (const place of [
      { x: 1, y: 1 },
      { x: 2, y: 20 },
    ]) {
      const values = blankValues.with(thermostatAttribute(place.x, place.y, "deviceId"), "t");
      assert.deepEqual(findThermostat(values, "t"), place);
      assert.equal(findThermostat(values, "other"), undefined);
    }
  });
});
