import { defineTrait, type TraitOf, text } from "../trait.ts";

const presenceStates = ["home", "away", "autoAway", "unknown"] as const;

export const presence = defineTrait({
  name: "presence",
  meaning: "Whether somebody is at home. Only a thing of kind `home` has it; persons are never things.",
  fields: {
    state: {
      kind: "transition",
      value: { type: "enum", values: presenceStates },
      meaning: "Who is at home. `autoAway`: the ecosystem found out automatically that nobody is.",
    },
    word: { kind: "level", value: text, meaning: "The ecosystem's own word for the state." },
  },
  capabilities: {},
  commands: {},
});

export type Presence = TraitOf<typeof presence>;
