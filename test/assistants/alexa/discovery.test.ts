import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { discoveredHome } from "../../../src/assistants/alexa/discovery.ts";
import { thingIdOf } from "../../../src/assistants/alexa/endpoint.ts";
import { addOrUpdateReport, discoverResponse, withScope } from "../../../src/assistants/alexa/messages.ts";
import type { CurrentThing } from "../../../src/assistants/current-thing.ts";
import type { ThermostatMode } from "../../../src/home/traits/thermostat.ts";
import { checked } from "./checked.ts";
import { brightness, fan, fanTimer, onOff, smoke, temperature, thermostat, thing } from "./things.ts";

interface Described {
  readonly endpointId: string;
  readonly friendlyName: string;
  readonly manufacturerName: string;
  readonly description: string;
  readonly displayCategories: readonly string[];
  readonly additionalAttributes?: object;
  readonly capabilities: readonly {
    readonly interface: string;
    readonly instance?: string;
    readonly properties?: { readonly supported: readonly { readonly name: string }[] };
    readonly configuration?: { readonly supportedModes: readonly string[]; readonly supportsScheduling: boolean };
  }[];
}

function discovered(things: readonly CurrentThing[], alarms: "none" | "contact" = "none"): readonly Described[] {
  const { endpoints } = discoveredHome(things, alarms);
  checked(withScope(addOrUpdateReport("m-2", endpoints), "token"));
  const { event } = checked(discoverResponse({ messageId: "m-1" }, endpoints));
  return event.payload.endpoints as readonly Described[];
}

/** `Interface(properties)` of each capability, without those that every endpoint has. */
function interfacesOf({ capabilities }: Described): readonly string[] {
  const own = capabilities.filter((one) => one.interface !== "Alexa" && one.interface !== "Alexa.EndpointHealth");
  return own.map((one) => `${one.interface.slice(6)}(${one.properties?.supported.map(({ name }) => name)})`);
}

describe("the endpoints of a home", () => {
  it("describe a thermostat with its setpoints, its sensor and the timer of its fan", () => {
    const traits = { thermostat: thermostat(), ...temperature(21), ...fanTimer(false) };
    const [endpoint] = discovered([thing("thermostat", traits, { maker: "Nest", model: "Learning" })]);
    assert.deepEqual(endpoint!.displayCategories, ["THERMOSTAT", "TEMPERATURE_SENSOR"]);
    assert.deepEqual(interfacesOf(endpoint!), [
      "ThermostatController(targetSetpoint,lowerSetpoint,upperSetpoint,thermostatMode)",
      "TemperatureSensor(temperature)",
      "ToggleController(toggleState)",
    ]);
    const [controller, , toggle] = endpoint!.capabilities.slice(1);
    assert.deepEqual(controller!.configuration, {
      supportedModes: ["HEAT", "COOL", "AUTO", "ECO", "OFF"],
      supportsScheduling: false,
    });
    assert.equal(toggle!.instance, "Fan.Timer");
    assert.equal(endpoint!.friendlyName, "Hallway");
    assert.equal(endpoint!.manufacturerName, "Nest");
    assert.equal(endpoint!.description, "Thermostat connected through Breezeway");
    assert.deepEqual(endpoint!.additionalAttributes, { manufacturer: "Nest", model: "Learning" });
  });

  const modeCases: readonly (readonly [readonly ThermostatMode[] | null, boolean | null, string, string])[] = [
    [["off", "heat"], true, "targetSetpoint,thermostatMode", "HEAT,OFF"],
    [["off", "heatCool"], true, "lowerSetpoint,upperSetpoint,thermostatMode", "AUTO,OFF"],
    [["off", "heatCool"], false, "targetSetpoint,thermostatMode", "AUTO,OFF"],
    [["auto", "dry", "fanOnly"], false, "targetSetpoint,thermostatMode", "AUTO"],
    [["off", "eco"], true, "thermostatMode", "ECO,OFF"],
    [null, true, "targetSetpoint,lowerSetpoint,upperSetpoint,thermostatMode", "HEAT,COOL,AUTO,ECO,OFF"],
    [null, null, "targetSetpoint,thermostatMode", "HEAT,COOL,AUTO,ECO,OFF"],
  ];
  for (const [modes, dual, names, supported] of modeCases) {
    it(`offer the setpoints and modes that exist: ${modes}`, () => {
      const [endpoint] = discovered([thing("thermostat", { thermostat: thermostat({}, { modes, dual }) })]);
      assert.deepEqual(interfacesOf(endpoint!), [`ThermostatController(${names})`]);
      assert.equal(String(endpoint!.capabilities[1]!.configuration!.supportedModes), supported);
    });
  }

  for (const [dual, names] of [
    [false, "thermostatMode"],
    [true, "lowerSetpoint,upperSetpoint,thermostatMode"],
  ] as const) {
    it(`offer no single setpoint where none can be set: ${names}`, () => {
      const capabilities = { modes: ["off", "heat", "heatCool"], dual, single: false } as const;
      const [endpoint] = discovered([thing("thermostat", { thermostat: thermostat({}, capabilities) })]);
      assert.deepEqual(interfacesOf(endpoint!), [`ThermostatController(${names})`]);
    });
  }

  it("offer only the sensor of a thermostat whose modes Alexa does not have", () => {
    const traits = { thermostat: thermostat({}, { modes: ["dry"] }), ...temperature(20) };
    const [endpoint] = discovered([thing("thermostat", traits)]);
    assert.deepEqual(interfacesOf(endpoint!), ["TemperatureSensor(temperature)"]);
    assert.deepEqual(endpoint!.displayCategories, ["TEMPERATURE_SENSOR"]);
  });

  it("hold the fan of a thermostat as an endpoint of its own", () => {
    const [whole, part] = discovered([thing("thermostat", { thermostat: thermostat(), ...fan("auto") })]);
    assert.equal(part!.endpointId, `${whole!.endpointId}:fan`);
    assert.equal(part!.friendlyName, "Hallway fan");
    assert.deepEqual(part!.displayCategories, ["FAN"]);
    assert.deepEqual(interfacesOf(part!), ["PowerController(powerState)"]);
    assert.equal(thingIdOf(part!.endpointId), whole!.endpointId);
    assert.equal(thingIdOf(whole!.endpointId), whole!.endpointId);
  });

  const kindCases: readonly (readonly [CurrentThing, string, string])[] = [
    [
      thing("light", { ...onOff(true), ...brightness(5) }),
      "LIGHT",
      "PowerController(powerState),BrightnessController(brightness)",
    ],
    [thing("switch", onOff(true)), "SWITCH", "PowerController(powerState)"],
    [
      thing("fan", { ...onOff(true), ...fan("low", 20, ["low"]) }),
      "FAN",
      "PowerController(powerState),RangeController(rangeValue)",
    ],
    [thing("fan", { ...onOff(true), ...fan("low", null, ["low"]) }), "FAN", "PowerController(powerState)"],
    [thing("fan", fan("auto")), "FAN", "PowerController(powerState)"],
    [thing("sensor", temperature(3)), "TEMPERATURE_SENSOR", "TemperatureSensor(temperature)"],
    [thing("other", onOff(true)), "OTHER", "PowerController(powerState)"],
  ];
  for (const [shown, category, interfaces] of kindCases) {
    it(`describe a thing of kind ${shown.kind} as ${category}`, () => {
      const [endpoint] = discovered([shown]);
      assert.deepEqual(endpoint!.displayCategories, [category]);
      assert.equal(String(interfacesOf(endpoint!)), interfaces);
    });
  }

  it("leave out what Alexa can't show or command", () => {
    const humidity = { humidity: { available: true, state: { percent: 40 }, capabilities: {} } };
    const home = { presence: { available: true, state: { state: "home", word: null }, capabilities: {} } } as const;
    const left = [
      thing("switch", onOff(true, true)),
      thing("sensor", humidity),
      thing("home", home),
      thing("fan", fan("low", null, ["low", "high"])),
      thing("thermostat", fanTimer(false, false)),
    ];
    assert.deepEqual(discovered(left, "contact"), []);
  });

  it("offer the speed of a fan as a range, in the steps of the fan", () => {
    const stepped = { fan: { ...fan(null, 50, null).fan!, capabilities: { modes: null, percentStep: 25 } } };
    const [part] = discovered([thing("thermostat", { thermostat: thermostat(), ...stepped })]).slice(1);
    assert.deepEqual(interfacesOf(part!), ["PowerController(powerState)", "RangeController(rangeValue)"]);
    const range = part!.capabilities.find((one) => one.interface === "Alexa.RangeController");
    assert.equal(range!.instance, "Fan.Speed");
    assert.deepEqual(range!.configuration, {
      supportedRange: { minimumValue: 0, maximumValue: 100, precision: 25 },
      unitOfMeasure: "Alexa.Unit.Percent",
    });
  });

  it("offer of an own device only what commands can set, and what can be measured", () => {
    const heater = { thermostat: thermostat(), ...temperature(20), ...fanTimer(true), ...fan("on", 30) };
    const own = (settable: CurrentThing["settable"]) =>
      discovered([thing("thermostat", heater, { ...(settable && { settable }) })]).flatMap(interfacesOf);
    assert.deepEqual(own({}), ["TemperatureSensor(temperature)"]);
    assert.deepEqual(own({ thermostat: ["mode"], fanTimer: ["active"] }), [
      "ThermostatController(thermostatMode)",
      "TemperatureSensor(temperature)",
      "ToggleController(toggleState)",
    ]);
    assert.deepEqual(own({ thermostat: ["heatCelsius", "coolCelsius"], fan: ["percent"] }), [
      "ThermostatController(targetSetpoint,lowerSetpoint,upperSetpoint,thermostatMode)",
      "TemperatureSensor(temperature)",
      "PowerController(powerState)",
      "RangeController(rangeValue)",
    ]);
    assert.deepEqual(own({ fan: ["mode"] }), ["TemperatureSensor(temperature)", "PowerController(powerState)"]);
    const lamp = thing("light", { ...onOff(true), ...brightness(5) }, { settable: { onOff: ["on"] } });
    assert.deepEqual(discovered([lamp]).flatMap(interfacesOf), ["PowerController(powerState)"]);
  });

  it("leave alarms out unless they are asked for", () => {
    const alarm = thing("alarm", { ...smoke("clear"), ...temperature(20) });
    assert.deepEqual(discovered([alarm]), []);
    const [endpoint] = discovered([alarm], "contact");
    assert.deepEqual(endpoint!.displayCategories, ["CONTACT_SENSOR"]);
    assert.deepEqual(interfacesOf(endpoint!), ["ContactSensor(detectionState)", "TemperatureSensor(temperature)"]);
  });

  it("have names that Alexa accepts", () => {
    const long = "x".repeat(127);
    const named = (name: string | null, room: string | null, thingId: string) =>
      thing("switch", onOff(true), { name, room, thingId, maker: `${long}😀`, model: `${long.repeat(2)}😀` });
    const endpoints = discovered([
      named(null, "Kitchen", "a"),
      named(" ", "", "b"),
      named(`${long}😀`, null, "c"),
      thing("thermostat", { thermostat: thermostat(), ...fan("on") }, { name: long, thingId: "d" }),
    ]);
    const names = new Map(endpoints.map(({ endpointId, friendlyName }) => [endpointId, friendlyName]));
    assert.equal(names.get("a"), "Kitchen");
    assert.equal(names.get("b"), "Switch");
    assert.equal(names.get("c"), long);
    assert.equal(names.get("d:fan"), `${"x".repeat(124)} fan`);
  });

  it("are at most 300: alarms, thermostats, fans and lights before the rest, and always the same", () => {
    const many = (kind: CurrentThing["kind"], count: number, traits: CurrentThing) =>
      Array.from({ length: count }, (_, index) => ({ ...traits, kind, thingId: `${kind}-${index}` }));
    const things = [
      ...many("switch", 100, thing("switch", onOff(true))),
      ...many("light", 100, thing("light", onOff(true))),
      ...many("thermostat", 60, thing("thermostat", { thermostat: thermostat(), ...fan("on") })),
      ...many("alarm", 40, thing("alarm", smoke("clear"))),
    ];
    const { endpoints, omitted } = discoveredHome(things, "contact");
    assert.equal(endpoints.length, 300);
    assert.equal(omitted.length, 60);
    assert.ok(omitted.every(({ thing: { kind } }) => kind === "switch"));
    const kinds = endpoints.map(({ thing: { kind }, isFanPart }) => (isFanPart ? "fan" : kind));
    const expected = ["alarm", "thermostat", "fan", "light", "switch"] as const;
    const counts = expected.map((kind) => kinds.filter((one) => one === kind).length);
    assert.deepEqual(counts, [40, 60, 60, 100, 40]);
    assert.deepEqual([...new Set(kinds)], expected);
    assert.deepEqual(discovered(things.toReversed(), "contact"), discovered(things, "contact"));
  });
});
