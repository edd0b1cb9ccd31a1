import type { Traits } from "../catalogue.ts";
import type { CommandError } from "../command-errors.ts";
import { type CommandFor, type CommandRules, exactly, type Plan } from "../command-plan.ts";
import { halfStep, isNearRange, roundToHundredths, snap } from "../value-range.ts";
import type { Fan } from "./fan.ts";

export const fanRules: CommandRules<"fan"> = {
  plan({ fan, onOff }, command) {
    switch (command.command) {
      case "setMode":
        return setMode(fan, command);
      case "setPercent":
        return setPercent(fan, command);
      case "adjustPercent":
        return adjustPercent(fan, onOff, command);
    }
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

function setPercent(fan: Fan, command: CommandNamed<"setPercent">): Plan | CommandError {
  if (!hasSpeed(fan)) return noSpeed("setPercent");
  const range = { min: 0, max: 100, step: fan.capabilities.percentStep ?? 1 };
  if (!isNearRange(command.params.percent, range)) {
    return { code: "outOfRange", parameter: "percent", min: range.min, max: range.max, unit: "percent" };
  }
  const percent = roundToHundredths(snap(command.params.percent, range));
  return {
    steps: [{ trait: "fan", set: { percent } }],
    expected: [{ trait: "fan", field: "percent", value: percent, tolerance: halfStep(range) }],
    absolute: command,
  };
}

/** The difference is added to the speed that the commands before this one leave. */
function adjustPercent(
  fan: Fan,
  onOff: Traits["onOff"],
  { params }: CommandNamed<"adjustPercent">,
): Plan | CommandError {
  const present = onOff?.state.on === false ? 0 : fan.state.percent;
  if (present === null) {
    return hasSpeed(fan) ? { code: "stale" } : noSpeed("adjustPercent");
  }
  const percent = Math.min(100, Math.max(0, present + params.deltaPercent));
  return setPercent(fan, { trait: "fan", command: "setPercent", params: { percent } });
}

function hasSpeed({ state, capabilities }: Fan): boolean {
  return capabilities.percentStep !== null || state.percent !== null;
}

function noSpeed(command: string): CommandError {
  return { code: "notSupported", command: `fan.${command}`, reason: "the fan has no speed" };
}
