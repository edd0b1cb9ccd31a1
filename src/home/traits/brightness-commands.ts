import { type CommandRules, type Expectation, exactly } from "../command-plan.ts";
import { isNearRange, snap } from "../value-range.ts";

/** Many lights have fewer or more than 100 levels, and show a percentage next to the one that was set. */
const tolerance = 1;

export const brightnessRules: CommandRules<"brightness"> = {
  plan({ onOff }, command) {
    const canSwitchOff = onOff !== undefined && onOff.capabilities.readOnly !== true;
    const range = { min: canSwitchOff ? 0 : 1, max: 100, step: 1 };
    const { percent } = command.params;
    if (!isNearRange(percent, range)) {
      return { code: "outOfRange", parameter: "percent", min: range.min, max: range.max, unit: "percent" };
    }
    if (canSwitchOff && percent <= 0) {
      const step = { trait: "onOff", set: { on: false } } as const;
      return { steps: [step], expected: [exactly("onOff", "on", false)], absolute: command };
    }
    // A value above 0 never switches the light off, not even one that would be rounded to 0.
    const level = Math.max(1, snap(percent, range));
    const expected: Expectation[] = [{ trait: "brightness", field: "percent", value: level, tolerance }];
    if (onOff !== undefined) expected.push(exactly("onOff", "on", true));
    return { steps: [{ trait: "brightness", set: { percent: level } }], expected, absolute: command };
  },
};
