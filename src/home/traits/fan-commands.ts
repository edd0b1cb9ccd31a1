import type { CommandError } from "../command-errors.ts";
import { type CommandFor, type CommandRules, exactly, type Plan } from "../command-plan.ts";
import { halfStep, isNearRange, kept, snap } from "../value-range.ts";
import type { Fan } from "./fan.ts";

export const fanRules: CommandRules<"fan"> = {
  plan({ fan }, command) {
    return command.command === "setMode" ? setMode(fan, command) : setPercent(fan, command);
  },
};

type CommandNamed<Name extends string> = Extract<CommandFor<"fan">, { readonly command: Name }>;

function setMode({ capabilities }: Fan, command: CommandNamed<"setMode">): Plan | CommandError {
  const modes = capabilities.modes ?? [];
  const { mode } = command.params;
  if (modes.length === 0) return { code: "notSupported", command: "fan.setMode", reason: "the fan has no modes" };
  if (!modes.includes(mode)) return { code: "modeNotSupported", mode, modes };
  return { steps: [{ trait: "fan", set: { mode } }], expected: [exactly("fan", "mode", mode)], absolute: command };
}

function setPercent({ state, capabilities }: Fan, command: CommandNamed<"setPercent">): Plan | CommandError {
  if (capabilities.percentStep === null && state.percent === null) {
    return { code: "notSupported", command: "fan.setPercent", reason: "the fan has no speed" };
  }
  const range = { min: 0, max: 100, step: capabilities.percentStep ?? 1 };
  if (!isNearRange(command.params.percent, range)) {
    return { code: "outOfRange", parameter: "percent", min: range.min, max: range.max, unit: "percent" };
  }
  const percent = kept(snap(command.params.percent, range));
  return {
    steps: [{ trait: "fan", set: { percent } }],
    expected: [{ trait: "fan", field: "percent", value: percent, tolerance: halfStep(range) }],
    absolute: command,
  };
}
