import { defineTrait, type TraitOf } from "../trait.ts";
import { alarmCapabilities, alarmFields } from "./alarm-states.ts";

export const carbonMonoxide = defineTrait({
  name: "carbonMonoxide",
  meaning: "A carbon monoxide alarm.",
  fields: alarmFields,
  capabilities: alarmCapabilities,
  commands: {},
});

export type CarbonMonoxide = TraitOf<typeof carbonMonoxide>;
