import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { traitNames, traits } from "../../src/home/catalogue.ts";
import { isRelative, readCommand } from "../../src/home/command.ts";
import { isCommandError } from "../../src/home/command-errors.ts";
import { command } from "./command-things.ts";

describe("the catalogue of traits", () => {
  it("documents every command and every parameter", () => {
    const documented = traitNames.flatMap((trait) =>
      Object.entries(traits[trait].commands).map(([name, { meaning, parameters }]) => {
        for (const text of [meaning, ...Object.values(parameters).map((parameter) => parameter.meaning)]) {
          assert.match(text, /^[A-Z].*\.$/s, `${trait}.${name}`);
        }
        return `${trait}.${name}(${Object.keys(parameters)})`;
      }),
    );
    assert.deepEqual(documented, [
      "onOff.set(on)",
      "brightness.set(percent)",
      "brightness.adjust(deltaPercent)",
      "thermostat.setMode(mode)",
      "thermostat.setPreset(preset)",
      "thermostat.setTarget(celsius,heatCelsius,coolCelsius)",
      "thermostat.adjustTarget(deltaCelsius)",
      "fanTimer.start(minutes)",
      "fanTimer.stop()",
      "fan.setMode(mode)",
      "fan.setPercent(percent)",
      "fan.adjustPercent(deltaPercent)",
    ]);
  });
});

describe("a command from outside", () => {
  it("is read with its parameters", () => {
    const accepted: readonly (readonly [string, string, unknown])[] = [
      ["onOff", "set", { on: false }],
      ["brightness", "set", { percent: 0 }],
      ["thermostat", "setMode", { mode: "heatCool" }],
      ["thermostat", "setPreset", { preset: "away" }],
      ["thermostat", "setTarget", { celsius: 21.5 }],
      ["thermostat", "setTarget", { heatCelsius: 19 }],
      ["thermostat", "setTarget", { coolCelsius: 25 }],
      ["thermostat", "setTarget", { heatCelsius: 19, coolCelsius: 25 }],
      ["thermostat", "adjustTarget", { deltaCelsius: -1 }],
      ["fanTimer", "start", { minutes: 15 }],
      ["fanTimer", "start", {}],
      ["fanTimer", "stop", {}],
      ["fan", "setMode", { mode: "auto" }],
      ["fan", "setPercent", { percent: 40 }],
    ];
    for (const [trait, name, params] of accepted) {
      assert.deepEqual(readCommand(trait, name, params), { trait, command: name, params });
    }
    assert.deepEqual(readCommand("fanTimer", "stop", undefined), { trait: "fanTimer", command: "stop", params: {} });
  });

  it("is not supported when the catalogue does not have it", () => {
    const unknown = [
      ["curtain", "open", "there is no such trait"],
      ["toString", "call", "there is no such trait"],
      ["smoke", "hush", "smoke has no commands"],
      ["onOff", "toggle", "onOff has only the command set"],
      ["onOff", "constructor", "onOff has only the command set"],
    ] as const;
    for (const [trait, name, reason] of unknown) {
      assert.deepEqual(readCommand(trait, name, {}), { code: "notSupported", command: `${trait}.${name}`, reason });
    }
  });

  it("is refused with the name of the parameter that is wrong", () => {
    const modes = "off, heat, cool, heatCool, auto, eco, dry, fanOnly";
    const refused: readonly (readonly [string, unknown, string, string])[] = [
      ["onOff.set", undefined, "on", "is missing"],
      ["onOff.set", { on: undefined }, "on", "is missing"],
      ["onOff.set", { on: null }, "on", "must be true or false"],
      ["onOff.set", { on: "true" }, "on", "must be true or false"],
      ["onOff.set", { on: true, percent: 3 }, "percent", "is unknown"],
      ["onOff.set", { on: true, toString: 1 }, "toString", "is unknown"],
      ["onOff.set", null, "params", "must be an object"],
      ["onOff.set", [true], "params", "must be an object"],
      ["onOff.set", "on", "params", "must be an object"],
      ["brightness.set", { percent: "50" }, "percent", "must be a number"],
      ["brightness.set", { percent: Number.NaN }, "percent", "must be a number"],
      ["brightness.set", { percent: Infinity }, "percent", "must be a number"],
      ["thermostat.setMode", { mode: "heat-cool" }, "mode", `must be one of: ${modes}`],
      ["thermostat.setMode", { mode: 1 }, "mode", `must be one of: ${modes}`],
      ["thermostat.setPreset", { preset: 1 }, "preset", "must be a text"],
      ["thermostat.setTarget", {}, "celsius", "is missing, and so are heatCelsius and coolCelsius"],
      [
        "thermostat.setTarget",
        { celsius: 20, coolCelsius: 24 },
        "celsius",
        "can't be combined with heatCelsius or coolCelsius",
      ],
      ["thermostat.setTarget", { celsius: null, heatCelsius: 20 }, "celsius", "must be a number"],
      ["thermostat.adjustTarget", {}, "deltaCelsius", "is missing"],
      ["fanTimer.start", { minutes: "15" }, "minutes", "must be a number"],
      ["fanTimer.stop", { minutes: 15 }, "minutes", "is unknown"],
      ["fan.setMode", {}, "mode", "is missing"],
    ];
    for (const [name, params, parameter, problem] of refused) {
      const [trait, asked] = name.split(".") as [string, string];
      assert.deepEqual(readCommand(trait, asked, params), { code: "badValue", parameter, problem }, name);
    }
  });

  it("is read or refused, whatever it holds, and never passes on what is not declared", () => {
    const anyWord = fc.oneof(fc.constantFrom(...traitNames, "set", "setTarget", "start", "stop"), fc.string());
    fc.assert(
      fc.property(anyWord, anyWord, fc.anything(), (trait, name, params) => {
        const read = readCommand(trait, name, params);
        if (isCommandError(read)) return;
        const declared = Object.keys(traits[read.trait].commands[read.command]!.parameters);
        assert.deepEqual(
          Object.keys(read.params).filter((parameter) => !declared.includes(parameter)),
          [],
        );
      }),
    );
  });

  it("depends on the current state only when it adjusts a target, a brightness or a speed", () => {
    assert.ok(isRelative(command("thermostat.adjustTarget", { deltaCelsius: 1 })));
    assert.ok(isRelative(command("brightness.adjust", { deltaPercent: 1 })));
    assert.ok(isRelative(command("fan.adjustPercent", { deltaPercent: 1 })));
    assert.ok(!isRelative(command("thermostat.setTarget", { celsius: 20 })));
    assert.ok(!isRelative(command("brightness.set", { percent: 20 })));
  });
});
