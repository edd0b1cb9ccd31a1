import type { AlexaMessage, Property } from "./alexa-message.ts";
import type { KnownEndpoint } from "./customer.ts";
import { type Capability, capabilitiesOf } from "./wishes.ts";

/** The kind of an endpoint, as the Alexa app names it. */
export function kindWord({ displayCategories: [category = "OTHER"] }: KnownEndpoint): string {
  return kinds[category] ?? "Device";
}

const kinds: Readonly<Record<string, string>> = {
  THERMOSTAT: "Thermostat",
  TEMPERATURE_SENSOR: "Temperature sensor",
  CONTACT_SENSOR: "Contact sensor",
  FAN: "Fan",
  LIGHT: "Light",
  SWITCH: "Switch",
};

/** What a person can ask of an endpoint. */
export function abilities(endpoint: KnownEndpoint): readonly string[] {
  return capabilitiesOf(endpoint).flatMap(abilityOf);
}

function abilityOf({ interface: called, capabilityResources }: Capability): readonly string[] {
  switch (called) {
    case "Alexa.PowerController":
      return ["on and off"];
    case "Alexa.ToggleController":
      return [`${capabilityResources?.friendlyNames[0]?.value.text ?? "toggle"} on and off`];
    case "Alexa.BrightnessController":
      return ["brightness"];
    case "Alexa.ThermostatController":
      return ["target temperature", "mode"];
    case "Alexa.TemperatureSensor":
      return ["tells the temperature"];
    case "Alexa.ContactSensor":
      return ["tells open or closed"];
    default:
      return [];
  }
}

export type EndpointState = ReadonlyMap<string, unknown>;

export function isReachable(state: EndpointState): boolean {
  return (state.get("Alexa.EndpointHealth.connectivity") as { value?: unknown } | undefined)?.value === "OK";
}

/** The state of an endpoint, without its reachability. */
export function stateWords(state: EndpointState): string {
  const isTemperature = ([name]: readonly [string, unknown]) => name === "Alexa.TemperatureSensor.temperature";
  const ordered = [...state].toSorted((a, b) => Number(isTemperature(b)) - Number(isTemperature(a)));
  const words = ordered.flatMap(([name, value]) => propertyWords(name, value));
  return words.join(", ") || "no value known";
}

function propertyWords(name: string, value: unknown): readonly string[] {
  switch (name) {
    case "Alexa.TemperatureSensor.temperature":
      return [degrees(value)];
    case "Alexa.ThermostatController.thermostatMode":
      return [`mode ${String(value).toLowerCase()}`];
    case "Alexa.ThermostatController.targetSetpoint":
      return [`target ${degrees(value)}`];
    case "Alexa.ThermostatController.lowerSetpoint":
      return [`from ${degrees(value)}`];
    case "Alexa.ThermostatController.upperSetpoint":
      return [`to ${degrees(value)}`];
    case "Alexa.PowerController.powerState":
      return [String(value).toLowerCase()];
    case "Alexa.ToggleController.toggleState":
      return [`fan ${String(value).toLowerCase()}`];
    case "Alexa.BrightnessController.brightness":
      return [`brightness ${value} %`];
    case "Alexa.ContactSensor.detectionState":
      return [value === "DETECTED" ? "open" : "closed"];
    default:
      return [];
  }
}

function degrees(value: unknown): string {
  const { value: number, scale } = value as { readonly value: number; readonly scale: string };
  return `${Math.round(number * 10) / 10} °${scale === "FAHRENHEIT" ? "F" : "C"}`;
}

/** What an event through the gateway tells. `nameOf` gives the name of an endpoint. */
export function reportWords(message: AlexaMessage, nameOf: (endpointId: string) => string): string {
  const { header, endpoint, payload } = message.event;
  const name = endpoint ? nameOf(endpoint.endpointId) : "";
  const listed = ((payload.endpoints ?? []) as readonly KnownEndpoint[]).map(
    (one) => one.friendlyName ?? nameOf(one.endpointId),
  );
  switch (header.name) {
    case "ChangeReport": {
      const { properties } = payload.change as { readonly properties: readonly Property[] };
      const all = [...properties, ...(message.context?.properties ?? [])];
      return `${name}: ${changeWords(properties)}${isReachable(stateOf(all)) ? "" : ", not reachable"}`;
    }
    case "AddOrUpdateReport":
      return `New or described anew: ${listed.join(", ")}`;
    case "DeleteReport":
      return `Removed: ${listed.join(", ")}`;
    case "Response":
      return `${name}: the command was carried out`;
    case "ErrorResponse":
      return `${name}: ${payload.message}`;
    default:
      return header.name;
  }
}

function changeWords(properties: readonly Property[]): string {
  const words = stateWords(stateOf(properties));
  return properties.some(({ name }) => name !== "connectivity") ? words : "reachability";
}

export function stateOf(properties: readonly Property[]): EndpointState {
  return new Map(properties.map(({ namespace, name, value }) => [`${namespace}.${name}`, value]));
}
