import { defineTrait, type TraitOf } from "../trait.ts";
import { alarmCapabilities, alarmFields } from "./alarm-states.ts";

export const smoke = defineTrait({
  name: "smoke",
  meaning: "A smoke alarm.",
  fields: alarmFields,
  capabilities: alarmCapabilities,
  commands: {},
});

export type Smoke = TraitOf<typeof smoke>;
