import { defineTrait, type TraitOf } from "../trait.ts";

export const brightness = defineTrait({
  name: "brightness",
  meaning: "The brightness of a light. It keeps its value while the light is off.",
  fields: {
    percent: {
      kind: "level",
      value: { type: "number", unit: "percent", min: 1, max: 100 },
      meaning: "How bright the light is, or will be when it is switched on.",
    },
  },
  capabilities: {},
});

export type Brightness = TraitOf<typeof brightness>;
