import type { Traits } from "../../../home/catalogue.ts";
import { percentOf, textOf } from "../../kit/document-values.ts";
import type { EntityState } from "../entity-states.ts";
import { numberOf, textsOf } from "./values.ts";

/** What a fan tells that is a thing of its own. */
export function fanTraits({ state, attributes }: EntityState, available: boolean): Traits {
  const modes = textsOf(attributes.preset_modes);
  const hasSpeed = numberOf(attributes.percentage_step) !== null;
  return {
    onOff: { available, state: { on: isOn(state) }, capabilities: { readOnly: false } },
    ...((modes || hasSpeed) && {
      fan: {
        available,
        state: { mode: textOf(attributes.preset_mode), percent: percentOf(attributes.percentage) },
        capabilities: { modes, percentStep: percentOf(attributes.percentage_step) },
      },
    }),
  };
}

/** What a fan tells that belongs to a thermostat: it is on or off. */
export function absorbedFanTraits({ state, attributes }: EntityState, available: boolean): Traits {
  return {
    fan: {
      available,
      state: { mode: state === "on" || state === "off" ? state : null, percent: percentOf(attributes.percentage) },
      capabilities: { modes: ["on", "off"], percentStep: percentOf(attributes.percentage_step) },
    },
  };
}

/** Null for a word that is neither `on` nor `off`. */
export function isOn(state: string): boolean | null {
  if (state === "on") return true;
  return state === "off" ? false : null;
}
