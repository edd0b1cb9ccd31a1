import { type CommandRules, exactly } from "../command-plan.ts";

export const onOffRules: CommandRules<"onOff"> = {
  plan({ onOff }, command) {
    if (onOff.capabilities.readOnly === true) {
      return { code: "notSupported", command: "onOff.set", reason: "it can't be switched from outside" };
    }
    const { on } = command.params;
    return {
      steps: [{ trait: "onOff", set: { on } }],
      expected: [exactly("onOff", "on", on)],
      absolute: command,
    };
  },
};
