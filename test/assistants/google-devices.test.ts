import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CurrentThing } from "../../src/assistants/current-thing.ts";
import { googleDevices, statesOf, syncEntry, thingIdOf } from "../../src/assistants/google-home/devices.ts";
import { googleErrorOf, outcomeError } from "../../src/assistants/google-home/errors.ts";
import { brightness, fanSpeed, onOff } from "../../src/assistants/google-home/switches.ts";
import { temperatureSetting } from "../../src/assistants/google-home/temperature-setting.ts";
import type { GoogleTrait } from "../../src/assistants/google-home/trait.ts";
import { isGoogles, protocols } from "../../src/ecosystems/registry.ts";
import { planCommand } from "../../src/home/command.ts";
import { isCommandError } from "../../src/home/command-errors.ts";
import { noConditions } from "../../src/home/traits/alarm-states.ts";
import type { Thermostat } from "../../src/home/traits/thermostat.ts";

const cleared = { ...noConditions, state: "clear", word: null } as const;

/** A thing with these traits; all are available. */
function thing(kind: CurrentThing["kind"], traits: object, change: Partial<CurrentThing> = {}): CurrentThing {
  const available = Object.entries(traits).map(([name, trait]) => [
    name,
    { available: true, capabilities: {}, ...trait },
  ]);
  const none = { name: "Hall", room: null, homeName: null, maker: null, model: null, goneMs: null };
  const reached = { isGoogles: false, isStale: false, thingId: "t_1", traits: Object.fromEntries(available) };
  return { kind, ...none, ...reached, ...change } as CurrentThing;
}

function thermostat(
  state: Partial<Thermostat["state"]>,
  change: Partial<CurrentThing> = {},
  capabilities: object = {},
) {
  const all = { modes: ["off", "heat", "cool", "heatCool", "eco"], dual: true, unit: "C", minGapCelsius: 1.5 };
  const range = { minHeatCelsius: 9, maxHeatCelsius: 30, minCoolCelsius: 10, maxCoolCelsius: 32 };
  const targets = { heatCelsius: null, coolCelsius: null, targetCelsius: null };
  const eco = { ecoHeatCelsius: null, ecoCoolCelsius: null, action: null };
  return thing(
    "thermostat",
    {
      thermostat: { state: { ...targets, ...eco, ...state }, capabilities: { ...all, ...range, ...capabilities } },
      temperature: { state: { celsius: 20.5 }, capabilities: { unit: "C" } },
    },
    change,
  );
}

const shown = (one: CurrentThing) => statesOf(googleDevices(one)[0]!);

describe("a device at Google", () => {
  it("has the widest range of both targets, and none when a bound is missing", () => {
    const rangeOf = (capabilities: object) =>
      temperatureSetting.attributes(thermostat({}, {}, capabilities))?.thermostatTemperatureRange;
    assert.deepEqual(rangeOf({}), { minThresholdCelsius: 9, maxThresholdCelsius: 32 });
    const onlyHeat = { minCoolCelsius: null, maxCoolCelsius: null };
    assert.deepEqual(rangeOf(onlyHeat), { minThresholdCelsius: 9, maxThresholdCelsius: 30 });
    assert.equal(rangeOf({ ...onlyHeat, minHeatCelsius: null }), undefined);
    assert.equal(rangeOf({ ...onlyHeat, maxHeatCelsius: null }), undefined);
  });

  it("refuses a value of the wrong kind, and names it", () => {
    const wrong = (trait: GoogleTrait, command: string, parameter: string, problem: string) => {
      const refused = trait.commands![command]!({ [parameter]: "x" }, thermostat({}));
      assert.deepEqual(refused, { code: "badValue", parameter, problem }, command);
    };
    const number = "must be a number";
    wrong(onOff, "OnOff", "on", "must be a boolean");
    wrong(brightness, "BrightnessAbsolute", "brightness", number);
    wrong(brightness, "BrightnessRelative", "brightnessRelativePercent", number);
    wrong(fanSpeed, "SetFanSpeed", "fanSpeedPercent", number);
    wrong(fanSpeed, "SetFanSpeedRelative", "fanSpeedRelativePercent", number);
    wrong(temperatureSetting, "ThermostatTemperatureSetpoint", "thermostatTemperatureSetpoint", number);
    wrong(temperatureSetting, "ThermostatTemperatureSetRange", "thermostatTemperatureSetpointHigh", number);
    wrong(temperatureSetting, "TemperatureRelative", "thermostatTemperatureRelativeDegree", number);
    wrong(temperatureSetting, "ThermostatSetMode", "thermostatMode", "must be a mode of the thermostat");
    const noText = temperatureSetting.commands!.ThermostatSetMode!({ thermostatMode: { toString: 1 } }, thermostat({}));
    assert.equal(isCommandError(noText) && noText.code, "badValue");
  });

  it("shows the targets of each mode in the form that Google wants", () => {
    const both = { heatCelsius: 19, coolCelsius: 24, ecoHeatCelsius: 12, ecoCoolCelsius: 28 };
    const pair = (low: number, high: number) => ({
      thermostatTemperatureSetpointHigh: high,
      thermostatTemperatureSetpointLow: low,
    });
    const one = (celsius: number) => ({ thermostatTemperatureSetpoint: celsius });
    const cases: readonly (readonly [Partial<Thermostat["state"]>, string, object])[] = [
      [{ ...both, mode: "heat", targetCelsius: 19.5 }, "heat", one(19.5)],
      [{ ...both, mode: "cool" }, "cool", one(24)],
      [{ ...both, mode: "heatCool" }, "heatcool", pair(19, 24)],
      [{ ...both, mode: "eco" }, "eco", pair(12, 28)],
      [{ mode: "eco", ecoHeatCelsius: 12 }, "eco", one(12)],
      [{ mode: "eco", ecoHeatCelsius: 12, heatCelsius: 21 }, "eco", one(12)],
      [{ mode: "eco", heatCelsius: 21 }, "eco", one(21)],
      [{ ...both, mode: "off" }, "off", one(19)],
      [{ mode: "fanOnly", targetCelsius: 21 }, "fan-only", one(21)],
    ];
    for (const [state, thermostatMode, targets] of cases) {
      const always = { online: true, activeThermostatMode: "none", thermostatTemperatureAmbient: 20.5 };
      assert.deepEqual(shown(thermostat(state)), { ...always, thermostatMode, ...targets }, thermostatMode);
    }
    const single = thermostat({ mode: "heatCool", targetCelsius: 21, ...both }, {}, { dual: false });
    assert.equal(shown(single).thermostatTemperatureSetpoint, 21);
    assert.equal(
      shown(thermostat({ mode: "heat", targetCelsius: 20, action: "heating" })).activeThermostatMode,
      "heat",
    );
  });

  it("changes by at least one step when it is asked for a bit more or less", () => {
    const plannedFor = (one: CurrentThing, trait: GoogleTrait, name: string, params: object) => {
      const made = trait.commands![name]!(params as Record<string, unknown>, one);
      assert.ok(!isCommandError(made));
      const plan = planCommand({ traits: one.traits, isOnline: true }, [], made);
      return isCommandError(plan) ? plan : plan.steps[0].set;
    };
    const heater = thermostat({ mode: "heat", targetCelsius: 20 }, {}, { stepCelsius: 1 });
    const warmer = (thermostatTemperatureRelativeWeight: number) =>
      plannedFor(heater, temperatureSetting, "TemperatureRelative", { thermostatTemperatureRelativeWeight });
    assert.deepEqual(
      [-4, -1, 0, 1, 4].map((weight) => (warmer(weight) as { targetCelsius: number }).targetCelsius),
      [18, 19, 20, 21, 22],
    );
    const threeSpeeds = { state: { mode: null, percent: 33 }, capabilities: { modes: null, percentStep: 100 / 3 } };
    const faster = (fanSpeedRelativeWeight: number) =>
      plannedFor(thing("fan", { fan: threeSpeeds }), fanSpeed, "SetFanSpeedRelative", { fanSpeedRelativeWeight });
    assert.deepEqual([faster(1), faster(-1)], [{ percent: 66.67 }, { percent: 0 }]);
  });

  it("is offline when it is stale, gone or not available, and when a value that Google needs is unknown", () => {
    const known = { mode: "heat", targetCelsius: 20 } as const;
    assert.equal(shown(thermostat(known)).online, true);
    const offline = { online: false };
    const outdated = (one: CurrentThing): CurrentThing => ({
      ...one,
      traits: { ...one.traits, temperature: { ...one.traits.temperature!, available: false } },
    });
    for (const one of [
      thermostat(known, { isStale: true }),
      thermostat(known, { goneMs: 7 }),
      thermostat({ mode: "heat" }),
      thermostat({ mode: null, targetCelsius: 20 }),
      outdated(thermostat(known)),
      thing("light", { onOff: { state: { on: true }, available: false } }),
      thing("light", { onOff: { state: { on: null } } }),
      thing("alarm", { smoke: { state: cleared, available: false } }),
    ]) {
      assert.deepEqual(shown(one), offline);
    }
    const dark = thing("light", { onOff: { state: { on: false } }, brightness: { state: { percent: null } } });
    assert.deepEqual(shown(dark), { online: true, on: false });
  });

  it("shows an alarm that it does not know, or that does not answer, as unknown and never as harmless", () => {
    const sensors = (state: object, available = true) =>
      shown(
        thing("alarm", { smoke: { state: { ...cleared, ...state }, available }, carbonMonoxide: { state: cleared } }),
      ).currentSensorStateData as { currentSensorState: string }[];
    const words = (state: object, available?: boolean) =>
      sensors(state, available).map(({ currentSensorState }) => currentSensorState);
    const clear = "no carbon monoxide detected";
    assert.deepEqual(words({}), ["no smoke detected", clear]);
    assert.deepEqual(words({ state: "warning" }), ["high", clear]);
    assert.deepEqual(words({ state: "alarm" }), ["smoke detected", clear]);
    assert.deepEqual(words({ state: "unknown" }), ["unknown", clear]);
    assert.deepEqual(words({ state: null }), ["unknown", clear]);
    assert.deepEqual(words({}, false), ["unknown", clear]);
  });

  it("is offline while the alarm says that it is broken, and tells its danger", () => {
    const broken = (state: object, more: object = {}) =>
      shown(thing("alarm", { smoke: { state: { ...cleared, fault: true, ...state }, available: false }, ...more }));
    const battery = { battery: { state: { state: "ok", percent: null } } };
    assert.deepEqual([broken({}), broken({}, battery)], [{ online: false }, { online: false }]);
    const danger = [{ name: "SmokeLevel", currentSensorState: "smoke detected" }];
    assert.deepEqual(broken({ state: "alarm" }), { online: true, currentSensorStateData: danger });
    assert.deepEqual(broken({ state: "unknown" }), { online: false });
  });

  it("tells of smoke while its thermometer has no value", () => {
    const smoke = { state: { ...cleared, state: "alarm" } };
    const alarm = (state: object, temperature: object) =>
      shown(thing("alarm", { smoke: { ...smoke, ...state }, temperature }));
    const data = [{ name: "SmokeLevel", currentSensorState: "smoke detected" }];
    const danger = { online: true, currentSensorStateData: data };
    const warm = { state: { celsius: 48 }, capabilities: { unit: "C" } };
    assert.deepEqual(alarm({}, warm), { ...danger, temperatureAmbientCelsius: 48 });
    assert.deepEqual(alarm({}, { ...warm, available: false }), danger);
    assert.deepEqual(alarm({}, { ...warm, state: { celsius: null } }), danger);
    assert.deepEqual(alarm({ available: false }, warm), { online: false });
  });

  it("of a thermostat's fan is a device of its own", () => {
    const fanTimer = { state: { active: false }, capabilities: { supported: true } };
    const both = thermostat({ mode: "heat", targetCelsius: 20 });
    const withFan = { ...both, traits: { ...both.traits, fanTimer: { available: true, ...fanTimer } } } as CurrentThing;
    const devices = googleDevices(withFan);
    assert.deepEqual(
      devices.map(({ id, type }) => [id, type]),
      [
        ["t_1", "THERMOSTAT"],
        ["t_1:fan", "SWITCH"],
      ],
    );
    assert.deepEqual(
      devices.map(({ id }) => thingIdOf(id)),
      ["t_1", "t_1"],
    );
    assert.deepEqual(statesOf(devices[1]!), { online: true, on: false });
    const { name, traits } = syncEntry(devices[1]!) as { name: object; traits: string[] };
    assert.deepEqual([name, traits], [{ name: "Hall fan" }, ["action.devices.traits.OnOff"]]);
    const start = devices[1]!.traits[0]!.commands!.OnOff!({ on: true }, withFan);
    assert.deepEqual(start, { trait: "fanTimer", command: "start", params: {} });
  });

  it("has the trait that Google requires of its type, or another type", () => {
    const typesOf = (one: CurrentThing) => googleDevices(one).map(({ type, traits }) => [type, ...traits.map(named)]);
    const named = ({ name }: { readonly name: string }) => name;
    const temperature = { available: true, state: { celsius: 21 }, capabilities: { unit: "C" } };
    const humidity = { available: true, state: { percent: 40 }, capabilities: {} };
    const fan = { state: { mode: null, percent: null }, capabilities: { modes: null, percentStep: null } };
    assert.deepEqual(typesOf(thing("fan", { onOff: { state: { on: true } }, fan })), [["SWITCH", "OnOff"]]);
    const dimmer = thing("light", { brightness: { available: true, state: { percent: 30 }, capabilities: {} } });
    assert.deepEqual(typesOf(dimmer), [], "its brightness does not say whether it is on");
    const thermometer = thing("sensor", { temperature, humidity });
    assert.deepEqual(typesOf(thermometer), [["THERMOSTAT", "TemperatureSetting"]]);
    assert.deepEqual(statesOf(googleDevices(thermometer)[0]!), {
      online: true,
      thermostatMode: "off",
      activeThermostatMode: "none",
      thermostatTemperatureAmbient: 21,
      thermostatTemperatureSetpoint: 21,
      thermostatHumidityAmbient: 40,
    });
    assert.deepEqual(typesOf(thing("sensor", { humidity })), []);
  });

  it("of a thermostat's fan is on in every mode but those in which it rests", () => {
    const heater = thermostat({ mode: "heat", targetCelsius: 20 });
    const capabilities = { modes: ["auto", "on", "high"], percentStep: null };
    const isOn = (mode: string | null) => {
      const fan = { available: true, state: { mode, percent: null }, capabilities };
      const device = googleDevices({ ...heater, traits: { ...heater.traits, fan } } as CurrentThing)[1]!;
      return statesOf(device).on;
    };
    assert.deepEqual(["auto", "off", "on", "high", null].map(isOn), [false, false, true, true, undefined]);
  });

  it("has the speed of a fan, and that of a thermostat's fan", () => {
    const fan = { state: { mode: null, percent: 40 }, capabilities: { modes: null, percentStep: 10 } };
    const traitsOf = (one: CurrentThing) =>
      googleDevices(one).map(({ type, traits }) => [type, ...traits.map(({ name }) => name)]);
    assert.deepEqual(traitsOf(thing("fan", { onOff: { state: { on: true } }, fan })), [["FAN", "OnOff", "FanSpeed"]]);
    const both = thermostat({ mode: "heat", targetCelsius: 20 });
    const withFan = { ...both, traits: { ...both.traits, fan: { available: true, ...fan } } } as CurrentThing;
    const expected = [
      ["THERMOSTAT", "TemperatureSetting"],
      ["FAN", "OnOff", "FanSpeed"],
    ];
    assert.deepEqual(traitsOf(withFan), expected);
    const part = googleDevices(withFan)[1]!;
    assert.deepEqual(statesOf(part), { online: true, on: true, currentFanSpeedPercent: 40 });
    const commands = Object.assign({}, ...part.traits.map((trait) => trait.commands));
    const off = { trait: "fan", command: "setPercent", params: { percent: 0 } };
    assert.deepEqual(commands.OnOff({ on: false }, withFan), off);
    const slower = { trait: "fan", command: "adjustPercent", params: { deltaPercent: -20 } };
    assert.deepEqual(commands.SetFanSpeedRelative({ fanSpeedRelativeWeight: -2 }, withFan), slower);
  });

  it("of an own device can be commanded only where the map of its type allows it", () => {
    const lamp = { onOff: { state: { on: true } }, brightness: { state: { percent: 40 } } };
    const fan = {
      fan: { state: { mode: "on", percent: 40 }, capabilities: { modes: ["auto", "on"], percentStep: 1 } },
    };
    const heater = (settable: CurrentThing["settable"]) => {
      const one = thermostat({ mode: "heat", targetCelsius: 20 }, { settable: settable! });
      const traits = { ...one.traits, fan: { available: true, ...fan.fan } };
      return googleDevices({ ...one, traits } as CurrentThing).map((device) => {
        const { traits: names, attributes } = syncEntry(device) as { traits: string[]; attributes: object };
        return [
          ...names.map((name) => name.slice(22)),
          ...Object.entries(attributes).flatMap(([key, value]) => (/Only/.test(key) ? `${key} ${value}` : [])),
        ];
      });
    };
    assert.deepEqual(heater({}), [
      ["TemperatureSetting", "commandOnlyTemperatureSetting false", "queryOnlyTemperatureSetting true"],
      ["OnOff", "commandOnlyOnOff false", "queryOnlyOnOff true"],
    ]);
    assert.deepEqual(heater({ thermostat: ["targetCelsius"], fan: ["mode", "percent"] }), [
      ["TemperatureSetting"],
      ["OnOff", "FanSpeed"],
    ]);
    assert.deepEqual(heater({ thermostat: ["mode"], fan: ["percent"] }), [
      ["TemperatureSetting"],
      ["OnOff", "FanSpeed"],
    ]);
    const fixed = googleDevices(thing("light", lamp, { settable: { onOff: ["on"] } }));
    assert.deepEqual(
      fixed.map(({ traits }) => traits.map(({ name }) => name)),
      [["OnOff"]],
    );
  });

  it("is never one that came from Google, and a home is none", () => {
    const light = { onOff: { state: { on: true } } };
    assert.equal(googleDevices(thing("light", light)).length, 1);
    assert.deepEqual(googleDevices(thing("light", light, { isGoogles: true })), []);
    assert.deepEqual(googleDevices(thing("home", { presence: { state: { state: "home" } } })), []);
    const fromGoogle = protocols.map(({ protocol }) => {
      const configured = { name: "any", protocol };
      return [undefined, null, "hue", "nest"].map((integration) =>
        isGoogles(configured, integration === undefined ? {} : { integration }),
      );
    });
    assert.deepEqual(fromGoogle, [
      [false, false, false, false],
      [true, false, false, true],
      [true, true, true, true],
    ]);
    assert.equal(isGoogles(undefined, {}), true, "an ecosystem that is not configured");
  });

  it("answers with Google's own codes", () => {
    assert.equal(googleErrorOf({ code: "notInMode", mode: "eco" }), "inEcoMode");
    assert.equal(googleErrorOf({ code: "notInMode", mode: "heat" }), "inHeatOrCool");
    assert.equal(googleErrorOf({ code: "notHome" }), "inAwayMode");
    assert.equal(googleErrorOf({ code: "stale" }), "offline");
    assert.equal(outcomeError({ state: "contradicted", error: null }), "hardError");
    assert.equal(outcomeError({ state: "expired", error: null }), "transientError");
  });
});
