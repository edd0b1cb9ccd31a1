import { defineTrait, percent, percentDifference, type TraitOf, text } from "../trait.ts";

export const fan = defineTrait({
  name: "fan",
  meaning: "A fan with modes or a speed.",
  fields: {
    mode: { kind: "transition", value: text, meaning: "The mode, one of `modes`." },
    percent: { kind: "level", value: percent, meaning: "The speed." },
  },
  capabilities: {
    modes: { value: { type: "list" }, meaning: "The modes that can be set." },
    percentStep: { value: percent, meaning: "Speeds are multiples of this step." },
  },
  commands: {
    setMode: {
      meaning: "Sets the mode.",
      parameters: { mode: { value: text, meaning: "One of the capability `modes`." } },
    },
    setPercent: {
      meaning: "Sets the speed; 0 stops the fan.",
      parameters: { percent: { value: percent, meaning: "The speed, rounded to the step of the fan." } },
    },
    adjustPercent: {
      meaning:
        "Makes the fan faster or slower, at most to the end of its range; a speed that falls to 0 stops the fan.",
      parameters: { deltaPercent: { value: percentDifference, meaning: "The difference; negative makes it slower." } },
    },
  },
});

export type Fan = TraitOf<typeof fan>;
