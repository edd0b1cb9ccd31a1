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

/** The measured values as in `21.5 °C, 45 % humidity`. A value that the ecosystem did not tell is left out. */
export function climateWords({ traits: { temperature, humidity } }: ShownThing): string {
  const percent = humidity?.state.percent?.value;
  const words = [celsius(temperature?.state.celsius), typeof percent === "number" ? `${percent} % humidity` : ""];
  return words.filter((word) => word !== "").join(", ") || "Temperature unknown";
}

/** `Heat, target 20 °C`: the mode with its targets. */
export function modeWords({ traits: { thermostat } }: ShownThing): string {
  const { mode, targetCelsius, heatCelsius, coolCelsius, ecoHeatCelsius, ecoCoolCelsius } = thermostat?.state ?? {};
  if (!mode?.value) return "Mode unknown";
  const pair = { heatCool: [heatCelsius, coolCelsius], eco: [ecoHeatCelsius, ecoCoolCelsius], off: [] };
  const targets = pair[mode.value as keyof typeof pair] ?? [targetCelsius];
  const shown = targets.map(celsius).filter((target) => target !== "");
  return `${modeName(mode.value)}${shown.length === 0 ? "" : `, target ${shown.join(" to ")}`}`;
}

function celsius(field: ShownField | undefined): string {
  return typeof field?.value === "number" ? `${field.value} °C` : "";
}

/** What was requested, in the words of the buttons. */
export function commandWords({ trait, command, params }: ShownReceipt): string {
  switch (`${trait}.${command}`) {
    case "fanTimer.start":
      return "Run fan";
    case "fanTimer.stop":
      return "Stop fan";
    case "thermostat.setMode":
      return `Mode ${modeName(params.mode)}`;
    case "thermostat.adjustTarget":
      return `${Number(params.deltaCelsius) < 0 ? "Cooler" : "Warmer"} by ${Math.abs(Number(params.deltaCelsius))} °C`;
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
