import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { directivesFor } from "../../../simulator/alexa/wishes.ts";
import { exampleSentences } from "../../../simulator/assistants/example-sentences.ts";
import { readSentence } from "../../../simulator/assistants/sentence.ts";
import { shownMessage } from "../../../simulator/assistants/shown-message.ts";
import { intentsFor, showsEffect } from "../../../simulator/google-home/wishes.ts";

const fanToggle = {
  interface: "Alexa.ToggleController",
  instance: "Fan.Timer",
  capabilityResources: { friendlyNames: [{ "@type": "text", value: { text: "fan", locale: "en-US" } }] },
};
const endpoint = (endpointId: string, friendlyName: string, category: string, ...capabilities: readonly object[]) => ({
  ...{ endpointId, friendlyName, displayCategories: [category] },
  capabilities: capabilities.map((one) => ("interface" in one ? one : {})),
});
const has = (name: string) => ({ interface: `Alexa.${name}` });
const endpoints = [
  endpoint("den", "Den (9C38)", "THERMOSTAT", has("ThermostatController"), has("TemperatureSensor"), fanToggle),
  endpoint("hall", "Hallway", "THERMOSTAT", has("ThermostatController"), has("TemperatureSensor"), fanToggle),
  endpoint("lamp", "Hall lamp", "LIGHT", has("PowerController")),
];

describe("what Alexa sends for a sentence", () => {
  const sent = (sentence: string) =>
    directivesFor(readSentence(sentence)!, endpoints).map(({ endpoint: { endpointId }, name, payload, instance }) =>
      [endpointId, name, JSON.stringify(payload), instance].filter(Boolean).join(" "),
    );

  it("is a directive to the endpoint that is meant and can do it", () => {
    assert.deepEqual(sent("turn on the hall fan"), ["hall Alexa.ToggleController TurnOn {} Fan.Timer"]);
    assert.deepEqual(sent("turn off the hall"), ["lamp Alexa.PowerController TurnOff {}"]);
    assert.deepEqual(sent("set the den to 21"), [
      'den Alexa.ThermostatController SetTargetTemperature {"targetSetpoint":{"value":21,"scale":"CELSIUS"}}',
    ]);
    assert.deepEqual(sent("set the den to eco"), [
      'den Alexa.ThermostatController SetThermostatMode {"thermostatMode":{"value":"ECO"}}',
    ]);
    assert.deepEqual(sent("make the den warmer"), [
      'den Alexa.ThermostatController AdjustTargetTemperature {"targetSetpointDelta":{"value":1,"scale":"CELSIUS"}}',
    ]);
    assert.deepEqual(sent("what is the temperature in the den"), ["den Alexa ReportState {}"]);
    assert.deepEqual(sent("is the den fan on"), ["den Alexa ReportState {}"]);
  });

  it("is left open when several are meant, and nothing when none can do it", () => {
    assert.equal(sent("turn on the fan").length, 2);
    assert.deepEqual(sent("set the lamp to 21"), []);
    assert.deepEqual(sent("turn on the den"), [], "the toggle is a part of the thermostat, and has a word of its own");
  });
});

describe("what Google sends for a sentence", () => {
  const device = (id: string, name: string, traits: readonly string[], attributes: object = {}) => ({
    ...{ id, type: "action.devices.types.SWITCH", name: { name }, roomHint: "Kitchen" },
    ...{ traits: traits.map((trait) => `action.devices.traits.${trait}`), attributes: { ...attributes } },
  });
  const devices = [
    device("den", "Den", ["TemperatureSetting"]),
    device("den:fan", "Den fan", ["OnOff"]),
    device("door", "Door", ["OnOff"], { queryOnlyOnOff: true }),
    device("ceiling", "Ceiling", ["OnOff", "Brightness"]),
  ];
  const sent = (sentence: string) =>
    intentsFor(readSentence(sentence)!, devices).map(({ device: { id }, execution }) =>
      execution ? `${id} ${execution.command.split(".").at(-1)} ${JSON.stringify(execution.params)}` : `${id} QUERY`,
    );

  it("is EXECUTE or QUERY for the device that is meant and can do it", () => {
    assert.deepEqual(sent("turn on the den fan"), ['den:fan OnOff {"on":true}']);
    assert.deepEqual(sent("set the den to 21"), [
      'den ThermostatTemperatureSetpoint {"thermostatTemperatureSetpoint":21}',
    ]);
    assert.deepEqual(sent("set the den to auto"), ['den ThermostatSetMode {"thermostatMode":"heatcool"}']);
    assert.deepEqual(sent("make the den cooler"), [
      'den TemperatureRelative {"thermostatTemperatureRelativeDegree":-1}',
    ]);
    assert.deepEqual(sent("dim the kitchen to 40 percent"), ['ceiling BrightnessAbsolute {"brightness":40}']);
    assert.deepEqual(sent("what is the temperature in the den"), ["den QUERY"]);
    assert.deepEqual(sent("is the door on"), ["door QUERY"]);
    assert.deepEqual(sent("turn on the door"), [], "it can only be asked");
  });

  it("has come to its end when a state shows the effect", () => {
    const effectOf = (sentence: string, state: object) =>
      showsEffect(intentsFor(readSentence(sentence)!, devices)[0]!.execution!, { online: true, ...state });
    assert.equal(effectOf("set the den to heat", { thermostatMode: "heat" }), true);
    assert.equal(effectOf("set the den to heat", { thermostatMode: "eco" }), false);
    assert.equal(effectOf("turn off the den fan", { on: false }), true);
    assert.equal(effectOf("turn off the den fan", { on: false, online: false }), false);
    assert.equal(effectOf("make the den warmer", { thermostatTemperatureSetpoint: 22 }), true);
  });
});

describe("the examples of sentences", () => {
  it("fit the devices and their states", () => {
    const heating = { name: "Den (9C38)", thermostat: { mode: "heat" }, measuresTemperature: true };
    const eco = { ...heating, name: "Attic", thermostat: { mode: "eco" } };
    const lamp = { name: "Hall lamp", switches: { isOn: true, isFan: false } };
    assert.deepEqual(exampleSentences([heating, lamp]), [
      "set the den to 21",
      "what is the temperature in the den",
      "turn off the hall lamp",
    ]);
    assert.deepEqual(exampleSentences([eco]).slice(0, 2), ["set the attic to heat", "set the attic to 21"]);
    for (const sentence of exampleSentences([heating, eco, lamp])) assert.ok(readSentence(sentence), sentence);
    assert.deepEqual(exampleSentences([]), []);
  });

  it("name a device in full when another has the same spoken name", () => {
    const fan = { switches: { isOn: false, isFan: true, part: "fan" } };
    const both = [
      { name: "Hall (1)", ...fan },
      { name: "Hall (2)", ...fan },
    ];
    assert.deepEqual(exampleSentences(both), ["turn on the hall (2) fan"]);
  });
});

describe("a message on the page", () => {
  it("shows no secret", () => {
    const message = {
      scope: { type: "BearerToken", token: "bwa_secret" },
      grant: { code: "AN1" },
      grantee: { token: "bwa_secret" },
      header: { correlationToken: "shown" },
    };
    const { text } = shownMessage("AcceptGrant", message);
    assert.doesNotMatch(text, /bwa_secret|AN1/);
    assert.match(text, /"correlationToken": "shown"/);
    assert.equal(text.match(/\(masked\)/g)?.length, 3);
  });

  it("is cut when nobody would read it", () => {
    assert.match(shownMessage("Long", { text: "x".repeat(30_000) }).text, /… \(\d+ more characters\)$/);
  });
});
