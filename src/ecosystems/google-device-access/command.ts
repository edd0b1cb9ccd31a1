import type { Step, StepOf } from "../../home/command-plan.ts";
import type { ThermostatMode } from "../../home/traits/thermostat.ts";

export interface GoogleCommand {
  readonly command: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Google's command for a step; undefined when it has none. */
export function commandFor(step: Step): GoogleCommand | undefined {
  if (step.trait === "fanTimer") return fanCommand(step);
  return step.trait === "thermostat" ? thermostatCommand(step.set) : undefined;
}

function fanCommand({ set, forMinutes }: StepOf<"fanTimer">): GoogleCommand {
  if (set.active !== true) return command("Fan.SetTimer", { timerMode: "OFF" });
  const duration = forMinutes === undefined ? {} : { duration: `${forMinutes * 60}s` };
  return command("Fan.SetTimer", { timerMode: "ON", ...duration });
}

function thermostatCommand(set: StepOf<"thermostat">["set"]): GoogleCommand | undefined {
  const { mode, heatCelsius, coolCelsius } = set;
  if (mode === "eco") return command("ThermostatEco.SetMode", { mode: "MANUAL_ECO" });
  // Eco hides the mode below it. Ending eco shows that mode again.
  if (mode && set.baseMode === null) return command("ThermostatEco.SetMode", { mode: "OFF" });
  if (mode) return words[mode] === undefined ? undefined : command("ThermostatMode.SetMode", { mode: words[mode] });
  const [hasHeat, hasCool] = [typeof heatCelsius === "number", typeof coolCelsius === "number"];
  if (hasHeat && hasCool) return command("ThermostatTemperatureSetpoint.SetRange", { heatCelsius, coolCelsius });
  if (hasHeat) return command("ThermostatTemperatureSetpoint.SetHeat", { heatCelsius });
  return hasCool ? command("ThermostatTemperatureSetpoint.SetCool", { coolCelsius }) : undefined;
}

const words: Readonly<Partial<Record<ThermostatMode, string>>> = {
  off: "OFF",
  heat: "HEAT",
  cool: "COOL",
  heatCool: "HEATCOOL",
};

function command(name: string, params: Readonly<Record<string, unknown>>): GoogleCommand {
  return { command: `sdm.devices.commands.${name}`, params };
}
