import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  alarmAttribute,
  attributeCount,
  attributeName,
  attributeSpellings,
  isWritable,
  parseAttributeName,
  positionOf,
  structureAttribute,
  structureSummary,
  thermostatAttribute,
  totalStructures,
  valueKind,
} from "../../src/virtual-device/attribute-names.ts";
import { publishedAttributes } from "../samples/published-attributes.ts";

const published = publishedAttributes();

describe("the attributes of a virtual device", () => {
  it("know their position, and have no name but their own spellings", () => {
    assert.deepEqual(positionOf(totalStructures), { kind: "account", field: "totalStructures" });
    assert.deepEqual(positionOf(structureAttribute(2, "name")), { kind: "structure", x: 2, field: "name" });
    assert.equal(parseAttributeName("o.structures[1].undefined"), undefined);
    const spelled = Array.from({ length: attributeCount }, (_, number) => attributeSpellings(number));
    assert.ok(spelled.every(([first], number) => first === attributeName(number)));
    assert.ok(spelled.every((names, number) => names.every((name) => parseAttributeName(name)?.number === number)));
  });

  it("are the 519 of the interface's tables, numbered in a fixed order", () => {
    assert.equal(published.length, 519);
    assert.equal(attributeCount, 519);
    assert.deepEqual(
      published.map((_, number) => attributeName(number)),
      published.map(({ name }) => name),
    );
    assert.equal(new Set(published.map(({ name }) => name)).size, 519);
  });

  it("keep the numbers under which databases store them", () => {
    assert.equal(attributeName(0), "o.totalStructures");
    assert.equal(attributeName(1), "o.structures[1].totals.thermostats");
    assert.equal(attributeName(8), "o.structures[1].emergencies.CO");
    assert.equal(attributeName(9), "d.structures[1].a.away");
    assert.equal(attributeName(12), "d.structures[1].d.thermostats[1].name");
    assert.equal(attributeName(17), "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite");
    assert.equal(attributeName(152), "d.structures[1].d.smokeCoAlarms[1].name");
    assert.equal(attributeName(260), "o.structures[2].totals.thermostats");
    assert.equal(attributeName(518), "d.structures[2].d.smokeCoAlarms[18].ui_color_state");
  });

  it("are found by their name and by the other published spelling, which is remembered for the answer", () => {
    let otherSpellings = 0;
    published.forEach(({ name, otherSpelling }, number) => {
      assert.deepEqual(parseAttributeName(name), { number, spelling: name });
      if (otherSpelling === undefined) return;
      assert.deepEqual(parseAttributeName(otherSpelling), { number, spelling: otherSpelling });
      otherSpellings++;
    });
    assert.equal(otherSpellings, 2 + 40 * 7 + 36 * 6);
  });

  it("have the access and the type that the tables give them", () => {
    const typeOf = { integer: "integer", boolean: "boolean string", text: "string", "date-time": "date-time string" };
    published.forEach((attribute, number) => {
      assert.equal(isWritable(number), attribute.isWritable, attribute.name);
      assert.equal(typeOf[valueKind(number)], attribute.type, attribute.name);
    });
    assert.equal(published.filter(({ isWritable }) => isWritable).length, 40);
  });

  it("have a position, from which their number follows", () => {
    for (let number = 0; number < attributeCount; number++) {
      const position = positionOf(number);
      if (position.kind === "account") assert.equal(totalStructures, number);
      if (position.kind === "summary") assert.equal(structureSummary(position.x, position.field), number);
      if (position.kind === "structure") assert.equal(structureAttribute(position.x, position.field), number);
      if (position.kind === "thermostat")
        assert.equal(thermostatAttribute(position.x, position.y, position.field), number);
      if (position.kind === "alarm") assert.equal(alarmAttribute(position.x, position.y, position.field), number);
    }
    assert.equal(attributeName(thermostatAttribute(1, 2, "hasFan")), "d.structures[1].d.thermostats[2].has_fan");
    assert.equal(
      attributeName(alarmAttribute(2, 1, "coAlarmState")),
      "d.structures[2].d.smokeCoAlarms[1].co_alarm_state",
    );
    assert.equal(attributeName(structureSummary(2, "totalAlarms")), "o.structures[2].totals.smokeCOAlarms");
    assert.equal(attributeName(structureSummary(1, "emergenciesCo")), "o.structures[1].emergencies.CO");
    assert.equal(attributeName(structureAttribute(2, "structureId")), "d.structures[2].a.structure_id");
  });

  it("have no other names: near misses and foreign words are unknown", () => {
    const unknown = [
      "",
      "o.totalstructures",
      "o.structures[0].totals.thermostats",
      "o.structures[3].totals.thermostats",
      "o.structures[1].totals.smokecoalarms",
      "o.structures[1].totals.thermostat",
      "d.structures[1].d.thermostats[0].name",
      "d.structures[1].d.thermostats[21].name",
      "d.structures[1].d.thermostats[01].name",
      "d.structures[1].d.smokeCoAlarms[19].name",
      "d.structures[1].d.smokeCoAlarm[1].name",
      "d.structures[1].d.smokeCoAlarms[1].has_fan",
      " d.structures[1].a.away",
      "constructor",
      "__proto__",
    ];
    for (const name of unknown) assert.equal(parseAttributeName(name), undefined, name);
    for (const number of [-1, 519, 0.5, Number.NaN]) assert.throws(() => attributeName(number), RangeError);
  });
});
