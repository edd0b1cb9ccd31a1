import type { SpokenMode, Wish } from "../assistants/sentence.ts";
import { meant } from "../assistants/spoken-names.ts";
import type { KnownEndpoint } from "./customer.ts";

/** A directive to an endpoint, as `Skill.directive` takes it. */
export interface PlannedDirective {
  readonly endpoint: KnownEndpoint;
  /** The interface and the directive. */
  readonly name: string;
  readonly payload: object;
  readonly instance?: string | undefined;
}

export interface Capability {
  readonly interface: string;
  readonly instance?: string;
  readonly capabilityResources?: {
    readonly friendlyNames: readonly { readonly value: { readonly text?: string } }[];
  };
}

export const capabilitiesOf = ({ capabilities }: KnownEndpoint) => capabilities as readonly Capability[];

export function hasInterface(endpoint: KnownEndpoint, name: string): boolean {
  return capabilitiesOf(endpoint).some((one) => one.interface === name);
}

/** A directive that fits the wish, for each endpoint that it could mean. */
export function directivesFor(wish: Wish, endpoints: readonly KnownEndpoint[]): readonly PlannedDirective[] {
  return wish.kind === "switch" || wish.kind === "askState"
    ? [...powered(wish, endpoints), ...toggled(wish, endpoints)]
    : others(wish, endpoints);
}

function others(
  wish: Exclude<Wish, { kind: "switch" | "askState" }>,
  endpoints: readonly KnownEndpoint[],
): readonly PlannedDirective[] {
  const [called, name, payload] = requested(wish);
  return endpointsMeant(wish.name, endpoints, called).map((endpoint) => ({ endpoint, name, payload }));
}

/** The interface that an endpoint must have, the directive, and its payload. */
function requested(wish: Exclude<Wish, { kind: "switch" | "askState" }>): readonly [string, string, object] {
  const thermostat = "Alexa.ThermostatController";
  switch (wish.kind) {
    case "setTemperature":
      return [thermostat, `${thermostat} SetTargetTemperature`, { targetSetpoint: celsius(wish.celsius) }];
    case "adjustTemperature": {
      const payload = { targetSetpointDelta: celsius(wish.deltaCelsius) };
      return [thermostat, `${thermostat} AdjustTargetTemperature`, payload];
    }
    case "setMode":
      return [thermostat, `${thermostat} SetThermostatMode`, { thermostatMode: { value: modeNames[wish.mode] } }];
    case "setBrightness":
      return ["Alexa.BrightnessController", "Alexa.BrightnessController SetBrightness", { brightness: wish.percent }];
    case "askTemperature":
      return ["Alexa.TemperatureSensor", "Alexa ReportState", {}];
  }
}

const modeNames: Readonly<Record<SpokenMode, string>> = {
  heat: "HEAT",
  cool: "COOL",
  auto: "AUTO",
  eco: "ECO",
  off: "OFF",
};

function celsius(value: number): object {
  return { value, scale: "CELSIUS" };
}

type SwitchWish = Extract<Wish, { kind: "switch" | "askState" }>;

function directiveOf(wish: SwitchWish, called: string): string {
  return wish.kind === "askState" ? "Alexa ReportState" : `${called} ${wish.isOn ? "TurnOn" : "TurnOff"}`;
}

function powered(wish: SwitchWish, endpoints: readonly KnownEndpoint[]): readonly PlannedDirective[] {
  const called = "Alexa.PowerController";
  return endpointsMeant(wish.name, endpoints, called).map((endpoint) => ({
    endpoint,
    name: directiveOf(wish, called),
    payload: {},
  }));
}

/** Toggles are spoken with the name of their endpoint: "hall fan" is the toggle "fan" of "Hall". */
function toggled(wish: SwitchWish, endpoints: readonly KnownEndpoint[]): readonly PlannedDirective[] {
  const called = "Alexa.ToggleController";
  const toggles = endpoints.flatMap((endpoint) =>
    capabilitiesOf(endpoint)
      .filter((one) => one.interface === called)
      .map(({ instance, capabilityResources }) => {
        const words = capabilityResources?.friendlyNames.map(({ value }) => value.text ?? "").join(" ") ?? "";
        return { endpoint, instance, words, name: `${endpoint.friendlyName} ${words}` };
      }),
  );
  return meant(wish.name, toggles)
    .filter(({ words }) => meant(words, [{ name: wish.name }]).length > 0)
    .map(({ endpoint, instance }) => ({
      endpoint,
      name: directiveOf(wish, called),
      payload: {},
      ...(wish.kind === "switch" && { instance }),
    }));
}

function endpointsMeant(spoken: string, endpoints: readonly KnownEndpoint[], called: string): readonly KnownEndpoint[] {
  const able = endpoints.filter((endpoint) => hasInterface(endpoint, called));
  return meant(
    spoken,
    able.map((endpoint) => ({ name: endpoint.friendlyName, endpoint })),
  ).map(({ endpoint }) => endpoint);
}
