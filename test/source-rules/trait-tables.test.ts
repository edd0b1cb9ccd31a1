import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { withTraits } from "../../docs/trait-tables.ts";
import { traits } from "../../src/home/catalogue.ts";
import { cataloguedTraits } from "../../src/home/catalogue-texts.ts";

const document = readFileSync(new URL("../../docs/interface.md", import.meta.url), "utf8");

describe("the traits in docs/interface.md", () => {
  it("are those of the catalogue", () => {
    const sentence = "they are old. Write them again with: node bin/breezeway --run docs/write-traits.ts";
    assert.equal(document, withTraits(document), sentence);
  });

  it("name every field, capability and command, and the parameters of each command", () => {
    for (const { name, fields, capabilities, commands } of cataloguedTraits()) {
      const trait = traits[name as keyof typeof traits];
      assert.deepEqual(
        fields.map((field) => field.name),
        Object.keys(trait.fields),
      );
      assert.deepEqual(
        capabilities.map((capability) => capability.name),
        Object.keys(trait.capabilities),
      );
      assert.deepEqual(
        commands.map((command) => [command.name, command.parameters.map((parameter) => parameter.name)]),
        Object.entries(trait.commands).map(([command, { parameters }]) => [command, Object.keys(parameters)]),
      );
      for (const command of commands) assert.ok(document.includes(`| \`${command.name}\` | `), command.name);
    }
  });

  it("have the values that their types allow", () => {
    const told = new Map(
      cataloguedTraits().flatMap(({ name, fields, capabilities }) =>
        [...fields, ...capabilities].map((one) => [`${name}.${one.name}`, `${one.type}: ${one.values}`] as const),
      ),
    );
    assert.equal(told.get("smoke.state"), "string: `clear`, `warning`, `alarm`, `unknown`");
    assert.equal(told.get("smoke.word"), "string: any text");
    assert.equal(told.get("brightness.percent"), "number: percent, 1 to 100");
    assert.equal(told.get("temperature.celsius"), "number: degrees Celsius");
    assert.equal(told.get("fanTimer.untilMs"), "number: milliseconds since 1970");
    assert.equal(told.get("fanTimer.maxMinutes"), "number: minutes, 1 or more");
    assert.equal(told.get("fan.modes"), "list of strings: any text");
    assert.equal(told.get("onOff.on"), "boolean: `true`, `false`");
  });
});
