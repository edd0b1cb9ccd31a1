import { type CurrentThing, canSet, canSetSpeed, restingModes } from "../current-thing.ts";
import { badValue, type GoogleTrait, vagueDifference } from "./trait.ts";

/** Read-only: Google can query the state but can't set it. Both members are sent. */
const queryOnly = { commandOnlyOnOff: false, queryOnlyOnOff: true };

/** A thing that is on or off. Google can only query a read-only one. */
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
  /** Offered only if it can be set: Google has no read-only brightness. */
  attributes: (thing) => (thing.traits.brightness && canSet(thing, "brightness", "percent") ? {} : undefined),
  states: ({ traits }) => {
    const { brightness } = traits;
    if (!brightness || brightness.available === false) return undefined;
    // Some lights report no brightness before they are switched on for the first time.
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

/** The percentage for one unit of Google's weight. */
const percentPerWeight = 10;

function differenceOf(percent: unknown, weight: unknown, step = 1): number | undefined {
  if (typeof percent === "number") return percent;
  return typeof weight === "number" ? vagueDifference(weight, percentPerWeight, step) : undefined;
}

/** The speed of a fan, if it can be set: Google has no read-only fan speed. */
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
    SetFanSpeedRelative({ fanSpeedRelativePercent: percent, fanSpeedRelativeWeight: weight }, { traits: { fan } }) {
      const deltaPercent = differenceOf(percent, weight, fan?.capabilities.percentStep ?? 1);
      if (deltaPercent === undefined) return badValue("fanSpeedRelativePercent", "must be a number");
      return { trait: "fan", command: "adjustPercent", params: { deltaPercent } };
    },
  },
};

/**
 * The fan of a thermostat, which Google shows as a separate device. One field shows and switches it (`switchOf`): it is
 * on while the timer runs, or in a mode in which it does not rest, or while the speed is above 0.
 */
export const thermostatFan: GoogleTrait = {
  name: "OnOff",
  attributes: (thing) => {
    const control = switchOf(thing);
    if (!control) return undefined;
    return canSet(thing, control[0], control[1]) ? {} : queryOnly;
  },
  states(thing) {
    const [trait, field] = switchOf(thing) ?? [];
    const { fanTimer, fan } = thing.traits;
    const shown = trait === "fanTimer" ? fanTimer : fan;
    if (!shown || shown.available === false) return undefined;
    const value =
      trait === "fanTimer" ? fanTimer!.state.active : field === "mode" ? fan!.state.mode : fan!.state.percent;
    if (value === null) return undefined;
    if (typeof value === "string") return { on: !restingModes.includes(value) };
    return { on: typeof value === "boolean" ? value : value > 0 };
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

/** The trait and field that show whether a thermostat's fan runs, and that a command sets. */
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
