import { defineTrait, percent, type TraitOf, text } from "../trait.ts";

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
  },
});

export type Fan = TraitOf<typeof fan>;
