import assert from "node:assert/strict";
import type { AlexaMessage } from "../../../simulator/alexa/alexa-message.ts";
import type { CurrentThing } from "../../../src/assistants/current-thing.ts";
import type { AskedDirective } from "./any-ask.ts";

interface Declared {
  readonly endpointId: string;
  readonly capabilities: readonly object[];
}

interface Capability {
  readonly interface: string;
  readonly instance?: string;
  readonly properties?: { readonly supported: readonly { readonly name: string }[]; readonly retrievable: boolean };
}

/** The properties that discovery has declared, as `interface instance name`. */
export function declaredBy({ capabilities }: Declared): readonly string[] {
  return (capabilities as readonly Capability[]).flatMap(keysOf);
}

function keysOf({ interface: namespace, instance, properties }: Capability): readonly string[] {
  return (properties?.supported ?? []).map(({ name }) => keyOf(namespace, instance, name));
}

/** A state report has every property that discovery has declared as retrievable. It is refused if one is not known. */
export function assertRetrieved(answer: AlexaMessage, { capabilities }: Declared): void {
  const retrievable = (capabilities as readonly Capability[])
    .filter(({ properties }) => properties?.retrievable === true)
    .flatMap(keysOf);
  assert.ok(retrievable.length > 0);
  if (answer.event.header.name === "ErrorResponse") return;
  const shown = propertiesIn(answer).map(({ namespace, instance, name }) => keyOf(namespace, instance, name));
  for (const key of retrievable) assert.ok(shown.includes(key), `${key} is retrievable and left out`);
}

export function keyOf(namespace: string, instance: string | undefined, name: string): string {
  return `${namespace} ${instance ?? "-"} ${name}`;
}

export interface Shown {
  readonly namespace: string;
  readonly instance?: string;
  readonly name: string;
  readonly value: unknown;
  readonly timeOfSample: string;
}

/** All properties of a message, those of its change too. */
export function propertiesIn({ context, event }: AlexaMessage): readonly Shown[] {
  const change = event.payload.change as { readonly properties: readonly Shown[] } | undefined;
  return [...((context?.properties ?? []) as unknown as readonly Shown[]), ...(change?.properties ?? [])];
}

/**
 * Holds the properties of an endpoint against what discovery declared and against the thing: each is declared, none
 * stands there twice, and none is missing whose value is known in the present mode.
 */
export function assertComplete(properties: readonly Shown[], endpoint: Declared, thing: CurrentThing): void {
  const declared = declaredBy(endpoint);
  const shown = properties.map(({ namespace, instance, name }) => keyOf(namespace, instance, name));
  assert.deepEqual(shown.toSorted(), [...new Set(shown)].toSorted(), "no property stands there twice");
  for (const key of shown) assert.ok(declared.includes(key), `${key} is declared`);
  const health = properties.find(({ name }) => name === "connectivity")?.value as { value: string } | undefined;
  assert.ok(health, "the health of the endpoint is always told");
  for (const key of declared) {
    if (shown.includes(key)) continue;
    // Whether the fan of a thermostat runs depends on its modes and its speed.
    const isOfFan = endpoint.endpointId.endsWith(":fan") && key.endsWith("powerState");
    assert.ok(isOfFan || !isKnown(key, thing, health.value === "OK"), `${key} is known and left out`);
  }
}

/** Whether a declared property has a value in the present mode. */
function isKnown(key: string, { traits }: CurrentThing, isReached: boolean): boolean {
  const { onOff, brightness, fanTimer, fan, temperature, thermostat } = traits;
  const told = (trait: { readonly available: boolean | null } | undefined, ...values: readonly unknown[]) =>
    trait !== undefined && (!isReached || trait.available !== false) && values.every((value) => value !== null);
  const near = (celsius: number | null | undefined) => typeof celsius === "number" && Math.abs(celsius) <= 100;
  const mode = thermostat?.state.mode ?? null;
  switch (key.split(" ").at(-1)) {
    case "powerState":
      return onOff !== undefined && told(onOff, onOff.state.on);
    case "brightness":
      return told(brightness, brightness?.state.percent ?? null);
    case "toggleState":
      return told(fanTimer, fanTimer?.state.active ?? null);
    case "rangeValue":
      return told(fan, fan?.state.percent ?? null);
    case "temperature":
      return told(temperature, temperature?.state.celsius ?? null);
    case "thermostatMode":
      return told(thermostat) && mode !== null && mode !== "dry" && mode !== "fanOnly";
    case "targetSetpoint":
      return told(thermostat) && ["heat", "cool", "auto"].includes(mode!) && near(thermostat?.state.targetCelsius);
    case "lowerSetpoint":
    case "upperSetpoint": {
      const { heatCelsius, coolCelsius } = thermostat?.state ?? {};
      return told(thermostat) && mode === "heatCool" && near(heatCelsius) && near(coolCelsius);
    }
    case "detectionState": {
      const isDanger = (
        trait: { readonly available: boolean | null; readonly state: { readonly state: unknown } } | undefined,
      ) => trait !== undefined && trait.available !== false && ["warning", "alarm"].includes(String(trait.state.state));
      return isReached || isDanger(traits.smoke) || isDanger(traits.carbonMonoxide);
    }
    default:
      return true;
  }
}

const endpointIds = /^[a-zA-Z0-9_\-=#;:?@&]{1,256}$/;

/** What every answer repeats of its directive. */
export function assertRepeated(answer: AlexaMessage, asked: AskedDirective, endpointId: string): void {
  const { header, endpoint } = answer.event;
  const isAboutHome = header.name === "Discover.Response" || header.name === "AcceptGrant.Response";
  const expected = isAboutHome ? undefined : asked.correlationToken;
  assert.equal(header.correlationToken, expected, "the correlation token is that of the directive");
  if (isAboutHome || header.name === "DeferredResponse") return;
  assert.equal(endpoint?.endpointId, endpointIds.test(endpointId) ? endpointId : undefined, "so is the endpoint");
}
