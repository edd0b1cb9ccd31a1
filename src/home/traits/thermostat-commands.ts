import type { CommandError } from "../command-errors.ts";
import {
  type CommandFor,
  type CommandRules,
  exactly,
  type Plan,
  type PlanningRules,
  type StepOf,
} from "../command-plan.ts";
import type { Thermostat, ThermostatMode } from "./thermostat.ts";
import { adjustTarget, checkTargets, setTarget } from "./thermostat-targets.ts";

export const thermostatRules: CommandRules<"thermostat"> = {
  check: (command) => (command.command === "setTarget" ? checkTargets(command.params) : undefined),

  plan({ thermostat }, command, rules) {
    switch (command.command) {
      case "setMode":
        return setMode(thermostat, command, rules);
      case "setPreset":
        return setPreset(thermostat, command);
      case "setTarget":
        return setTarget(thermostat, command);
      case "adjustTarget":
        return adjustTarget(thermostat, command);
    }
  },

  /**
   * Setpoints persist, so that the new mode has its own target; it is unknown in a mode without a setpoint. `baseMode`
   * has a meaning only in eco.
   */
  sideEffects: (state, { mode = state.mode }) =>
    mode === state.mode ? {} : { baseMode: state.mode, targetCelsius: null },
};

type CommandNamed<Name extends string> = Extract<CommandFor<"thermostat">, { readonly command: Name }>;

function setMode(
  { state, capabilities: { modes } }: Thermostat,
  command: CommandNamed<"setMode">,
  rules: PlanningRules,
): Plan | CommandError {
  const { mode } = command.params;
  // Null: the ecosystem did not tell its modes, and decides.
  if (modes !== null && !modes.includes(mode)) return { code: "modeNotSupported", mode, modes };
  return { steps: stepsToMode(state, mode, rules), expected: [exactly("thermostat", "mode", mode)], absolute: command };
}

function stepsToMode(
  { mode: current, baseMode }: Thermostat["state"],
  mode: ThermostatMode,
  { endsEcoFirst }: PlanningRules,
): Plan["steps"] {
  if (current !== "eco" || mode === "eco") return [setting({ mode })];
  if (!endsEcoFirst || baseMode === null || baseMode === mode) return [setting({ mode, baseMode: null })];
  return [setting({ mode: baseMode, baseMode: null }), setting({ mode })];
}

function setting(set: StepOf<"thermostat">["set"]): StepOf<"thermostat"> {
  return { trait: "thermostat", set };
}

function setPreset({ capabilities }: Thermostat, command: CommandNamed<"setPreset">): Plan | CommandError {
  const presets = capabilities.presets ?? [];
  const { preset } = command.params;
  if (presets.length === 0) {
    return { code: "notSupported", command: "thermostat.setPreset", reason: "the thing has no presets" };
  }
  if (!presets.includes(preset)) {
    return { code: "badValue", parameter: "preset", problem: `must be one of: ${presets.join(", ")}` };
  }
  return { steps: [setting({ preset })], expected: [exactly("thermostat", "preset", preset)], absolute: command };
}
