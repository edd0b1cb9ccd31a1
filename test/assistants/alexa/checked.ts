import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import type { AlexaEvent } from "../../../src/assistants/alexa/messages.ts";

/** A file that collects every message that the tests have checked, one on a line, for a check against Alexa's schema. */
const file = process.env.ALEXA_MESSAGES;

/** Asserts the shapes on which Alexa insists. They know nothing of the directive or of the thing. */
export function checked<Event extends AlexaEvent>(message: Event): Event {
  if (file) appendFileSync(file, `${JSON.stringify(message)}\n`);
  const { context, event } = message;
  onlyKeys(message, ["context", "event"]);
  onlyKeys(event, ["header", "endpoint", "payload"]);
  onlyKeys(event.header, ["namespace", "name", "payloadVersion", "messageId", "correlationToken"]);
  assert.equal(event.header.payloadVersion, "3");
  assert.match(event.header.messageId, /^[a-zA-Z0-9-]{1,127}$/);
  assert.notEqual(event.header.correlationToken, "");
  if (event.endpoint) assert.match(event.endpoint.endpointId, endpointId);
  const change = event.payload.change as { readonly properties: readonly Shown[] } | undefined;
  const properties = [...((context?.properties ?? []) as readonly Shown[]), ...(change?.properties ?? [])];
  for (const property of properties) checkProperty(property);
  const names = properties.map(({ namespace, name, instance }) => `${namespace} ${instance} ${name}`);
  assert.deepEqual(names, [...new Set(names)], "no property may stand in a message twice");
  if (event.header.name !== "DeleteReport") checkEndpoints((event.payload.endpoints ?? []) as readonly Described[]);
  return message;
}

const endpointId = /^[a-zA-Z0-9_\-=#;:?@&]{1,256}$/;

interface Shown {
  readonly namespace: string;
  readonly name: string;
  readonly instance?: string;
  readonly value: unknown;
  readonly timeOfSample: string;
  readonly uncertaintyInMilliseconds: number;
}

const values: Readonly<Record<string, (value: unknown) => boolean>> = {
  "Alexa.PowerController powerState": isOneOf("ON", "OFF"),
  "Alexa.ToggleController toggleState": isOneOf("ON", "OFF"),
  "Alexa.RangeController rangeValue": (value) => isWithin(value, 0, 100),
  "Alexa.BrightnessController brightness": (value) => Number.isInteger(value) && isWithin(value, 0, 100),
  "Alexa.TemperatureSensor temperature": (value) => isTemperature(value, Infinity),
  "Alexa.ThermostatController targetSetpoint": (value) => isTemperature(value, 100),
  "Alexa.ThermostatController lowerSetpoint": (value) => isTemperature(value, 100),
  "Alexa.ThermostatController upperSetpoint": (value) => isTemperature(value, 100),
  "Alexa.ThermostatController thermostatMode": isOneOf("AUTO", "COOL", "HEAT", "ECO", "OFF"),
  "Alexa.ContactSensor detectionState": isOneOf("DETECTED", "NOT_DETECTED"),
  "Alexa.EndpointHealth connectivity": (value) => isOneOf("OK", "UNREACHABLE")((value as Shown).value),
};

function checkProperty(property: Shown): void {
  onlyKeys(property, ["namespace", "name", "instance", "value", "timeOfSample", "uncertaintyInMilliseconds"]);
  const isRight = values[`${property.namespace} ${property.name}`];
  assert.ok(isRight?.(property.value), JSON.stringify(property));
  assert.match(property.timeOfSample, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/);
  assert.ok(property.uncertaintyInMilliseconds >= 0);
  const hasInstance = ["Alexa.ToggleController", "Alexa.RangeController"].includes(property.namespace);
  assert.equal(property.instance !== undefined, hasInstance);
}

interface Described {
  readonly [name: string]: unknown;
  readonly endpointId: string;
  readonly displayCategories: readonly string[];
  readonly capabilities: readonly { readonly interface: string; readonly instance?: string }[];
}

const categories = ["CONTACT_SENSOR", "FAN", "LIGHT", "OTHER", "SWITCH", "TEMPERATURE_SENSOR", "THERMOSTAT"];

function checkEndpoints(endpoints: readonly Described[]): void {
  assert.ok(endpoints.length <= 300);
  const ids = endpoints.map((endpoint) => endpoint.endpointId);
  assert.deepEqual(ids, [...new Set(ids)]);
  for (const endpoint of endpoints) {
    assert.match(endpoint.endpointId, endpointId);
    for (const name of ["manufacturerName", "friendlyName", "description"]) {
      const text = endpoint[name];
      assert.ok(typeof text === "string" && text.length >= 1 && text.length <= 128, `${name}: ${text}`);
    }
    assert.ok(endpoint.displayCategories.length > 0);
    for (const category of endpoint.displayCategories) assert.ok(categories.includes(category), category);
    const interfaces = endpoint.capabilities.map((one) => `${one.interface} ${one.instance}`);
    assert.deepEqual(interfaces, [...new Set(interfaces)]);
    for (const needed of ["Alexa", "Alexa.EndpointHealth"]) assert.ok(interfaces.includes(`${needed} undefined`));
  }
}

function onlyKeys(value: object, names: readonly string[]): void {
  for (const key of Object.keys(value)) assert.ok(names.includes(key), `unknown member ${key}`);
}

function isOneOf(...allowed: readonly string[]): (value: unknown) => boolean {
  return (value) => allowed.includes(value as string);
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return typeof value === "number" && value >= min && value <= max;
}

function isTemperature(value: unknown, limit: number): boolean {
  const { value: degrees, scale } = value as { readonly value: unknown; readonly scale: unknown };
  return scale === "CELSIUS" && isWithin(degrees, -limit, limit);
}
