import type { SpokenMode, Wish } from "../assistants/sentence.ts";
import { meant } from "../assistants/spoken-names.ts";

/** A device of the last SYNC. */
export interface SyncedDevice {
  readonly id: string;
  readonly type: string;
  readonly traits: readonly string[];
  readonly name: { readonly name: string };
  readonly roomHint?: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface Execution {
  readonly command: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** An intent for one device: EXECUTE with a command, or QUERY without. */
export interface PlannedIntent {
  readonly device: SyncedDevice;
  readonly execution?: Execution;
}

/** Whether a reported state shows what a command set. The effect of a relative change can't be told from a state. */
export function showsEffect({ params }: Execution, state: Readonly<Record<string, unknown>>): boolean {
  const set = Object.entries(params).filter(([name]) => !name.includes("Relative"));
  return state.online === true && set.every(([name, value]) => state[name] === value);
}

export function hasTrait({ traits }: SyncedDevice, name: string): boolean {
  return traits.includes(`action.devices.traits.${name}`);
}

/** An intent that fits the wish, for each device that it could mean. */
export function intentsFor(wish: Wish, devices: readonly SyncedDevice[]): readonly PlannedIntent[] {
  const { traits, command, params } = requested(wish);
  const able = devices.filter(
    (device) => traits.some((trait) => hasTrait(device, trait)) && (!command || isCommandable(device)),
  );
  return meant(
    wish.name,
    able.map((device) => ({ name: device.name.name, room: device.roomHint, device })),
  ).map(({ device }) => ({
    device,
    ...(command && { execution: { command: `action.devices.commands.${command}`, params: params ?? {} } }),
  }));
}

/** A device that can only be asked says so in its attributes. */
function isCommandable({ attributes }: SyncedDevice): boolean {
  return !Object.entries(attributes).some(
    ([name, value]) => (name === "queryOnlyOnOff" || name === "queryOnlyTemperatureSetting") && value === true,
  );
}

interface Requested {
  /** The device must have one of these. */
  readonly traits: readonly string[];
  readonly command?: string;
  readonly params?: Execution["params"];
}

function requested(wish: Wish): Requested {
  const thermostat = ["TemperatureSetting"];
  switch (wish.kind) {
    case "switch":
      return { traits: ["OnOff"], command: "OnOff", params: { on: wish.isOn } };
    case "setTemperature": {
      const params = { thermostatTemperatureSetpoint: wish.celsius };
      return { traits: thermostat, command: "ThermostatTemperatureSetpoint", params };
    }
    case "adjustTemperature": {
      const params = { thermostatTemperatureRelativeDegree: wish.deltaCelsius };
      return { traits: thermostat, command: "TemperatureRelative", params };
    }
    case "setMode":
      return { traits: thermostat, command: "ThermostatSetMode", params: { thermostatMode: modeNames[wish.mode] } };
    case "setBrightness":
      return { traits: ["Brightness"], command: "BrightnessAbsolute", params: { brightness: wish.percent } };
    case "askTemperature":
      return { traits: ["TemperatureSetting", "TemperatureControl"] };
    case "askState":
      return { traits: ["OnOff"] };
  }
}

const modeNames: Readonly<Record<SpokenMode, string>> = {
  heat: "heat",
  cool: "cool",
  auto: "heatcool",
  eco: "eco",
  off: "off",
};
