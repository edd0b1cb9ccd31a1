import { canSet, canSetSpeed, restingModes } from "../../current-thing.ts";
import type { AlexaInterface, OfferedThing, SourceField, Value } from "./interface.ts";

const namespace = "Alexa.PowerController";
const names = ["powerState"];

/** Lights, switches and fans that can be switched. Alexa has no read-only power state. */
export const power: AlexaInterface = {
  namespace,
  traits: ["onOff"],
  offer: ({ traits: { onOff } }) => (onOff && onOff.capabilities.readOnly !== true ? { names } : undefined),
  values: ({ traits: { onOff } }) => powerState(onOff?.state.on, ["onOff", "on"]),
  directives: {
    TurnOn: () => ({ trait: "onOff", command: "set", params: { on: true } }),
    TurnOff: () => ({ trait: "onOff", command: "set", params: { on: false } }),
  },
};

/** A fan that is switched by its modes, or else by its speed, such as the fan of a thermostat. */
export const fanPower: AlexaInterface = {
  namespace,
  traits: ["fan"],
  offer: (thing) => (switchModes(thing) || canSetSpeed(thing) ? { names } : undefined),
  values: (thing) => {
    const { fan } = thing.traits;
    if (!fan) return [];
    const { mode, percent } = fan.state;
    if (switchModes(thing)) return powerState(mode === null ? null : !restingModes.includes(mode), ["fan", "mode"]);
    return powerState(percent === null ? null : percent > 0, ["fan", "percent"]);
  },
  directives: {
    TurnOn: (_, thing) => {
      const modes = switchModes(thing);
      if (modes) return { trait: "fan", command: "setMode", params: { mode: modes.on } };
      return { trait: "fan", command: "setPercent", params: { percent: 100 } };
    },
    TurnOff: (_, thing) => {
      const modes = switchModes(thing);
      if (modes) return { trait: "fan", command: "setMode", params: { mode: modes.off } };
      return { trait: "fan", command: "setPercent", params: { percent: 0 } };
    },
  },
};

function powerState(isOn: boolean | null | undefined, field: SourceField): readonly Value[] {
  return typeof isOn === "boolean" ? [{ name: "powerState", value: isOn ? "ON" : "OFF", from: [field] }] : [];
}

interface SwitchModes {
  readonly on: string;
  readonly off: string;
}

/** The modes that switch the fan on and off; undefined when it has no such modes, or commands can't set them. */
function switchModes(thing: OfferedThing): SwitchModes | undefined {
  if (!canSet(thing, "fan", "mode")) return undefined;
  const { modes } = thing.traits.fan?.capabilities ?? {};
  const off = restingModes.find((mode) => modes?.includes(mode));
  return off !== undefined && modes?.includes("on") ? { on: "on", off } : undefined;
}
