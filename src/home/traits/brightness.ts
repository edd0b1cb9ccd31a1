import { defineTrait, percent, percentDifference, type TraitOf } from "../trait.ts";

export const brightness = defineTrait({
  name: "brightness",
  meaning: "The brightness of a light. It keeps its value while the light is off.",
  fields: {
    percent: {
      kind: "level",
      value: { type: "number", unit: "percent", min: 1, max: 100 },
      meaning: "How bright the light is, or will be when it is switched on.",
      persists: true,
    },
  },
  capabilities: {},
  commands: {
    set: {
      meaning: "Sets the brightness and switches the light on; 0 switches it off and keeps the brightness.",
      parameters: { percent: { value: percent, meaning: "The brightness, rounded to whole percent." } },
    },
    adjust: {
      meaning:
        "Makes the light brighter or darker, at most to the end of its range. A light that is off has a brightness of 0; " +
        "a brightness that falls to 0 switches it off.",
      parameters: { deltaPercent: { value: percentDifference, meaning: "The difference; negative makes it darker." } },
    },
  },
});

export type Brightness = TraitOf<typeof brightness>;
