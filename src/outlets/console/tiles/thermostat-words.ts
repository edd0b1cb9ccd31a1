import type { ShownField, ShownReceipt, ShownThing } from "./shown-thing.ts";

const modeNames: Readonly<Record<string, string>> = {
  off: "Off",
  heat: "Heat",
  cool: "Cool",
  heatCool: "Heat and cool",
  auto: "Auto",
  eco: "Eco",
  dry: "Dry",
  fanOnly: "Fan only",
};

export const modeName = (mode: unknown) => modeNames[String(mode)] ?? "Unknown";

/** Whether the mode has a target that a command can change. */
export function hasTarget({ traits: { thermostat } }: ShownThing): boolean {
  return ["heat", "cool", "heatCool", "auto"].includes(String(thermostat?.state.mode?.value));
}

/** The unit in which the thing itself shows temperatures; Celsius when it does not tell. */
export function unitOf({ traits: { thermostat, temperature } }: Pick<ShownThing, "traits">): TemperatureUnit {
  return (thermostat?.capabilities.unit ?? temperature?.capabilities.unit) === "F" ? "F" : "C";
}

type TemperatureUnit = "C" | "F";

/** The measured values as in `21.5 °C, 45 % humidity`. A value that the ecosystem did not tell is left out. */
export function climateWords(thing: ShownThing): string {
  const { temperature, humidity } = thing.traits;
  const percent = humidity?.state.percent?.value;
  const words = [
    temperatureWords(temperature?.state.celsius, unitOf(thing)),
    typeof percent === "number" ? `${percent} % humidity` : "",
  ];
  return words.filter((word) => word !== "").join(", ") || "Temperature unknown";
}

/** `Heat, target 20 °C`: the mode with its targets. */
export function modeWords(thing: ShownThing): string {
  const { thermostat } = thing.traits;
  const { mode, targetCelsius, heatCelsius, coolCelsius, ecoHeatCelsius, ecoCoolCelsius } = thermostat?.state ?? {};
  if (!mode?.value) return "Mode unknown";
  const pair = { heatCool: [heatCelsius, coolCelsius], eco: [ecoHeatCelsius, ecoCoolCelsius], off: [] };
  const targets = pair[mode.value as keyof typeof pair] ?? [targetCelsius];
  const shown = targets.map((target) => temperatureWords(target, unitOf(thing))).filter((target) => target !== "");
  return `${modeName(mode.value)}${shown.length === 0 ? "" : `, target ${shown.join(" to ")}`}`;
}

/** `21.5 °C`, `70.7 °F`. */
function temperatureWords(field: ShownField | undefined, unit: TemperatureUnit): string {
  if (typeof field?.value !== "number") return "";
  return `${oneDecimal(unit === "F" ? field.value * 1.8 + 32 : field.value)} °${unit}`;
}

const oneDecimal = (value: number) => Math.round(value * 10) / 10;

/** What was requested, in the words of the buttons. */
export function commandWords({ trait, command, params }: ShownReceipt, unit: TemperatureUnit = "C"): string {
  switch (`${trait}.${command}`) {
    case "fanTimer.start":
      return "Run fan";
    case "fanTimer.stop":
      return "Stop fan";
    case "thermostat.setMode":
      return `Mode ${modeName(params.mode)}`;
    case "thermostat.adjustTarget":
      return `${Number(params.deltaCelsius) < 0 ? "Cooler" : "Warmer"} by ${oneDecimal(Math.abs(Number(params.deltaCelsius)) * (unit === "F" ? 1.8 : 1))} °${unit}`;
    case "fan.setMode":
      return `Fan ${params.mode}`;
    case "fan.setPercent":
    case "brightness.set":
      return `Set to ${params.percent} %`;
    case "fan.adjustPercent":
      return `${Number(params.deltaPercent) < 0 ? "Slower" : "Faster"} by ${Math.abs(Number(params.deltaPercent))} %`;
    case "brightness.adjust":
      return `${Number(params.deltaPercent) < 0 ? "Darker" : "Brighter"} by ${Math.abs(Number(params.deltaPercent))} %`;
    case "onOff.set":
      return params.on === true ? "Switch on" : "Switch off";
    default:
      return `${trait} ${command}`;
  }
}
