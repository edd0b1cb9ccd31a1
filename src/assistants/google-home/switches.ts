import { badValue, type GoogleTrait } from "./trait.ts";

/** Something that is on or off. */
export const onOff: GoogleTrait = {
  name: "OnOff",
  attributes: ({ traits }) =>
    traits.onOff && (traits.onOff.capabilities.readOnly === true ? { queryOnlyOnOff: true } : {}),
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
  attributes: ({ traits }) => traits.brightness && {},
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
    BrightnessRelative(params, { traits }) {
      const { brightnessRelativePercent: byPercent, brightnessRelativeWeight: weight } = params;
      const by = typeof byPercent === "number" ? byPercent : typeof weight === "number" ? weight * 10 : undefined;
      if (by === undefined) return badValue("brightnessRelativePercent", "must be a number");
      const present = traits.brightness?.state.percent ?? 0;
      const percent = Math.min(100, Math.max(0, present + by));
      return { trait: "brightness", command: "set", params: { percent } };
    },
  },
};

/** The speed of a fan. */
export const fanSpeed: GoogleTrait = {
  name: "FanSpeed",
  attributes({ kind, traits }) {
    if (kind === "thermostat" || !traits.fan) return undefined;
    const { percentStep } = traits.fan.capabilities;
    return percentStep === null && traits.fan.state.percent === null ? undefined : { supportsFanSpeedPercent: true };
  },
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
    SetFanSpeedRelative(params, { traits }) {
      const { fanSpeedRelativePercent: byPercent, fanSpeedRelativeWeight: weight } = params;
      const by = typeof byPercent === "number" ? byPercent : typeof weight === "number" ? weight * 10 : undefined;
      if (by === undefined) return badValue("fanSpeedRelativePercent", "must be a number");
      const percent = Math.min(100, Math.max(0, (traits.fan?.state.percent ?? 0) + by));
      return { trait: "fan", command: "setPercent", params: { percent } };
    },
  },
};

/** The fan of a thermostat, which is a device of its own: it is on while its timer runs or its mode is `on`. */
export const thermostatFan: GoogleTrait = {
  name: "OnOff",
  attributes: ({ traits }) => {
    const { fanTimer, fan } = traits;
    return (fanTimer && fanTimer.capabilities.supported !== false) || fan?.capabilities.modes?.includes("on")
      ? {}
      : undefined;
  },
  states({ traits }) {
    const { fanTimer, fan } = traits;
    if (fanTimer) {
      const { active } = fanTimer.state;
      return fanTimer.available === false || active === null ? undefined : { on: active };
    }
    return !fan || fan.available === false || fan.state.mode === null ? undefined : { on: fan.state.mode === "on" };
  },
  commands: {
    OnOff({ on }, { traits }) {
      if (typeof on !== "boolean") return badValue("on", "must be a boolean");
      if (traits.fanTimer) return { trait: "fanTimer", command: on ? "start" : "stop", params: {} };
      const modes = traits.fan?.capabilities.modes ?? [];
      const idle = modes.includes("auto") ? "auto" : "off";
      return { trait: "fan", command: "setMode", params: { mode: on ? "on" : idle } };
    },
  },
};
