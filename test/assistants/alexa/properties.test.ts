import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { endpointsOf } from "../../../src/assistants/alexa/endpoint.ts";
import { stateReport } from "../../../src/assistants/alexa/messages.ts";
import { type Property, propertiesOf } from "../../../src/assistants/alexa/properties.ts";
import type { CurrentThing } from "../../../src/assistants/current-thing.ts";
import type { Thermostat } from "../../../src/home/traits/thermostat.ts";
import { checked } from "./checked.ts";
import {
  brightness,
  carbonMonoxide,
  changedMs,
  fan,
  fanTimer,
  onOff,
  smoke,
  temperature,
  thermostat,
  thing,
} from "./things.ts";

const nowMs = changedMs + 5_000;

/** The properties of each endpoint of a thing, judged. */
function propertiesOfEach(shown: CurrentThing): readonly (readonly Property[])[] {
  return endpointsOf(shown, "contact").map((endpoint) => {
    const properties = propertiesOf(endpoint, nowMs);
    const { endpointId } = endpoint;
    checked(stateReport({ messageId: "m", correlationToken: "c", endpointId }, properties));
    return properties.map(({ property }) => property);
  });
}

/** `name=value` of each property of the first endpoint. */
function shownBy(shown: CurrentThing): readonly string[] {
  return (propertiesOfEach(shown)[0] ?? []).map(({ name, value }) => `${name}=${textOf(value)}`);
}

function textOf(value: unknown): string {
  return String(typeof value === "object" && value !== null ? (value as { readonly value: unknown }).value : value);
}

describe("the properties of a thermostat", () => {
  const cases: readonly (readonly [string, Thermostat, readonly string[]])[] = [
    ["heat", thermostat(), ["thermostatMode=HEAT", "targetSetpoint=20.5"]],
    ["heat without a told target", thermostat({ targetCelsius: null }), ["thermostatMode=HEAT", "targetSetpoint=20.5"]],
    ["heat of a thermostat that has only two targets", thermostat({}, { single: false }), ["thermostatMode=HEAT"]],
    ["cool", thermostat({ mode: "cool", targetCelsius: 25 }), ["thermostatMode=COOL", "targetSetpoint=25"]],
    [
      "two targets",
      thermostat({ mode: "heatCool", targetCelsius: null }),
      ["thermostatMode=AUTO", "lowerSetpoint=20.5", "upperSetpoint=25"],
    ],
    [
      "two targets that it does not announce, and that discovery has not declared",
      thermostat({ mode: "heatCool", targetCelsius: null }, { dual: null, modes: null }),
      ["thermostatMode=AUTO"],
    ],
    ["half a pair", thermostat({ mode: "heatCool", coolCelsius: null }), ["thermostatMode=AUTO"]],
    [
      "one target for both",
      thermostat({ mode: "heatCool", targetCelsius: 22 }, { dual: false }),
      ["thermostatMode=AUTO", "targetSetpoint=22"],
    ],
    ["auto", thermostat({ mode: "auto", targetCelsius: 22 }), ["thermostatMode=AUTO", "targetSetpoint=22"]],
    ["eco", thermostat({ mode: "eco" }), ["thermostatMode=ECO", "lowerSetpoint=15", "upperSetpoint=28"]],
    [
      "eco without cooling",
      thermostat({ mode: "eco" }, { modes: ["off", "heat", "eco"] }),
      ["thermostatMode=ECO", "targetSetpoint=15"],
    ],
    [
      "eco without heating",
      thermostat({ mode: "eco" }, { modes: ["off", "cool", "eco"] }),
      ["thermostatMode=ECO", "targetSetpoint=28"],
    ],
    ["eco alone", thermostat({ mode: "eco" }, { modes: ["off", "eco"] }), ["thermostatMode=ECO"]],
    ["off", thermostat({ mode: "off" }), ["thermostatMode=OFF"]],
    ["dry", thermostat({ mode: "dry" }), []],
    ["fan only", thermostat({ mode: "fanOnly" }), []],
    ["a mode that was not told", thermostat({ mode: null }), []],
    ["a target that no room has", thermostat({ targetCelsius: 101, heatCelsius: 101 }), ["thermostatMode=HEAT"]],
  ];
  for (const [name, trait, expected] of cases) {
    it(`are those of its mode: ${name}`, () => {
      assert.deepEqual(shownBy(thing("thermostat", { thermostat: trait })), [...expected, "connectivity=OK"]);
    });
  }

  it("have the time at which the target or the mode changed", () => {
    const times = { "thermostat.mode": changedMs + 2_000, "thermostat.targetCelsius": changedMs + 1_000 };
    const shown = thing("thermostat", { thermostat: thermostat(), ...temperature(21.4) }, {}, times);
    const byName = new Map(propertiesOfEach(shown)[0]!.map((property) => [property.name, property]));
    assert.equal(byName.get("targetSetpoint")?.timeOfSample, "2026-11-15T21:00:02.123Z");
    assert.equal(byName.get("temperature")?.timeOfSample, "2026-11-15T21:00:00.123Z");
    assert.equal(byName.get("connectivity")?.timeOfSample, "2026-11-15T21:00:05.123Z");
  });

  it("say how old a measured value may be", () => {
    const shown = thing("thermostat", { thermostat: thermostat(), ...temperature(21.4) });
    const uncertainties = propertiesOfEach(shown)[0]!.map((one) => [one.name, one.uncertaintyInMilliseconds]);
    assert.deepEqual(Object.fromEntries(uncertainties), {
      thermostatMode: 0,
      targetSetpoint: 0,
      temperature: 60_000,
      connectivity: 0,
    });
  });
});

describe("the properties of other things", () => {
  const cases: readonly (readonly [string, CurrentThing, readonly string[]])[] = [
    ["a lamp", thing("light", { ...onOff(true), ...brightness(40.4) }), ["powerState=ON", "brightness=40"]],
    ["a lamp whose state is not told", thing("light", { ...onOff(null), ...brightness(null) }), []],
    ["a switch", thing("switch", onOff(false)), ["powerState=OFF"]],
    ["a sensor", thing("sensor", temperature(-3.25)), ["temperature=-3.25"]],
    ["a fan with power", thing("fan", { ...onOff(false), ...fan("low", null, ["low", "high"]) }), ["powerState=OFF"]],
    ["a fan with both", thing("fan", { ...onOff(true), ...fan("low", 30) }), ["powerState=ON", "rangeValue=30"]],
    [
      "a fan whose mode can't be set",
      thing("fan", fan("on", 0), { settable: { fan: ["percent"] } }),
      ["powerState=OFF", "rangeValue=0"],
    ],
    [
      "an own thermostat with two targets that can be set",
      thing(
        "thermostat",
        { thermostat: thermostat({ mode: "heatCool" }, { dual: null }) },
        { settable: { thermostat: ["mode", "heatCelsius", "coolCelsius"] } },
      ),
      ["thermostatMode=AUTO", "lowerSetpoint=20.5", "upperSetpoint=25"],
    ],
    [
      "a thermostat whose targets can't be set",
      thing("thermostat", { thermostat: thermostat() }, { settable: { thermostat: ["mode"] } }),
      ["thermostatMode=HEAT"],
    ],
    ["a fan with modes", thing("fan", fan("on")), ["powerState=ON"]],
    ["a fan in auto", thing("fan", fan("auto")), ["powerState=OFF"]],
    ["a fan with another mode", thing("fan", fan("high", null, ["off", "on", "high"])), ["powerState=ON"]],
    ["a fan with a speed", thing("fan", fan(null, 30, null)), ["powerState=ON", "rangeValue=30"]],
    ["a fan at rest", thing("fan", fan(null, 0, null)), ["powerState=OFF", "rangeValue=0"]],
    ["a fan that tells nothing", thing("fan", fan(null)), []],
  ];
  for (const [name, shown, expected] of cases) {
    it(`show what is known: ${name}`, () => assert.deepEqual(shownBy(shown), [...expected, "connectivity=OK"]));
  }

  it("show the timer of a thermostat's fan as a toggle, and the fan itself as an endpoint", () => {
    const shown = thing("thermostat", { thermostat: thermostat({ mode: "off" }), ...fanTimer(true), ...fan("on") });
    const [whole, part] = propertiesOfEach(shown);
    const toggle = whole!.find(({ name }) => name === "toggleState");
    assert.deepEqual([toggle?.instance, toggle?.value], ["Fan.Timer", "ON"]);
    assert.deepEqual(
      part!.map(({ name, value }) => `${name}=${textOf(value)}`),
      ["powerState=ON", "connectivity=OK"],
    );
  });
});

describe("an endpoint that can't be reached", () => {
  const warm = { thermostat: thermostat({ mode: "off" }), ...temperature(21) };

  it("shows its last known values, and since when they are uncertain", () => {
    const times = { "temperature.celsius": nowMs - 4_000 };
    const [properties] = propertiesOfEach(thing("thermostat", warm, { isStale: true }, times));
    assert.deepEqual(
      properties!.map((one) => `${one.name}=${textOf(one.value)} ${one.uncertaintyInMilliseconds}`),
      ["thermostatMode=OFF 5000", "temperature=21 4000", "connectivity=UNREACHABLE 0"],
    );
  });

  it("is unreachable when it is gone, or when no trait is available", () => {
    const unreachable = ["thermostatMode=OFF", "temperature=21", "connectivity=UNREACHABLE"];
    assert.deepEqual(shownBy(thing("thermostat", warm, { goneMs: nowMs })), unreachable);
    const unavailable = { thermostat: thermostat({ mode: "off" }, {}, false), ...temperature(21, false) };
    assert.deepEqual(shownBy(thing("thermostat", unavailable)), unreachable);
  });

  it("leaves out only what is not available while the rest is", () => {
    const partly = { ...warm, ...temperature(21, false) };
    assert.deepEqual(shownBy(thing("thermostat", partly)), ["thermostatMode=OFF", "connectivity=OK"]);
  });

  it("counts as reachable when the ecosystem does not tell", () => {
    assert.deepEqual(shownBy(thing("switch", onOff(true, false, null))), ["powerState=ON", "connectivity=OK"]);
  });
});

describe("an alarm as a contact sensor", () => {
  const unknown = ["connectivity=UNREACHABLE"];
  const clear = ["detectionState=NOT_DETECTED", "connectivity=OK"];
  const detected = ["detectionState=DETECTED", "connectivity=OK"];
  const broken = (state: "clear" | "alarm") => {
    const told = smoke(state, false).smoke!;
    return { smoke: { ...told, state: { ...told.state, fault: true } } };
  };
  const cases: readonly (readonly [string, CurrentThing, readonly string[]])[] = [
    ["clear", thing("alarm", { ...smoke("clear"), ...carbonMonoxide("clear") }), clear],
    ["smoke", thing("alarm", { ...smoke("alarm"), ...carbonMonoxide("clear") }), detected],
    ["carbon monoxide", thing("alarm", { ...smoke("clear"), ...carbonMonoxide("alarm") }), detected],
    ["a warning", thing("alarm", smoke("warning")), detected],
    ["an unknown word", thing("alarm", smoke("unknown")), unknown],
    ["one that was not told", thing("alarm", carbonMonoxide(null)), unknown],
    ["half unknown", thing("alarm", { ...smoke("clear"), ...carbonMonoxide("unknown") }), unknown],
    ["half unavailable", thing("alarm", { ...smoke("clear"), ...carbonMonoxide("clear", false) }), unknown],
    ["half unavailable in danger", thing("alarm", { ...smoke("alarm"), ...carbonMonoxide("clear", false) }), detected],
    ["broken", thing("alarm", { ...broken("clear"), ...carbonMonoxide("clear") }), unknown],
    ["broken in danger", thing("alarm", { ...broken("alarm"), ...carbonMonoxide("clear") }), detected],
    ["the last known danger", thing("alarm", smoke("alarm", false)), unknown],
  ];
  for (const [name, shown, expected] of cases) {
    it(`is clear only when all is known to be clear: ${name}`, () => assert.deepEqual(shownBy(shown), expected));
  }

  it("shows no last known state while nothing confirms it", () => {
    assert.deepEqual(shownBy(thing("alarm", smoke("clear"), { isStale: true })), unknown);
    assert.deepEqual(shownBy(thing("alarm", smoke("unknown"), { isStale: true })), unknown);
  });

  it("shows danger also while nothing confirms it: Alexa may not have been told before", () => {
    const unconfirmed = ["detectionState=DETECTED", "connectivity=UNREACHABLE"];
    assert.deepEqual(shownBy(thing("alarm", smoke("alarm"), { isStale: true })), unconfirmed);
    assert.deepEqual(shownBy(thing("alarm", carbonMonoxide("warning"), { goneMs: nowMs })), unconfirmed);
  });
});
