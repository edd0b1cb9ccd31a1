import { type CurrentThing, canSet, canSetSpeed } from "../current-thing.ts";
import { badValue, type GoogleTrait } from "./trait.ts";

/** It can be asked and not commanded. Google wants both members. */
const queryOnly = { commandOnlyOnOff: false, queryOnlyOnOff: true };

/** Something that is on or off. */
export const onOff: GoogleTrait = {
  name: "OnOff",
  attributes: ({ traits }) => traits.onOff && (traits.onOff.capabilities.readOnly === true ? queryOnly : {}),
  states: ({ traits }) => {
    const { onOff } = traits;
    if (!onOff || onOff.available === false || onOff.state.on === null) return undefined;
    return { on: onOff.state.on };
  },
  commands: {
    OnOff: ({ on }) =>
      typeof on === "boolean"
        ? { trait: "onOff", command: "set", params: { on } }
        : badValue("on", "must be a boolean"),
  },
};

export const brightness: GoogleTrait = {
  name: "Brightness",
  /** Google has no brightness that can only be read. */
  attributes: (thing) => (thing.traits.brightness && canSet(thing, "brightness", "percent") ? {} : undefined),
  states: ({ traits }) => {
    const { brightness } = traits;
    if (!brightness || brightness.available === false) return undefined;
    // A light that was never on has not told its brightness.
    return brightness.state.percent === null ? {} : { brightness: Math.round(brightness.state.percent) };
  },
  commands: {
    BrightnessAbsolute: ({ brightness: percent }) =>
      typeof percent === "number"
        ? { trait: "brightness", command: "set", params: { percent } }
        : badValue("brightness", "must be a number"),
    BrightnessRelative({ brightnessRelativePercent: percent, brightnessRelativeWeight: weight }) {
      const deltaPercent = differenceOf(percent, weight);
      if (deltaPercent === undefined) return badValue("brightnessRelativePercent", "must be a number");
      return { trait: "brightness", command: "adjust", params: { deltaPercent } };
    },
  },
};

/** One step of a relative change without a percentage ("a bit brighter"). */
const percentPerWeight = 10;

function differenceOf(percent: unknown, weight: unknown): number | undefined {
  if (typeof percent === "number") return percent;
  return typeof weight === "number" ? weight * percentPerWeight : undefined;
}

/** The speed of a fan. Google has no speed that can only be read. */
export const fanSpeed: GoogleTrait = {
  name: "FanSpeed",
  attributes: (thing) => (canSetSpeed(thing) ? { supportsFanSpeedPercent: true } : undefined),
  states({ traits }) {
    const { fan, onOff } = traits;
    if (!fan || fan.available === false) return undefined;
    const percent = fan.state.percent ?? (onOff?.state.on === false ? 0 : null);
    return percent === null ? {} : { currentFanSpeedPercent: percent };
  },
  commands: {
    SetFanSpeed: ({ fanSpeedPercent: percent }) =>
      typeof percent === "number"
        ? { trait: "fan", command: "setPercent", params: { percent } }
        : badValue("fanSpeedPercent", "must be a number"),
    SetFanSpeedRelative({ fanSpeedRelativePercent: percent, fanSpeedRelativeWeight: weight }) {
      const deltaPercent = differenceOf(percent, weight);
      if (deltaPercent === undefined) return badValue("fanSpeedRelativePercent", "must be a number");
      return { trait: "fan", command: "adjustPercent", params: { deltaPercent } };
    },
  },
};

/**
 * The fan of a thermostat, which is a device of its own: it is on while its timer runs, while its mode is `on`, or while
 * it has a speed.
 */
export const thermostatFan: GoogleTrait = {
  name: "OnOff",
  attributes: (thing) => {
    const by = switchOf(thing);
    if (!by) return undefined;
    return canSet(thing, by[0], by[1]) ? {} : queryOnly;
  },
  states(thing) {
    const [trait, field] = switchOf(thing) ?? [];
    const { fanTimer, fan } = thing.traits;
    const shown = trait === "fanTimer" ? fanTimer : fan;
    if (!shown || shown.available === false) return undefined;
    const value =
      trait === "fanTimer" ? fanTimer!.state.active : field === "mode" ? fan!.state.mode : fan!.state.percent;
    if (value === null) return undefined;
    return { on: typeof value === "boolean" ? value : typeof value === "number" ? value > 0 : value === "on" };
  },
  commands: {
    OnOff({ on }, thing) {
      if (typeof on !== "boolean") return badValue("on", "must be a boolean");
      const [trait, field] = switchOf(thing) ?? [];
      if (trait === "fanTimer") return { trait, command: on ? "start" : "stop", params: {} };
      if (field === "percent") return { trait: "fan", command: "setPercent", params: { percent: on ? 100 : 0 } };
      const modes = thing.traits.fan?.capabilities.modes ?? [];
      const idle = modes.includes("auto") ? "auto" : "off";
      return { trait: "fan", command: "setMode", params: { mode: on ? "on" : idle } };
    },
  },
};

/** What tells whether the fan of a thermostat runs, and what switches it. */
function switchOf(
  thing: CurrentThing,
): readonly ["fanTimer", "active"] | readonly ["fan", "mode" | "percent"] | undefined {
  const { fanTimer, fan } = thing.traits;
  if (fanTimer && fanTimer.capabilities.supported !== false) return ["fanTimer", "active"];
  const hasModes = fan?.capabilities.modes?.includes("on") === true;
  if (hasModes && canSet(thing, "fan", "mode")) return ["fan", "mode"];
  if (canSetSpeed(thing)) return ["fan", "percent"];
  return hasModes ? ["fan", "mode"] : undefined;
}
