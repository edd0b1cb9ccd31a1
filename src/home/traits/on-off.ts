import { defineTrait, flag, type TraitOf } from "../trait.ts";

export const onOff = defineTrait({
  name: "onOff",
  meaning: "Something that is on or off.",
  fields: { on: { kind: "transition", value: flag, meaning: "Whether it is on." } },
  capabilities: { readOnly: { value: flag, meaning: "It can't be switched from outside." } },
  commands: {
    set: { meaning: "Switches it on or off.", parameters: { on: { value: flag, meaning: "On or off." } } },
  },
});

export type OnOff = TraitOf<typeof onOff>;
