import { defineTrait, type TraitOf, text } from "../trait.ts";

export const indicator = defineTrait({
  name: "indicator",
  meaning: "A light on the device that shows its condition.",
  fields: { color: { kind: "level", value: text, meaning: "The colour in the ecosystem's own word." } },
  capabilities: {},
  commands: {},
});

export type Indicator = TraitOf<typeof indicator>;
