import { celsius, defineTrait, type TraitOf } from "../trait.ts";

export const temperature = defineTrait({
  name: "temperature",
  meaning: "A measured temperature.",
  fields: { celsius: { kind: "sample", value: celsius, meaning: "The measured temperature." } },
  capabilities: {
    unit: { value: { type: "enum", values: ["C", "F"] }, meaning: "The unit in which the device shows temperatures." },
  },
  commands: {},
});

export type Temperature = TraitOf<typeof temperature>;
