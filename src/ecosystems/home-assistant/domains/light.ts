import type { Traits } from "../../../home/catalogue.ts";
import type { EntityState } from "../entity-states.ts";
import { isOn } from "./fan.ts";
import { numberOf, textsOf } from "./values.ts";

/** A light, with its brightness if its color modes can be dimmed. A light that is off does not tell its brightness. */
export function lightTraits({ state, attributes }: EntityState, available: boolean): Traits {
  const level = numberOf(attributes.brightness);
  const colorModes = textsOf(attributes.supported_color_modes) ?? [];
  const isDimmable = colorModes.some((mode) => mode !== "onoff" && mode !== "unknown");
  // The instance counts from 0 to 255. A light that is on is never shown with 0 percent.
  const percent = level === null ? null : Math.min(100, Math.max(1, Math.round((level * 100) / 255)));
  return {
    ...switchTraits({ state }, available),
    ...(isDimmable && { brightness: { available, state: { percent }, capabilities: {} } }),
  };
}

export function switchTraits({ state }: Pick<EntityState, "state">, available: boolean): Traits {
  return { onOff: { available, state: { on: isOn(state) }, capabilities: { readOnly: false } } };
}
