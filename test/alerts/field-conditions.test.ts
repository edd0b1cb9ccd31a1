import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fieldOf, refuseImpossible } from "../../src/alerts/field-conditions.ts";
import type { ValueType } from "../../src/home/trait.ts";
import type { Condition } from "../../src/model/condition.ts";
import { BadParameter } from "../../src/model/errors.ts";

const percent: ValueType = { type: "number", unit: "percent", min: 1, max: 100 };
const least: ValueType = { type: "number", unit: "minutes", min: 1 };
const most: ValueType = { type: "number", unit: "minutes", max: 9 };
const any: ValueType = { type: "number", unit: "celsius" };
const matches = (pattern: string, text: string) => new RegExp(pattern).test(text);

function refusalOf(value: ValueType, condition: Condition): BadParameter | undefined {
  try {
    refuseImpossible("a.b", value, condition, matches);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof BadParameter);
    return error;
  }
}

const compared = (operation: string, threshold: number) => ({ operation, threshold }) as Condition;
const equals = (text: string) => ({ operation: "equals", text }) as Condition;

describe("a condition on a field that is a number", () => {
  const cases: readonly (readonly [operation: string, possible: number, impossible: number])[] = [
    [">", 99.9, 100],
    [">=", 100, 100.1],
    ["<", 1.1, 1],
    ["<=", 1, 0.9],
    ["==", 1, 0.9],
    ["==", 100, 100.1],
  ];
  for (const [operation, possible, impossible] of cases) {
    it(`may ask for ${operation} ${possible}, and never for ${operation} ${impossible}`, () => {
      assert.equal(refusalOf(percent, compared(operation, possible)), undefined);
      const refusal = refusalOf(percent, compared(operation, impossible));
      assert.equal(refusal?.parameter, "threshold");
      assert.equal(refusal?.message, "The field a.b is a number from 1 to 100. No value of it can satisfy this.");
    });
  }

  it("names the limits that the field has", () => {
    assert.match(refusalOf(least, compared("<", 1))!.message, /is a number of at least 1\. /);
    assert.match(refusalOf(most, compared(">", 9))!.message, /is a number of at most 9\. /);
    assert.match(refusalOf(any, equals("warm"))!.message, /is a number\. /);
    assert.equal(refusalOf(any, equals("warm"))!.parameter, "stringThreshold");
  });

  it("may ask for a text only if the number is written so", () => {
    for (const text of ["1", "100", "20.5"]) assert.equal(refusalOf(percent, equals(text)), undefined, text);
    for (const text of ["0", "101", "20.50", " 20", "x"]) assert.ok(refusalOf(percent, equals(text)), text);
    assert.equal(refusalOf(percent, { operation: "regex", pattern: "^2" }), undefined);
  });
});

describe("a condition on a field that is not a number", () => {
  it("may ask for one of its values", () => {
    const states: ValueType = { type: "enum", values: ["clear", "alarm"] };
    assert.equal(refusalOf(states, equals("alarm")), undefined);
    const refusal = refusalOf(states, equals("emergency"));
    assert.deepEqual(
      [refusal?.parameter, refusal?.message],
      ["stringThreshold", "The field a.b has one of these values: clear, alarm."],
    );
    assert.equal(refusalOf({ type: "boolean" }, equals("false")), undefined);
    assert.ok(refusalOf({ type: "boolean" }, equals("no")));
  });

  it("is compared as text", () => {
    for (const value of [{ type: "boolean" }, { type: "text" }, { type: "enum", values: ["a"] }] as const) {
      assert.equal(refusalOf(value, compared(">", 1))?.parameter, "operation", value.type);
    }
    assert.equal(refusalOf({ type: "text" }, equals("anything")), undefined);
  });
});

describe("the field of a thing", () => {
  it("is one of a trait that the thing has; the refusal names those", () => {
    const thing = { state: { smoke: { state: ["clear", 1] } } } as const;
    assert.deepEqual(fieldOf(thing, "smoke.state").field, "state");
    assert.throws(
      () => fieldOf(thing, "thermostat.mode"),
      (error: BadParameter) => {
        assert.match(error.message, /smoke\.state/);
        assert.doesNotMatch(error.message, /thermostat/);
        return error.parameter === "field";
      },
    );
  });
});
