import { traits as catalogue } from "../../home/catalogue.ts";
import type { Endpoint } from "./endpoint.ts";
import type { AlexaInterface, SourceField, Value } from "./interfaces/interface.ts";

/** A property of an endpoint, as messages hold it. */
export interface Property {
  readonly namespace: string;
  readonly instance?: string;
  readonly name: string;
  readonly value: unknown;
  readonly timeOfSample: string;
  readonly uncertaintyInMilliseconds: number;
}

/** A property with the time at which its value changed. */
export interface TimedProperty {
  readonly property: Property;
  readonly changedMs: number;
  /** The value is measured: it changes without anybody's doing. */
  readonly isMeasured: boolean;
}

/** Small changes of a measured value are stored once a minute, so that a value may be that old. */
const sampleAgeMs = 60_000;

/**
 * All properties of an endpoint that have a value. An unreachable endpoint shows its last known values; those of a stale
 * thing are uncertain since they changed. A reachable one leaves out the values of a trait that is not available.
 */
export function propertiesOf(endpoint: Endpoint, nowMs: number): readonly TimedProperty[] {
  const isReached = isReachable(endpoint);
  const shown = endpoint.interfaces.flatMap((one) => {
    const isShown = ({ value }: Value) => (isReached ? isAvailable(endpoint, one) : !one.mustBeKnown?.(value));
    return offeredValues(endpoint, one)
      .filter(isShown)
      .map((value) => timed(endpoint, one, value, nowMs));
  });
  return [...shown, connectivity(endpoint, isReached, nowMs)];
}

/** Whether all properties have a value that are declared retrievable: only then a state report may be sent. */
export function isComplete(endpoint: Endpoint, properties: readonly TimedProperty[]): boolean {
  return endpoint.interfaces.every(({ namespace, instance, mayLackValues, offer }) => {
    const isShown = (name: string) =>
      properties.some(
        ({ property }) => property.namespace === namespace && property.instance === instance && property.name === name,
      );
    return mayLackValues || (offer(endpoint.thing)?.names ?? []).every(isShown);
  });
}

/** Whether the endpoint can be asked and commanded. */
export function isReachable(endpoint: Endpoint): boolean {
  const { thing, interfaces } = endpoint;
  if (thing.isStale || thing.goneMs !== null) return false;
  if (interfaces.some((one) => one.mustBeKnown && one.values(thing).length === 0)) return false;
  return interfaces.some((one) => isAvailable(endpoint, one));
}

function offeredValues({ thing }: Endpoint, one: AlexaInterface): readonly Value[] {
  const { names = [] } = one.offer(thing) ?? {};
  return one.values(thing).filter(({ name }) => names.includes(name));
}

/** Null: the ecosystem did not tell whether it reaches the device, which counts as reachable. */
function isAvailable({ thing: { traits } }: Endpoint, one: AlexaInterface): boolean {
  return one.traits.some((trait) => traits[trait] !== undefined && traits[trait].available !== false);
}

function timed(
  { thing: { state, isStale } }: Endpoint,
  { namespace, instance }: AlexaInterface,
  { name, value, from }: Value,
  nowMs: number,
): TimedProperty {
  const timeOf = ([trait, field]: SourceField) => state[trait]?.[field]?.[1] ?? 0;
  const changedMs = Math.max(...from.map(timeOf));
  const isMeasured = from.some(([trait, field]) => catalogue[trait].fields[field]?.kind === "sample");
  const property: Property = {
    namespace,
    ...(instance !== undefined && { instance }),
    name,
    value,
    timeOfSample: new Date(Math.min(changedMs, nowMs)).toISOString(),
    uncertaintyInMilliseconds: isStale ? Math.max(0, nowMs - changedMs) : isMeasured ? sampleAgeMs : 0,
  };
  return { property, changedMs, isMeasured };
}

/** It is derived at each reading, and so sampled now. A value that must be known ends it when it becomes unknown. */
function connectivity({ thing, interfaces }: Endpoint, isReached: boolean, nowMs: number): TimedProperty {
  const times = interfaces.flatMap(({ traits, mustBeKnown }) =>
    traits.flatMap((trait) => {
      const { available, ...values } = thing.state[trait] ?? {};
      const needed = mustBeKnown && !isReached ? Object.values(values) : [];
      return [available, ...needed].map((timed) => timed?.[1] ?? 0);
    }),
  );
  const property = {
    namespace: "Alexa.EndpointHealth",
    name: "connectivity",
    value: { value: isReached ? "OK" : "UNREACHABLE" },
    timeOfSample: new Date(nowMs).toISOString(),
    uncertaintyInMilliseconds: 0,
  };
  return { property, changedMs: Math.max(thing.goneMs ?? 0, ...times), isMeasured: false };
}
