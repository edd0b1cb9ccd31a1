import type { Thermostat, ThermostatMode } from "../../../home/traits/thermostat.ts";
import type { OfferedThing } from "./interface.ts";

/** The modes of Alexa, in the order in which they are offered. */
const alexaModes = ["HEAT", "COOL", "AUTO", "ECO", "OFF"] as const;

export type AlexaMode = (typeof alexaModes)[number];

/** Alexa has no mode for drying or for the fan alone. */
const alexaModeByOurs: Readonly<Record<ThermostatMode, AlexaMode | undefined>> = {
  off: "OFF",
  heat: "HEAT",
  cool: "COOL",
  heatCool: "AUTO",
  auto: "AUTO",
  eco: "ECO",
  dry: undefined,
  fanOnly: undefined,
};

export function alexaModeOf(mode: ThermostatMode | null): AlexaMode | undefined {
  return mode === null ? undefined : alexaModeByOurs[mode];
}

/** The modes that can be set. A thermostat that does not tell its modes may have any: its ecosystem decides. */
export function alexaModesOf({ capabilities: { modes } }: Thermostat): readonly AlexaMode[] {
  if (!modes) return alexaModes;
  return alexaModes.filter((mode) => modes.some((ours) => alexaModeByOurs[ours] === mode));
}

/** Our mode for a mode of Alexa; undefined when the thermostat does not have it. */
export function modeFor(mode: unknown, { capabilities: { modes } }: Thermostat): ThermostatMode | undefined {
  const known = alexaModes.find((one) => one === mode);
  const possible = known ? modesByAlexa[known] : [];
  return modes ? possible.find((ours) => modes.includes(ours)) : possible[0];
}

const modesByAlexa: Readonly<Record<AlexaMode, readonly ThermostatMode[]>> = {
  HEAT: ["heat"],
  COOL: ["cool"],
  AUTO: ["heatCool", "auto"],
  ECO: ["eco"],
  OFF: ["off"],
};

/**
 * Whether the thermostat has two setpoints in heatCool. An own device whose map does not tell has them when commands can
 * set both. Values do not count: what is offered must not change with them, because Alexa learns it only at discovery.
 */
export function hasPair(thing: OfferedThing): boolean {
  const { dual = null, modes = null } = thing.traits.thermostat?.capabilities ?? {};
  if (modes && !modes.includes("heatCool")) return false;
  const settable = thing.settable?.thermostat ?? [];
  return dual ?? (settable.includes("heatCelsius") && settable.includes("coolCelsius"));
}

/** Whether some mode has one setpoint. */
export function hasSingleTarget(thing: OfferedThing): boolean {
  const { modes, single } = thing.traits.thermostat?.capabilities ?? {};
  if (single === false) return false;
  if (!modes) return true;
  return modes.some(
    (mode) => mode === "heat" || mode === "cool" || mode === "auto" || (mode === "heatCool" && !hasPair(thing)),
  );
}
