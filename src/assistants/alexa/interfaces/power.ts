import type { Fan } from "../../../home/traits/fan.ts";
import type { AlexaInterface, SourceField, Value } from "./interface.ts";

const namespace = "Alexa.PowerController";
const names = ["powerState"];

/** Lights, switches and fans that can be switched. Alexa has no power state that can't be set. */
export const power: AlexaInterface = {
  namespace,
  traits: ["onOff"],
  offer: ({ onOff }) => (onOff && onOff.capabilities.readOnly !== true ? { names } : undefined),
  values: ({ onOff }) => powerState(onOff?.state.on, ["onOff", "on"]),
  directives: {
    TurnOn: () => ({ trait: "onOff", command: "set", params: { on: true } }),
    TurnOff: () => ({ trait: "onOff", command: "set", params: { on: false } }),
  },
};

/** A fan that is switched by its modes, or else by its speed, such as the fan of a thermostat. */
export const fanPower: AlexaInterface = {
  namespace,
  traits: ["fan"],
  offer: ({ fan }) => (fan && (switchModes(fan) || hasSpeed(fan)) ? { names } : undefined),
  values: ({ fan }) => {
    if (!fan) return [];
    const { mode, percent } = fan.state;
    if (switchModes(fan)) return powerState(mode === null ? null : !restingModes.includes(mode), ["fan", "mode"]);
    return powerState(percent === null ? null : percent > 0, ["fan", "percent"]);
  },
  directives: {
    TurnOn: (_, { fan }) => {
      const modes = fan && switchModes(fan);
      if (modes) return { trait: "fan", command: "setMode", params: { mode: modes.on } };
      return { trait: "fan", command: "setPercent", params: { percent: 100 } };
    },
    TurnOff: (_, { fan }) => {
      const modes = fan && switchModes(fan);
      if (modes) return { trait: "fan", command: "setMode", params: { mode: modes.off } };
      return { trait: "fan", command: "setPercent", params: { percent: 0 } };
    },
  },
};

function powerState(isOn: boolean | null | undefined, field: SourceField): readonly Value[] {
  return typeof isOn === "boolean" ? [{ name: "powerState", value: isOn ? "ON" : "OFF", from: [field] }] : [];
}

/** Modes in which a fan does not run by itself. The fan of a thermostat rests in `auto` until the thermostat needs it. */
const restingModes: readonly string[] = ["off", "auto"];

/** The modes that switch the fan on and off; undefined when it has no such modes. */
function switchModes({ capabilities: { modes } }: Fan): { readonly on: string; readonly off: string } | undefined {
  const off = restingModes.find((mode) => modes?.includes(mode));
  return off !== undefined && modes?.includes("on") ? { on: "on", off } : undefined;
}

function hasSpeed({ state, capabilities }: Fan): boolean {
  return typeof capabilities.percentStep === "number" || typeof state.percent === "number";
}
