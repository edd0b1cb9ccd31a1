import { defineTrait, flag, type TraitOf, text, time } from "../trait.ts";

const minutes = { type: "number", unit: "minutes", min: 1 } as const;

export const fanTimer = defineTrait({
  name: "fanTimer",
  meaning: "A fan that runs for a time.",
  fields: {
    active: { kind: "transition", value: flag, meaning: "Whether the fan runs because of its timer." },
    untilMs: { kind: "level", value: time, meaning: "When the timer ends." },
    untilText: { kind: "level", value: text, meaning: "The end of the timer in the ecosystem's own words." },
  },
  capabilities: {
    supported: { value: flag, meaning: "Whether there is a fan. Null: not told." },
    maxMinutes: { value: minutes, meaning: "The longest time that can be set." },
  },
  commands: {
    start: {
      meaning: "Starts the fan for a time.",
      parameters: {
        minutes: { value: minutes, isOptional: true, meaning: "How long. Without it the ecosystem's own default." },
      },
    },
    stop: { meaning: "Stops the fan.", parameters: {} },
  },
});

export type FanTimer = TraitOf<typeof fanTimer>;
