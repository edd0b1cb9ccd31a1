import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InstanceHome, readConfig } from "../../../src/ecosystems/home-assistant/instance-home.ts";
import { readRegistries } from "../../../src/ecosystems/home-assistant/registries.ts";
import { serviceCallFor } from "../../../src/ecosystems/home-assistant/service-call.ts";
import { planCommand, readCommand } from "../../../src/home/command.ts";
import { type CommandError, isCommandError } from "../../../src/home/command-errors.ts";
import { reportedThings } from "../../../src/home/reported-things.ts";
import { finished } from "../immediate-turns.ts";
import { expectedOffers, type Offer } from "./expected-offers.ts";
import { type IntegrationDevice, integrationDevices } from "./integration-devices.ts";

/** The commands that each thing gets, if it has the trait. */
const commands: Readonly<Record<string, readonly [trait: string, command: string, params: object]>> = {
  "mode off": ["thermostat", "setMode", { mode: "off" }],
  "mode heat": ["thermostat", "setMode", { mode: "heat" }],
  "target 22": ["thermostat", "setTarget", { celsius: 22 }],
  "up by 1": ["thermostat", "adjustTarget", { deltaCelsius: 1 }],
  "targets 21 and 25": ["thermostat", "setTarget", { heatCelsius: 21, coolCelsius: 25 }],
  "preset away": ["thermostat", "setPreset", { preset: "away" }],
  "turn on": ["onOff", "set", { on: true }],
  "turn off": ["onOff", "set", { on: false }],
  "fan on": ["fan", "setMode", { mode: "on" }],
  "fan auto": ["fan", "setMode", { mode: "auto" }],
  "speed 50": ["fan", "setPercent", { percent: 50 }],
  "brightness 40": ["brightness", "set", { percent: 40 }],
};

/** The home of an instance that has one device. */
function homeWith({ version = "2026.8.1", entities }: IntegrationDevice): InstanceHome {
  const home = new InstanceHome();
  const registered = Object.entries(entities).map(([entity_id, { originalName = null, category = null }]) => {
    return { id: entity_id, entity_id, device_id: "d", original_name: originalName, entity_category: category };
  });
  const registries = readRegistries(registered, [{ id: "d", name: "Device" }], [])!;
  const config = readConfig({ unit_system: { temperature: "°C" }, state: "RUNNING", version })!;
  const states = Object.entries(entities).map(([entity_id, { attributes }]) => ({ entity_id, attributes }));
  home.load(registries, config, states);
  const added = Object.entries(entities).map(([id, { state, attributes }]) => [id, { s: state, a: attributes }]);
  finished(home.list({ a: Object.fromEntries(added) }));
  return home;
}

function errorText(error: CommandError): string {
  if (error.code === "notSupported") return `notSupported: ${error.reason}`;
  return error.code === "notInMode" ? `notInMode ${error.mode}` : error.code;
}

type Capabilities = Readonly<Record<string, unknown>>;

/** What the capabilities of a trait say, in one line. */
function summaryOf(trait: string, capabilities: Capabilities): string {
  const list = (name: string) => (capabilities[name] as readonly string[] | null)?.join(" ") ?? `no ${name}`;
  const { single, dual, minHeatCelsius, maxCoolCelsius, percentStep, readOnly } = capabilities;
  if (trait === "thermostat") {
    const targets = [...(single === true ? ["one target"] : []), ...(dual === true ? ["two targets"] : [])];
    const range = minHeatCelsius === null ? "no range" : `${minHeatCelsius} to ${maxCoolCelsius}`;
    return `thermostat: ${list("modes")}; ${list("presets")}; ${targets.join(", ") || "no target"}; ${range}`;
  }
  if (trait === "fan") {
    const speed = percentStep === null ? "no speed" : `steps of ${Math.round(Number(percentStep))} %`;
    return `fan: ${list("modes")}; ${speed}`;
  }
  return readOnly === true ? `${trait}: read-only` : trait;
}

/** What the device offers: each thing by its kind, and the service call or the error of each command. */
function offersOf(device: IntegrationDevice): Readonly<Record<string, Offer>> {
  const home = homeWith(device);
  const offers: Record<string, Offer> = {};
  for (const { key, thing } of reportedThings(home.home()!).read) {
    if (thing.kind === "home") continue;
    const group = home.groupOf(key)!;
    const outcomeOf = ([trait, command, params]: readonly [string, string, object]): string => {
      const read = readCommand(trait, command, params);
      if (isCommandError(read)) return errorText(read);
      const plan = planCommand(thing, [], read, { endsEcoFirst: false });
      if (isCommandError(plan)) return errorText(plan);
      assert.equal(plan.steps.length, 1);
      const call = serviceCallFor(plan.steps[0], group, home);
      if ("refusal" in call) return call.refusal;
      const { domain, service, data } = call;
      return [`${domain}.${service}`, ...Object.entries(data).map(([name, value]) => `${name}=${value}`)].join(" ");
    };
    const sent = Object.entries(commands).filter(([, [trait]]) => trait in thing.traits);
    offers[thing.kind] = {
      traits: Object.entries(thing.traits).map(([trait, { capabilities }]) => summaryOf(trait, capabilities)),
      commands: Object.fromEntries(sent.map(([name, command]) => [name, outcomeOf(command)])),
    };
  }
  return offers;
}

describe("settled: supported_features decide, for devices of real integrations", () => {
  for (const [name, device] of integrationDevices) {
    it(name, () => assert.deepEqual(offersOf(device), expectedOffers[name]));
  }
});
