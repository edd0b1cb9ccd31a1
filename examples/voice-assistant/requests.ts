import type { CommandedTrait, ThermostatMode, Thing } from "@breezeway/sdk";

/** A command to a thing, and what to say when the thing shows its result. */
export interface PlannedCommand {
  readonly trait: CommandedTrait;
  readonly command: string;
  readonly params: Readonly<Record<string, string | number | boolean>>;
  readonly result: string;
}

/** What a sentence asks for. `plan` is undefined for a thing that can't do it. */
export type Request =
  | { readonly kind: "command"; readonly name: string; plan(thing: Thing): PlannedCommand | undefined }
  | { readonly kind: "temperature"; readonly name: string }
  | { readonly kind: "smoke" };

export const examples = [
  "turn on the hall fan",
  "turn off the lamp",
  "set the den to 21",
  "set the den to eco",
  "make the den warmer",
  "what is the temperature in the den",
  "is there smoke",
];

/** Reads a sentence; undefined if it is none of the forms that the examples show. */
export function readRequest(sentence: string): Request | undefined {
  const text = sentence
    .toLowerCase()
    .replace(/[?.!]+$/, "")
    .trim();
  const words = (form: RegExp) => form.exec(text)?.slice(1) ?? [];
  if (/^is there (any )?smoke$/.test(text)) return { kind: "smoke" };

  const [room] = words(/^what(?: is|'s) the temperature (?:in|of) (?:the )?(.+)$/);
  if (room) return { kind: "temperature", name: room };

  const [fanPower, fan] = words(/^turn (on|off) (?:the )?(.+) fan$/);
  if (fan) return { kind: "command", name: fan, plan: (thing) => fanCommand(thing, fanPower === "on") };

  const [power, device] = words(/^turn (on|off) (?:the )?(.+)$/);
  if (device) return { kind: "command", name: device, plan: (thing) => powerCommand(thing, power === "on") };

  const [heated, degrees] = words(/^set (?:the )?(.+) to (\d+(?:\.\d)?)(?: degrees)?$/);
  if (heated) return { kind: "command", name: heated, plan: (thing) => targetCommand(thing, Number(degrees)) };

  const [changed, mode] = words(/^set (?:the )?(.+) to (off|heat|cool|eco)$/);
  if (changed) return { kind: "command", name: changed, plan: (thing) => modeCommand(thing, mode as ThermostatMode) };

  const [adjusted, way] = words(/^make (?:the )?(.+) (warmer|cooler)$/);
  if (adjusted)
    return { kind: "command", name: adjusted, plan: (thing) => stepCommand(thing, way === "warmer" ? 1 : -1) };
  return undefined;
}

function powerCommand({ traits, name }: Thing, on: boolean): PlannedCommand | undefined {
  if (!traits.onOff || traits.onOff.capabilities.readOnly === true) return undefined;
  return { trait: "onOff", command: "set", params: { on }, result: `${name} is ${on ? "on" : "off"}.` };
}

/** The fan of a thermostat has a timer or modes. A fan of its own is switched as a lamp is. */
function fanCommand(thing: Thing, on: boolean): PlannedCommand | undefined {
  const { fanTimer, fan } = thing.traits;
  const result = `The fan of ${thing.name} is ${on ? "running" : "off"}.`;
  if (thing.kind !== "thermostat") return powerCommand(thing, on);
  if (fanTimer && fanTimer.capabilities.supported !== false) {
    return { trait: "fanTimer", command: on ? "start" : "stop", params: {}, result };
  }
  const modes = fan?.capabilities.modes;
  if (!Array.isArray(modes) || !modes.includes("on")) return undefined;
  const idle = modes.includes("auto") ? "auto" : "off";
  return { trait: "fan", command: "setMode", params: { mode: on ? "on" : idle }, result };
}

function targetCommand({ traits, name }: Thing, celsius: number): PlannedCommand | undefined {
  const result = `${name} is set to ${celsius} degrees.`;
  return traits.thermostat && { trait: "thermostat", command: "setTarget", params: { celsius }, result };
}

function modeCommand({ traits, name }: Thing, mode: ThermostatMode): PlannedCommand | undefined {
  return (
    traits.thermostat && {
      trait: "thermostat",
      command: "setMode",
      params: { mode },
      result: `${name} is set to ${mode}.`,
    }
  );
}

function stepCommand({ traits, name }: Thing, deltaCelsius: number): PlannedCommand | undefined {
  const result = `${name} is set one degree ${deltaCelsius > 0 ? "warmer" : "cooler"}.`;
  return traits.thermostat && { trait: "thermostat", command: "adjustTarget", params: { deltaCelsius }, result };
}
