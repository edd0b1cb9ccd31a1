import type { Traits } from "../../../home/catalogue.ts";
import type { Fan } from "../../../home/traits/fan.ts";
import { percentOf, textOf } from "../../kit/document-values.ts";
import type { EntityAttributes, EntityState } from "../entity-states.ts";
import { featuresOf, textsOf } from "./values.ts";

/** Bits of `supported_features`. */
const setSpeed = 1;
const presetMode = 8;
const turnOff = 16;
const turnOn = 32;

/** The first version whose fans have features for switching. Before it, every fan can be switched. */
const switchingSince = { year: 2024, month: 8 };

/** Whether fans of this version of Home Assistant tell by features if they can be switched. */
export function tellsFanSwitching(version: unknown): boolean {
  const [year = 0, month = 0] = typeof version === "string" ? version.split(".").map(Number) : [];
  return year > switchingSince.year || (year === switchingSince.year && month >= switchingSince.month);
}

/** What a fan tells that is a thing of its own. `tellsSwitching`: see `tellsFanSwitching`. */
export function fanTraits({ state, attributes }: EntityState, available: boolean, tellsSwitching: boolean): Traits {
  const features = featuresOf(attributes.supported_features);
  const modes = (features & presetMode) === 0 ? null : textsOf(attributes.preset_modes);
  const { percent, percentStep } = speedOf(attributes);
  const readOnly = fanSwitchModes(attributes, tellsSwitching).length === 0;
  return {
    onOff: { available, state: { on: isOn(state) }, capabilities: { readOnly } },
    ...((modes || percentStep !== null) && {
      fan: {
        available,
        state: { mode: textOf(attributes.preset_mode), percent },
        capabilities: { modes, percentStep },
      },
    }),
  };
}

/** What a fan tells that belongs to a thermostat: it is on or off. */
export function absorbedFanTraits({ state, attributes }: EntityState, available: boolean, tellsSwitching: boolean) {
  const { percent, percentStep } = speedOf(attributes);
  const modes = fanSwitchModes(attributes, tellsSwitching);
  const fan: Fan = {
    available,
    state: { mode: state === "on" || state === "off" ? state : null, percent },
    capabilities: { modes: modes.length === 0 ? null : modes, percentStep },
  };
  return { fan };
}

/** `on` if the fan can be turned on, `off` if it can be turned off. */
export function fanSwitchModes(attributes: EntityAttributes, tellsSwitching: boolean): readonly ("on" | "off")[] {
  const features = tellsSwitching ? featuresOf(attributes.supported_features) : turnOn | turnOff;
  return [
    ...((features & turnOn) === 0 ? [] : (["on"] as const)),
    ...((features & turnOff) === 0 ? [] : (["off"] as const)),
  ];
}

function speedOf(attributes: EntityAttributes): {
  readonly percent: number | null;
  readonly percentStep: number | null;
} {
  const hasSpeed = (featuresOf(attributes.supported_features) & setSpeed) !== 0;
  const known = (value: unknown) => (hasSpeed ? percentOf(value) : null);
  return { percent: known(attributes.percentage), percentStep: known(attributes.percentage_step) };
}

/** Null for a word that is neither `on` nor `off`. */
export function isOn(state: string): boolean | null {
  if (state === "on") return true;
  return state === "off" ? false : null;
}
