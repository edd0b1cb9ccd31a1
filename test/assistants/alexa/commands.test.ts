import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandFor } from "../../../src/assistants/alexa/commands.ts";
import { type Directive, readDirective } from "../../../src/assistants/alexa/directive.ts";
import { endpointsOf } from "../../../src/assistants/alexa/endpoint.ts";
import { isAlexaError } from "../../../src/assistants/alexa/errors.ts";
import { errorResponse } from "../../../src/assistants/alexa/messages.ts";
import type { CurrentThing } from "../../../src/assistants/current-thing.ts";
import { checked } from "./checked.ts";
import { brightness, fan, fanTimer, onOff, temperature, thermostat, thing } from "./things.ts";

/** The command as `trait.command {params}`, or the error as `namespace type`. */
function outcome(shown: CurrentThing, name: string, payload: object = {}, part = 0, instance?: string): string {
  const [namespace, directiveName] = name.split(" ") as [string, string];
  const { endpointId } = endpointsOf(shown, "none")[part]!;
  const directive = readDirective({
    directive: {
      header: {
        namespace: `Alexa.${namespace}`,
        name: directiveName,
        payloadVersion: "3",
        messageId: "m",
        correlationToken: "c",
        ...(instance !== undefined && { instance }),
      },
      endpoint: { scope: { type: "BearerToken", token: "t" }, endpointId, cookie: {} },
      payload,
    },
  }) as Directive;
  const command = commandFor(directive, endpointsOf(shown, "none")[part]!);
  if (!isAlexaError(command)) return `${command.trait}.${command.command} ${JSON.stringify(command.params)}`;
  checked(errorResponse({ messageId: "m", correlationToken: "c", endpointId }, command));
  return `${command.namespace} ${command.payload.type}`;
}

const celsius = (value: number) => ({ value, scale: "CELSIUS" });
const fahrenheit = (value: number) => ({ value, scale: "FAHRENHEIT" });

describe("a directive to a thermostat", () => {
  const dual = thing("thermostat", { thermostat: thermostat(), ...temperature(20), ...fanTimer(false) });
  const single = thing("thermostat", { thermostat: thermostat({}, { modes: ["heat", "auto"] }) });
  const cases: readonly (readonly [CurrentThing, string, object, string])[] = [
    [dual, "SetTargetTemperature", { targetSetpoint: celsius(21.5) }, 'thermostat.setTarget {"celsius":21.5}'],
    [dual, "SetTargetTemperature", { targetSetpoint: fahrenheit(70) }, 'thermostat.setTarget {"celsius":21.11}'],
    [
      dual,
      "SetTargetTemperature",
      { targetSetpoint: { value: 293.15, scale: "KELVIN" } },
      'thermostat.setTarget {"celsius":20}',
    ],
    [
      dual,
      "SetTargetTemperature",
      { lowerSetpoint: celsius(19), upperSetpoint: fahrenheit(77) },
      'thermostat.setTarget {"heatCelsius":19,"coolCelsius":25}',
    ],
    [dual, "SetTargetTemperature", { lowerSetpoint: celsius(19) }, 'thermostat.setTarget {"heatCelsius":19}'],
    [dual, "SetTargetTemperature", { upperSetpoint: celsius(26) }, 'thermostat.setTarget {"coolCelsius":26}'],
    [
      dual,
      "SetTargetTemperature",
      { targetSetpoint: celsius(21), lowerSetpoint: celsius(19), upperSetpoint: celsius(23) },
      "Alexa.ThermostatController TRIPLE_SETPOINTS_UNSUPPORTED",
    ],
    [
      single,
      "SetTargetTemperature",
      { lowerSetpoint: celsius(19), upperSetpoint: celsius(23) },
      "Alexa.ThermostatController DUAL_SETPOINTS_UNSUPPORTED",
    ],
    [
      dual,
      "SetTargetTemperature",
      { targetSetpoint: celsius(21), schedule: { start: "2026-11-17T18:00:00Z", duration: "PT1H" } },
      "Alexa.ThermostatController UNWILLING_TO_SET_SCHEDULE",
    ],
    [dual, "SetTargetTemperature", {}, "Alexa INVALID_DIRECTIVE"],
    [dual, "SetTargetTemperature", { targetSetpoint: 21 }, "Alexa INVALID_DIRECTIVE"],
    [dual, "SetTargetTemperature", { targetSetpoint: null }, "Alexa INVALID_DIRECTIVE"],
    [dual, "SetTargetTemperature", { targetSetpoint: { value: 21, scale: "toString" } }, "Alexa INVALID_DIRECTIVE"],
    [dual, "SetTargetTemperature", { targetSetpoint: { value: "21", scale: "CELSIUS" } }, "Alexa INVALID_DIRECTIVE"],
    [
      dual,
      "AdjustTargetTemperature",
      { targetSetpointDelta: celsius(-2) },
      'thermostat.adjustTarget {"deltaCelsius":-2}',
    ],
    [
      dual,
      "AdjustTargetTemperature",
      { targetSetpointDelta: fahrenheit(9) },
      'thermostat.adjustTarget {"deltaCelsius":5}',
    ],
    [
      dual,
      "AdjustTargetTemperature",
      { targetSetpointDelta: { value: 1, scale: "KELVIN" } },
      'thermostat.adjustTarget {"deltaCelsius":1}',
    ],
    [dual, "AdjustTargetTemperature", {}, "Alexa INVALID_DIRECTIVE"],
    [dual, "SetThermostatMode", { thermostatMode: { value: "AUTO" } }, 'thermostat.setMode {"mode":"heatCool"}'],
    [single, "SetThermostatMode", { thermostatMode: { value: "AUTO" } }, 'thermostat.setMode {"mode":"auto"}'],
    [dual, "SetThermostatMode", { thermostatMode: { value: "ECO" } }, 'thermostat.setMode {"mode":"eco"}'],
    [dual, "SetThermostatMode", { thermostatMode: { value: "OFF" } }, 'thermostat.setMode {"mode":"off"}'],
    [
      single,
      "SetThermostatMode",
      { thermostatMode: { value: "COOL" } },
      "Alexa.ThermostatController UNSUPPORTED_THERMOSTAT_MODE",
    ],
    [
      dual,
      "SetThermostatMode",
      { thermostatMode: { value: "CUSTOM", customName: "VACATION" } },
      "Alexa.ThermostatController UNSUPPORTED_THERMOSTAT_MODE",
    ],
    [
      dual,
      "SetThermostatMode",
      { thermostatMode: { value: "constructor" } },
      "Alexa.ThermostatController UNSUPPORTED_THERMOSTAT_MODE",
    ],
    [dual, "SetThermostatMode", { thermostatMode: "HEAT" }, "Alexa INVALID_DIRECTIVE"],
    [dual, "ResumeSchedule", {}, "Alexa INVALID_DIRECTIVE"],
  ];
  for (const [shown, name, payload, expected] of cases) {
    it(`becomes a command or an error: ${name} ${JSON.stringify(payload)}`, () => {
      assert.equal(outcome(shown, `ThermostatController ${name}`, payload), expected);
    });
  }

  it("starts and stops the timer of its fan", () => {
    const toggle = (name: string, instance?: string) => outcome(dual, `ToggleController ${name}`, {}, 0, instance);
    assert.equal(toggle("TurnOn", "Fan.Timer"), "fanTimer.start {}");
    assert.equal(toggle("TurnOff", "Fan.Timer"), "fanTimer.stop {}");
    assert.equal(toggle("TurnOff", "Other"), "Alexa INVALID_DIRECTIVE");
    assert.equal(toggle("TurnOff"), "Alexa INVALID_DIRECTIVE");
  });

  it("switches the fan of the thermostat, and not the thermostat", () => {
    const both = thing("thermostat", { thermostat: thermostat(), ...fan("auto") });
    assert.equal(outcome(both, "PowerController TurnOn", {}, 1), 'fan.setMode {"mode":"on"}');
    assert.equal(outcome(both, "PowerController TurnOff", {}, 1), 'fan.setMode {"mode":"auto"}');
    assert.equal(outcome(both, "PowerController TurnOff", {}, 0), "Alexa INVALID_DIRECTIVE");
  });
});

describe("a directive about the speed of a fan", () => {
  const stepped = { fan: { ...fan(null, 50, null).fan!, capabilities: { modes: null, percentStep: 25 } } };
  const cases: readonly (readonly [object, string, object, string])[] = [
    [fan(null, 30), "SetRangeValue", { rangeValue: 40 }, 'fan.setPercent {"percent":40}'],
    [fan(null, 30), "SetRangeValue", { rangeValue: "40" }, "Alexa INVALID_VALUE"],
    [fan(null, 30), "AdjustRangeValue", { rangeValueDelta: -7 }, 'fan.adjustPercent {"deltaPercent":-7}'],
    [
      fan(null, 30),
      "AdjustRangeValue",
      { rangeValueDelta: -1, rangeValueDeltaDefault: true },
      'fan.adjustPercent {"deltaPercent":-10}',
    ],
    [
      stepped,
      "AdjustRangeValue",
      { rangeValueDelta: 25, rangeValueDeltaDefault: true },
      'fan.adjustPercent {"deltaPercent":25}',
    ],
    [fan(null, 30), "AdjustRangeValue", {}, "Alexa INVALID_VALUE"],
  ];
  for (const [traits, name, payload, expected] of cases) {
    it(`becomes a command or an error: ${name} ${JSON.stringify(payload)}`, () => {
      const shown = thing("fan", traits);
      assert.equal(outcome(shown, `RangeController ${name}`, payload, 0, "Fan.Speed"), expected);
      assert.equal(outcome(shown, `RangeController ${name}`, payload), "Alexa INVALID_DIRECTIVE");
    });
  }
});

describe("a directive to another thing", () => {
  const lamp = thing("light", { ...onOff(true), ...brightness(50) });
  const speed = thing("fan", fan(null, 30, null));
  const cases: readonly (readonly [CurrentThing, string, object, string])[] = [
    [lamp, "PowerController TurnOn", {}, 'onOff.set {"on":true}'],
    [lamp, "PowerController TurnOff", {}, 'onOff.set {"on":false}'],
    [lamp, "PowerController toString", {}, "Alexa INVALID_DIRECTIVE"],
    [lamp, "BrightnessController SetBrightness", { brightness: 42 }, 'brightness.set {"percent":42}'],
    [lamp, "BrightnessController SetBrightness", { brightness: "42" }, "Alexa INVALID_VALUE"],
    [lamp, "BrightnessController AdjustBrightness", { brightnessDelta: -20 }, 'brightness.adjust {"deltaPercent":-20}'],
    [lamp, "BrightnessController AdjustBrightness", { brightnessDelta: "2" }, "Alexa INVALID_VALUE"],
    [lamp, "BrightnessController AdjustBrightness", {}, "Alexa INVALID_VALUE"],
    [speed, "PowerController TurnOn", {}, 'fan.setPercent {"percent":100}'],
    [speed, "PowerController TurnOff", {}, 'fan.setPercent {"percent":0}'],
    [lamp, "ThermostatController SetThermostatMode", {}, "Alexa INVALID_DIRECTIVE"],
  ];
  for (const [shown, name, payload, expected] of cases) {
    it(`becomes a command or an error: ${name} ${JSON.stringify(payload)}`, () => {
      assert.equal(outcome(shown, name, payload), expected);
    });
  }
});

describe("the body of a request", () => {
  const header = { namespace: "Alexa", name: "ReportState", payloadVersion: "3", messageId: "m" };

  it("is no directive without a header", () => {
    const bodies = [undefined, null, "x", [], {}, { directive: null }, { directive: {} }, { directive: { header: 1 } }];
    for (const body of bodies) assert.equal(readDirective(body), undefined, JSON.stringify(body));
    assert.equal(readDirective({ directive: { header: { ...header, name: 5 } } }), undefined);
  });

  it("holds the token in the endpoint, in the scope or in the grantee", () => {
    const scope = { type: "BearerToken", token: "t" };
    const read = (directive: object) => readDirective({ directive: { header, ...directive } })?.token;
    assert.equal(read({ endpoint: { scope, endpointId: "e" }, payload: {} }), "t");
    assert.equal(read({ payload: { scope } }), "t");
    assert.equal(read({ payload: { grantee: scope } }), "t");
    for (const other of [{}, { payload: [] }, { payload: { scope: "t" } }, { payload: { scope: { token: 5 } } }]) {
      assert.equal(read(other), "", JSON.stringify(other));
    }
  });

  it("is answered without an endpoint id that Alexa would refuse", () => {
    const read = (endpointId: unknown) =>
      readDirective({ directive: { header, endpoint: { endpointId }, payload: {} } })?.endpointId;
    assert.equal(read("t_1:fan"), "t_1:fan");
    for (const bad of ["a b", "", "[1]", "x".repeat(257), 5, null]) assert.equal(read(bad), undefined, String(bad));
  });
});
