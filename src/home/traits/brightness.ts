import { defineTrait, percent, type TraitOf } from "../trait.ts";

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
  },
});

export type Brightness = TraitOf<typeof brightness>;
