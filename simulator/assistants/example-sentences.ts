import { spokenName } from "./spoken-names.ts";

/** A device, as far as sentences need it. */
export interface Speakable {
  readonly name: string;
  /** What can be switched: the device itself, or a part of it with its own word, such as `fan`. */
  readonly switches?: { readonly isOn: boolean; readonly part?: string | undefined; readonly isFan: boolean };
  readonly thermostat?: { readonly mode: string };
  readonly isDimmable?: boolean;
  readonly measuresTemperature?: boolean;
}

/** One sentence of each kind that fits one of the devices. */
export function exampleSentences(devices: readonly Speakable[]): readonly string[] {
  const sorted = devices.toSorted((a, b) => a.name.localeCompare(b.name));
  const spoken = ({ name }: Speakable) => {
    const short = spokenName(name);
    const sameKind = (one: Speakable) => spokenName(one.name) === short;
    return sorted.filter(sameKind).length > 1 ? name.toLowerCase() : short;
  };
  const switching = (device: Speakable | undefined) => {
    if (!device?.switches) return [];
    const { isOn, part } = device.switches;
    return [`turn ${isOn ? "off" : "on"} the ${spoken(device)}${part === undefined ? "" : ` ${part}`}`];
  };
  const fan = sorted.findLast(({ switches }) => switches?.isFan);
  const other = sorted.find(({ switches }) => switches && !switches.isFan);
  const thermostat = sorted.find((device) => device.thermostat);
  const meter = sorted.find(({ measuresTemperature }) => measuresTemperature);
  const light = sorted.find(({ isDimmable }) => isDimmable);
  return [
    ...switching(fan),
    ...(thermostat ? targetSentences(spoken(thermostat), thermostat.thermostat!.mode) : []),
    ...(meter ? [`what is the temperature in the ${spoken(meter)}`] : []),
    ...switching(other),
    ...(light ? [`dim the ${spoken(light)} to 40 percent`] : []),
  ];
}

/** A target needs a mode with one target. */
function targetSentences(name: string, mode: string): readonly string[] {
  const target = `set the ${name} to 21`;
  return ["heat", "cool"].includes(mode) ? [target] : [`set the ${name} to heat`, target];
}
