import type { CommandError } from "../command-errors.ts";
import { type CommandFor, type CommandRules, exactly, type Plan } from "../command-plan.ts";
import { isNearRange, snap } from "../value-range.ts";
import type { FanTimer } from "./fan-timer.ts";

export const fanTimerRules: CommandRules<"fanTimer"> = {
  plan({ fanTimer: { capabilities } }, command) {
    // Null: the ecosystem did not tell whether there is a fan, and decides.
    if (capabilities.supported === false) {
      return { code: "notSupported", command: `fanTimer.${command.command}`, reason: "the thing has no fan" };
    }
    return command.command === "start" ? start(capabilities, command) : planOf(command, false);
  },
};

type Start = Extract<CommandFor<"fanTimer">, { readonly command: "start" }>;

function start({ maxMinutes: max }: FanTimer["capabilities"], command: Start): Plan | CommandError {
  const { minutes } = command.params;
  if (minutes === undefined) return planOf(command, true);
  const range = { min: 1, max, step: 1 };
  if (!isNearRange(minutes, range)) {
    return { code: "outOfRange", parameter: "minutes", min: range.min, max, unit: "minutes" };
  }
  return planOf(command, true, snap(minutes, range));
}

/** The end of the timer is not expected: the ecosystem computes it with its own clock, and may choose another time. */
function planOf(command: CommandFor<"fanTimer">, active: boolean, forMinutes?: number): Plan {
  const step = { trait: "fanTimer", set: { active }, ...(forMinutes !== undefined && { forMinutes }) } as const;
  return { steps: [step], expected: [exactly("fanTimer", "active", active)], absolute: command };
}
