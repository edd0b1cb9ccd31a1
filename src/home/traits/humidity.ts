import { defineTrait, percent, type TraitOf } from "../trait.ts";

export const humidity = defineTrait({
  name: "humidity",
  meaning: "A measured relative humidity.",
  fields: { percent: { kind: "sample", value: percent, meaning: "The measured relative humidity." } },
  capabilities: {},
  commands: {},
});

export type Humidity = TraitOf<typeof humidity>;
