import type { CommandError } from "../command-errors.ts";
import type { CommandFor, Plan } from "../command-plan.ts";
import { halfStep, isNearRange, roundToHundredths, snap } from "../value-range.ts";
import type { Thermostat } from "./thermostat.ts";
import { pairOf, planCentre, planPair } from "./thermostat-pair.ts";
import { targetOutOfRange, targetRange } from "./thermostat-ranges.ts";

type CommandNamed<Name extends string> = Extract<CommandFor<"thermostat">, { readonly command: Name }>;
type Targets = CommandNamed<"setTarget">["params"];

/** `setTarget` has either the one target of the mode, or one or both targets of the pair. */
export function checkTargets({ celsius, heatCelsius, coolCelsius }: Targets): CommandError | undefined {
  const namesPair = heatCelsius !== undefined || coolCelsius !== undefined;
  if (namesPair !== (celsius !== undefined)) return undefined;
  const problem = namesPair
    ? "can't be combined with heatCelsius or coolCelsius"
    : "is missing, and so are heatCelsius and coolCelsius";
  return { code: "badValue", parameter: "celsius", problem };
}

export function setTarget(thermostat: Thermostat, { params }: CommandNamed<"setTarget">): Plan | CommandError {
  const mode = modeWithTarget(thermostat, "setTarget");
  if (typeof mode !== "string") return mode;
  const { celsius, ...named } = params;
  if (!hasPair(thermostat, mode)) return setOne(thermostat, mode, params);
  if (celsius === undefined) return planPair(thermostat, named);
  const pair = pairOf(thermostat);
  return pair === undefined ? { code: "stale" } : planCentre(thermostat, pair, celsius, "celsius");
}

/** The difference is added to the state that the commands before this one leave. */
export function adjustTarget(thermostat: Thermostat, { params }: CommandNamed<"adjustTarget">): Plan | CommandError {
  const mode = modeWithTarget(thermostat, "adjustTarget");
  if (typeof mode !== "string") return mode;
  if (hasPair(thermostat, mode)) {
    const pair = pairOf(thermostat);
    if (pair === undefined) return { code: "stale" };
    const centre = (pair.heatCelsius + pair.coolCelsius) / 2;
    return planCentre(thermostat, pair, centre + params.deltaCelsius, "deltaCelsius");
  }
  const target = thermostat.state.targetCelsius ?? setpointOf(thermostat, mode);
  if (target === null) return { code: "stale" };
  return planOne(thermostat, mode, target + params.deltaCelsius, "deltaCelsius");
}

type ModeWithTarget = "heat" | "cool" | "heatCool" | "auto";

/** The mode in force, unless it has no target that could be set. */
function modeWithTarget(thermostat: Thermostat, name: "setTarget" | "adjustTarget"): ModeWithTarget | CommandError {
  const { mode } = thermostat.state;
  const { single, dual } = thermostat.capabilities;
  const notSupported = { code: "notSupported", command: `thermostat.${name}` } as const;
  if (single === false && dual === false) {
    return { ...notSupported, reason: "it has no target temperature that can be set" };
  }
  if (mode === null) return { code: "stale" };
  if (mode === "off" || mode === "eco" || mode === "dry" || mode === "fanOnly") return { code: "notInMode", mode };
  if (single === false && !hasPair(thermostat, mode)) {
    return { ...notSupported, reason: "it has targets only in the mode heatCool" };
  }
  return mode;
}

/** An ecosystem that does not tell whether it has two targets in heatCool has them when it shows them. */
function hasPair(thermostat: Thermostat, mode: ModeWithTarget): boolean {
  return mode === "heatCool" && (thermostat.capabilities.dual ?? pairOf(thermostat) !== undefined);
}

/** The setpoint that is the target of a mode; auto and heatCool with one target have none. */
const setpoints = { heat: "heatCelsius", cool: "coolCelsius", heatCool: undefined, auto: undefined } as const;

function setpointOf({ state }: Thermostat, mode: ModeWithTarget): number | null {
  const setpoint = setpoints[mode];
  return setpoint === undefined ? null : state[setpoint];
}

function setOne(thermostat: Thermostat, mode: ModeWithTarget, params: Targets): Plan | CommandError {
  const setpoint = setpoints[mode];
  for (const parameter of ["heatCelsius", "coolCelsius"] as const) {
    if (params[parameter] === undefined || parameter === setpoint) continue;
    // No ecosystem accepts a setpoint that its mode does not use.
    if (mode !== "heatCool") return { code: "notInMode", mode };
    const reason = "the thing has one target for heating and cooling";
    return { code: "notSupported", command: `thermostat.setTarget with ${parameter}`, reason };
  }
  const parameter = setpoint !== undefined && params[setpoint] !== undefined ? setpoint : "celsius";
  return planOne(thermostat, mode, params[parameter]!, parameter);
}

function planOne(
  { capabilities }: Thermostat,
  mode: ModeWithTarget,
  celsius: number,
  parameter: string,
): Plan | CommandError {
  const range = targetRange(mode, capabilities);
  if (!isNearRange(celsius, range)) return targetOutOfRange(parameter, range);
  const targetCelsius = roundToHundredths(snap(celsius, range));
  const setpoint = setpoints[mode];
  return {
    steps: [
      { trait: "thermostat", set: { targetCelsius, ...(setpoint !== undefined && { [setpoint]: targetCelsius }) } },
    ],
    expected: [{ trait: "thermostat", field: "targetCelsius", value: targetCelsius, tolerance: halfStep(range) }],
    // It names the setpoint, so that a target for heating is never set in a mode that began meanwhile.
    absolute: { trait: "thermostat", command: "setTarget", params: { [setpoint ?? "celsius"]: targetCelsius } },
  };
}
