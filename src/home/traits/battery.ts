import { defineTrait, percent, type TraitOf } from "../trait.ts";

export const battery = defineTrait({
  name: "battery",
  meaning: "A battery that somebody must replace or charge.",
  fields: {
    state: {
      kind: "transition",
      value: { type: "enum", values: ["ok", "low"] },
      meaning: "Whether it is low.",
      persists: true,
    },
    percent: { kind: "sample", value: percent, meaning: "Its charge.", persists: true },
  },
  capabilities: {},
  commands: {},
});

export type Battery = TraitOf<typeof battery>;
