import type { Traits } from "../catalogue.ts";
import type { CommandError } from "../command-errors.ts";
import { type CommandFor, type CommandRules, type Expectation, exactly, type Plan } from "../command-plan.ts";
import { isNearRange, snap } from "../value-range.ts";

/** Many lights have fewer or more than 100 levels, and show a percentage next to the one that was set. */
const tolerance = 1;

export const brightnessRules: CommandRules<"brightness"> = {
  plan(traits, command) {
    return command.command === "set" ? set(traits, command) : adjust(traits, command);
  },
};

type Light = Traits & Required<Pick<Traits, "brightness">>;
type CommandNamed<Name extends string> = Extract<CommandFor<"brightness">, { readonly command: Name }>;

function set({ onOff }: Light, command: CommandNamed<"set">): Plan | CommandError {
  const range = rangeOf(onOff);
  const { percent } = command.params;
  if (!isNearRange(percent, range)) {
    return { code: "outOfRange", parameter: "percent", min: range.min, max: range.max, unit: "percent" };
  }
  if (range.min === 0 && percent <= 0) {
    const step = { trait: "onOff", set: { on: false } } as const;
    return { steps: [step], expected: [exactly("onOff", "on", false)], absolute: command };
  }
  // A value above 0 never switches the light off, not even one that would be rounded to 0.
  const level = Math.max(1, snap(percent, range));
  const expected: Expectation[] = [{ trait: "brightness", field: "percent", value: level, tolerance }];
  if (onOff !== undefined) expected.push(exactly("onOff", "on", true));
  return { steps: [{ trait: "brightness", set: { percent: level } }], expected, absolute: command };
}

/** The difference is added to the brightness that the commands before this one leave. */
function adjust(light: Light, { params }: CommandNamed<"adjust">): Plan | CommandError {
  const present = light.onOff?.state.on === false ? 0 : light.brightness.state.percent;
  if (present === null) return { code: "stale" };
  const { min, max } = rangeOf(light.onOff);
  const percent = Math.min(max, Math.max(min, present + params.deltaPercent));
  return set(light, { trait: "brightness", command: "set", params: { percent } });
}

/** A light that can be switched off has the brightness 0. */
function rangeOf(onOff: Traits["onOff"]) {
  const canSwitchOff = onOff !== undefined && onOff.capabilities.readOnly !== true;
  return { min: canSwitchOff ? 0 : 1, max: 100, step: 1 };
}
