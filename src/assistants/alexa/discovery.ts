import type { ThingKind } from "../../home/thing.ts";
import type { ChosenDevice } from "../assistant.ts";
import type { CurrentThing } from "../current-thing.ts";
import { type AlarmOption, type Endpoint, endpointsOf } from "./endpoint.ts";
import type { AlexaInterface } from "./interfaces/interface.ts";

/** Alexa accepts no more endpoints for one user. */
export const mostEndpoints = 300;

export interface DiscoveredHome {
  readonly endpoints: readonly Endpoint[];
  /** Endpoints beyond the limit. */
  readonly omitted: readonly Endpoint[];
}

/**
 * The endpoints of a home. Beyond the limit alarms come first, then thermostats, fans and lights, so that the same
 * endpoints are chosen whenever the same things are there.
 */
export function discoveredHome(things: readonly CurrentThing[], alarms: AlarmOption): DiscoveredHome {
  const ranked = things
    .flatMap((thing) => endpointsOf(thing, alarms))
    .toSorted((a, b) => rankOf(a) - rankOf(b) || (a.endpointId < b.endpointId ? -1 : 1));
  return { endpoints: ranked.slice(0, mostEndpoints), omitted: ranked.slice(mostEndpoints) };
}

const ranks: readonly ThingKind[] = ["alarm", "thermostat", "fan", "light"];

/** Endpoints of a lower rank are offered first. */
export function rankOf({ thing, isFanPart }: Endpoint): number {
  const rank = ranks.indexOf(isFanPart ? "fan" : thing.kind);
  return rank === -1 ? ranks.length : rank;
}

export function chosenDevice(endpoint: Endpoint): ChosenDevice {
  return { id: endpoint.endpointId, thingId: endpoint.thing.thingId, name: friendlyNameOf(endpoint) };
}

/** An endpoint as discovery and AddOrUpdateReport describe it. */
export function endpointBody(endpoint: Endpoint): object {
  const { endpointId, thing, interfaces } = endpoint;
  const maker = thing.maker?.trim();
  const model = thing.model?.trim();
  return {
    endpointId,
    manufacturerName: cut(maker || "Breezeway", 128),
    friendlyName: friendlyNameOf(endpoint),
    description: `${kindTextOf(endpoint)} connected through Breezeway`,
    displayCategories: categoriesOf(endpoint),
    cookie: {},
    ...((maker || model) && {
      additionalAttributes: {
        ...(maker && { manufacturer: cut(maker, 256) }),
        ...(model && { model: cut(model, 256) }),
      },
    }),
    capabilities: [
      capability("Alexa"),
      ...interfaces.map((one) => {
        const { names, details } = one.offer(thing)!;
        const isRetrievable = !one.mayLackValues;
        return {
          ...capability(one.namespace, names, isRetrievable),
          ...(one.instance && { instance: one.instance }),
          ...details,
        };
      }),
      capability("Alexa.EndpointHealth", ["connectivity"]),
    ],
  };
}

/** What people call the endpoint. */
export function friendlyNameOf(endpoint: Endpoint): string {
  const { thing, isFanPart } = endpoint;
  const name = thing.name?.trim() || thing.room?.trim() || kindTextOf(endpoint);
  return isFanPart ? `${cut(name, 124)} fan` : cut(name, 128);
}

function kindTextOf({ thing, isFanPart }: Endpoint): string {
  return isFanPart ? kindTexts.fan : kindTexts[thing.kind];
}

function capability(
  name: AlexaInterface["namespace"] | "Alexa",
  properties: readonly string[] = [],
  retrievable = true,
): object {
  const supported = properties.map((property) => ({ name: property }));
  return {
    type: "AlexaInterface",
    interface: name,
    version: "3",
    ...(supported.length > 0 && { properties: { supported, proactivelyReported: true, retrievable } }),
  };
}

const kindTexts: Readonly<Record<ThingKind, string>> = {
  thermostat: "Thermostat",
  alarm: "Alarm",
  fan: "Fan",
  light: "Light",
  switch: "Switch",
  sensor: "Sensor",
  home: "Home",
  other: "Device",
};

const categories: Readonly<Partial<Record<ThingKind, string>>> = {
  alarm: "CONTACT_SENSOR",
  fan: "FAN",
  light: "LIGHT",
  switch: "SWITCH",
};

/** What the Alexa app shows. A thermostat also answers questions about the temperature. */
function categoriesOf({ thing, isFanPart, interfaces }: Endpoint): readonly string[] {
  if (isFanPart) return ["FAN"];
  const has = (namespace: string) => interfaces.some((one) => one.namespace === namespace);
  const measures = has("Alexa.TemperatureSensor") ? ["TEMPERATURE_SENSOR"] : [];
  if (has("Alexa.ThermostatController")) return ["THERMOSTAT", ...measures];
  const category = categories[thing.kind];
  if (category) return [category];
  return measures.length > 0 ? measures : ["OTHER"];
}

/** Cuts a text to a number of UTF-16 units, not inside a surrogate pair. */
function cut(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
}
