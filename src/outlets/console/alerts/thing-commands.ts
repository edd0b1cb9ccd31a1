import type { ShownThing } from "../tiles/shown-thing.ts";
import { commandWords } from "../tiles/thermostat-words.ts";

/** A command that can be chosen from a list. */
export interface ChosenCommand {
  readonly trait: string;
  readonly command: string;
  readonly params: Readonly<Record<string, string | number | boolean>>;
  readonly words: string;
}

const levels = [0, 25, 50, 75, 100];

/** The commands of a thing that need no present state, with the values that its capabilities name. */
export function commandsOf({ traits }: ShownThing): readonly ChosenCommand[] {
  const modes = traits.thermostat?.capabilities.modes;
  const fanModes = traits.fan?.capabilities.modes;
  return [
    ...(traits.onOff ? [true, false].map((on) => chosen("onOff", "set", { on })) : []),
    ...(traits.brightness ? levels.slice(1).map((percent) => chosen("brightness", "set", { percent })) : []),
    ...(Array.isArray(modes) ? modes.map((mode) => chosen("thermostat", "setMode", { mode: String(mode) })) : []),
    ...(traits.fanTimer ? [chosen("fanTimer", "start", {}), chosen("fanTimer", "stop", {})] : []),
    ...(Array.isArray(fanModes) ? fanModes.map((mode) => chosen("fan", "setMode", { mode: String(mode) })) : []),
    ...(traits.fan && "percent" in traits.fan.state
      ? levels.map((percent) => chosen("fan", "setPercent", { percent }))
      : []),
  ];
}

function chosen(trait: string, command: string, params: ChosenCommand["params"]): ChosenCommand {
  const shown = { thingId: "", state: "", error: null, requestedTime: 0 };
  return { trait, command, params, words: commandWords({ ...shown, trait, command, params }) };
}

/** `onOff set on=true`: a command as the command line writes it. */
export function typedCommand({ trait, command, params }: ChosenCommand): string {
  const values = Object.entries(params).map(([name, value]) => `${name}=${value}`);
  return [trait, command, ...values].join(" ");
}
