import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { traitNames, traits } from "../../src/home/catalogue.ts";
import { commandStates } from "../../src/home/command-states.ts";
import { thingKinds } from "../../src/home/thing.ts";
import type { ValueType } from "../../src/home/trait.ts";
import { alarmCapabilities, alarmFields } from "../../src/home/traits/alarm-states.ts";
import { battery } from "../../src/home/traits/battery.ts";
import { brightness } from "../../src/home/traits/brightness.ts";
import { carbonMonoxide } from "../../src/home/traits/carbon-monoxide.ts";
import { fan } from "../../src/home/traits/fan.ts";
import { fanTimer } from "../../src/home/traits/fan-timer.ts";
import { humidity } from "../../src/home/traits/humidity.ts";
import { indicator } from "../../src/home/traits/indicator.ts";
import { onOff } from "../../src/home/traits/on-off.ts";
import { presence } from "../../src/home/traits/presence.ts";
import { smoke } from "../../src/home/traits/smoke.ts";
import { temperature } from "../../src/home/traits/temperature.ts";
import { thermostat } from "../../src/home/traits/thermostat.ts";

const sentences = /^[A-Z`].*\.$/;
const word = /^[a-z][A-Za-z]*$/;
const units = ["celsius", "percent", "milliseconds", "minutes"];

function assertType(value: ValueType, what: string): void {
  assert.ok(["boolean", "enum", "number", "text", "list"].includes(value.type), what);
  if (value.type === "number") assert.ok(units.includes(value.unit), what);
  const values = value.type === "enum" || value.type === "list" ? value.values : undefined;
  if (values) assert.ok(values.length > 1 && values.every((one) => /^[A-Za-z]+$/.test(one)), what);
}

describe("the catalogue of traits", () => {
  it("has every trait, in the order in which things show them", () => {
    const climate = [temperature, humidity, thermostat, fanTimer, fan];
    const all = [onOff, brightness, ...climate, smoke, carbonMonoxide, battery, indicator, presence];
    assert.deepEqual(
      traitNames.map((name) => traits[name]),
      all,
    );
  });

  it("gives both sensors of danger the same fields", () => {
    for (const { fields, capabilities } of [smoke, carbonMonoxide]) {
      assert.deepEqual([fields, capabilities], [alarmFields, alarmCapabilities]);
    }
  });

  it("describes each trait, field, capability, command and parameter in a sentence, and types each value", () => {
    for (const [name, trait] of Object.entries(traits)) {
      assert.equal(trait.name, name);
      assert.match(trait.meaning, sentences, name);
      for (const [field, { kind, value, meaning }] of Object.entries(trait.fields)) {
        assert.ok(["transition", "level", "sample"].includes(kind), `${name}.${field}`);
        assertType(value, `${name}.${field}`);
        assert.match(meaning, sentences, `${name}.${field}`);
      }
      for (const [capability, { value, meaning }] of Object.entries(trait.capabilities)) {
        assertType(value, `${name}.${capability}`);
        assert.match(meaning, sentences, `${name}.${capability}`);
      }
      for (const [command, { meaning, parameters }] of Object.entries(trait.commands)) {
        assert.match(meaning, sentences, `${name}.${command}`);
        for (const [parameter, described] of Object.entries(parameters)) {
          assertType(described.value, `${name}.${command}.${parameter}`);
          assert.match(described.meaning, sentences, `${name}.${command}.${parameter}`);
        }
      }
    }
  });

  it("marks what counts with every value as a transition, and what is measured as a sample", () => {
    const fieldsOf = (kind: string) =>
      Object.values(traits).flatMap(({ name, fields }) =>
        Object.entries(fields)
          .filter(([, field]) => field.kind === kind)
          .map(([field]) => `${name}.${field}`),
      );
    const transitions = fieldsOf("transition");
    for (const field of ["smoke.state", "carbonMonoxide.state", "presence.state", "fanTimer.active", "onOff.on"]) {
      assert.ok(transitions.includes(field), field);
    }
    assert.deepEqual(fieldsOf("sample"), ["temperature.celsius", "humidity.percent", "battery.percent"]);
  });
});

describe("the kinds of things and the states of commands", () => {
  it("are distinct words", () => {
    for (const words of [thingKinds, commandStates] as readonly (readonly string[])[]) {
      assert.ok(words.length > 1 && words.every((one) => word.test(one)));
      assert.equal(new Set(words).size, words.length);
    }
  });
});
