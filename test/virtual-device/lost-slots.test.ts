import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { attributeName } from "../../src/virtual-device/attribute-names.ts";
import { attributesOfLostSlots } from "../../src/virtual-device/lost-slots.ts";

const ids = { oldId: "a", newId: "b" };
const names = (...evicted: Parameters<typeof attributesOfLostSlots>[0]) =>
  [...attributesOfLostSlots(evicted)].map(attributeName);

describe("a slot that passed to another id", () => {
  it("affects its own attributes", () => {
    assert.deepEqual(names(), []);
    const thermostat = names({ kind: "thermostat", x: 2, y: 3, ...ids });
    assert.equal(thermostat.length, 7);
    assert.ok(thermostat.every((name) => name.startsWith("d.structures[2].d.thermostats[3].")));
    const alarm = names({ kind: "alarm", x: 1, y: 18, ...ids });
    assert.equal(alarm.length, 6);
    assert.ok(alarm.every((name) => name.startsWith("d.structures[1].d.smokeCoAlarms[18].")));
  });

  it("affects the attributes of each slot when several have passed", () => {
    const [thermostat, alarm] = [
      { kind: "thermostat", x: 2, y: 3, ...ids } as const,
      { kind: "alarm", x: 1, y: 2, ...ids } as const,
    ];
    assert.deepEqual(names(thermostat, alarm).toSorted(), [...names(thermostat), ...names(alarm)].toSorted());
  });

  it("of a structure takes all below it, and nothing of the other structure or the account", () => {
    const structure = names({ kind: "structure", x: 1, ...ids });
    assert.equal(structure.length, 259);
    assert.ok(structure.every((name) => /^[do]\.structures\[1\]\./.test(name)));
  });
});
