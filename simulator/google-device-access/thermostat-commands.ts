import type { Account, Device, Fields } from "./account.ts";
import { badValue, notNow } from "./refused.ts";

const traitPrefix = "sdm.devices.traits.";
const commandPrefix = "sdm.devices.commands.";
const range = { min: 9, max: 32, gap: 1.5 };
const longestTimerSeconds = 43_200;

interface Ordered {
  readonly account: Account;
  readonly device: Device;
  readonly params: Fields;
  readonly nowMs: number;
}

/** Carries out `executeCommand` for a thermostat, by Google's rules. The events tell the new state. */
export function executeCommand(
  account: Account,
  device: Device,
  command: unknown,
  params: Fields,
  nowMs: number,
): void {
  const act = typeof command === "string" ? commands[command.replace(commandPrefix, "")] : undefined;
  if (!act) throw badValue("Invalid command name.");
  if (traitOf(device, "Connectivity").status === "OFFLINE") throw notNow("The device is not available.");
  act({ account, device, params, nowMs });
}

const commands: Readonly<Record<string, (ordered: Ordered) => void>> = {
  "Fan.SetTimer": setFanTimer,
  "ThermostatMode.SetMode": setMode,
  "ThermostatEco.SetMode": setEco,
  "ThermostatTemperatureSetpoint.SetHeat": (ordered) => setTargets(ordered, "HEAT", ["heatCelsius"]),
  "ThermostatTemperatureSetpoint.SetCool": (ordered) => setTargets(ordered, "COOL", ["coolCelsius"]),
  "ThermostatTemperatureSetpoint.SetRange": (ordered) =>
    setTargets(ordered, "HEATCOOL", ["heatCelsius", "coolCelsius"]),
};

function setFanTimer({ account, device, params, nowMs }: Ordered): void {
  if (traitOf(device, "Fan").timerMode === undefined) throw notNow("Thermostat fan unavailable.");
  if (params.timerMode !== "ON" && params.timerMode !== "OFF") throw badValue("Invalid value for timerMode.");
  if (params.timerMode === "OFF") {
    account.replace(device.name, { [`${traitPrefix}Fan`]: { timerMode: "OFF" } });
    return;
  }
  const { duration = "900s" } = params;
  const seconds = typeof duration === "string" && /^\d+s$/.test(duration) ? Number.parseInt(duration, 10) : 0;
  if (seconds < 1 || seconds > longestTimerSeconds) throw badValue("Invalid value for duration.");
  const timerTimeout = new Date(nowMs + seconds * 1_000).toISOString();
  account.replace(device.name, { [`${traitPrefix}Fan`]: { timerMode: "ON", timerTimeout } });
  setTimeout(
    () => {
      if (traitOf(device, "Fan").timerTimeout === timerTimeout) {
        account.replace(device.name, { [`${traitPrefix}Fan`]: { timerMode: "OFF" } });
      }
    },
    Math.min(seconds * 1_000, 2 ** 31 - 1),
  ).unref();
}

function setMode({ account, device, params }: Ordered): void {
  const { mode } = params;
  const { availableModes } = traitOf(device, "ThermostatMode");
  if (!Array.isArray(availableModes) || !availableModes.includes(mode)) throw badValue("Invalid value for mode.");
  if (isEco(device)) throw notNow("Command not allowed when thermostat in MANUAL_ECO mode.");
  const setpoint = setpointFor(device, String(mode));
  account.change(
    device.name,
    { [`${traitPrefix}ThermostatMode`]: { mode } },
    { [`${traitPrefix}ThermostatMode`]: { mode } },
  );
  account.replace(device.name, { [`${traitPrefix}ThermostatTemperatureSetpoint`]: setpoint });
  settleHvac(account, device);
}

function setEco({ account, device, params }: Ordered): void {
  const { mode } = params;
  if (mode !== "MANUAL_ECO" && mode !== "OFF") throw badValue("Invalid value for mode.");
  const { mode: own } = traitOf(device, "ThermostatMode");
  if (own === "OFF") throw notNow("Command not allowed in current thermostat mode.");
  account.change(device.name, { [`${traitPrefix}ThermostatEco`]: { mode } });
  const setpoint = mode === "OFF" ? setpointFor(device, String(own)) : {};
  account.replace(device.name, { [`${traitPrefix}ThermostatTemperatureSetpoint`]: setpoint });
  settleHvac(account, device);
}

function setTargets({ account, device, params }: Ordered, mode: string, members: readonly string[]): void {
  if (isEco(device)) throw notNow("Command not allowed when thermostat in MANUAL_ECO mode.");
  if (traitOf(device, "ThermostatMode").mode !== mode) throw notNow("Command not allowed in current thermostat mode.");
  const targets = Object.fromEntries(members.map((member) => [member, params[member]]));
  for (const value of Object.values(targets)) {
    if (typeof value !== "number" || value < range.min || value > range.max) {
      throw badValue("Temperature must be between 9 and 32 degrees Celsius.");
    }
  }
  const { heatCelsius, coolCelsius } = targets as Record<string, number>;
  if (heatCelsius !== undefined && coolCelsius !== undefined && coolCelsius - heatCelsius < range.gap) {
    throw badValue("Cool value must be greater than heat value.");
  }
  device.remembered = { ...device.remembered, ...targets };
  account.replace(device.name, { [`${traitPrefix}ThermostatTemperatureSetpoint`]: targets });
  settleHvac(account, device);
}

/** Setpoints that are in force in a mode. In OFF and in eco there are none. */
function setpointFor({ remembered: { heatCelsius, coolCelsius } }: Device, mode: string): Fields {
  if (mode === "HEAT") return { heatCelsius };
  if (mode === "COOL") return { coolCelsius };
  return mode === "HEATCOOL" ? { heatCelsius, coolCelsius } : {};
}

/** The equipment follows, in an event of its own. */
export function settleHvac(account: Account, device: Device): void {
  const { heatCelsius, coolCelsius } = traitOf(device, "ThermostatTemperatureSetpoint");
  const ambient = Number(traitOf(device, "Temperature").ambientTemperatureCelsius);
  const isCold = typeof heatCelsius === "number" && ambient < heatCelsius;
  const isHot = typeof coolCelsius === "number" && ambient > coolCelsius;
  const status = isCold ? "HEATING" : isHot ? "COOLING" : "OFF";
  if (traitOf(device, "ThermostatHvac").status === status) return;
  account.change(device.name, { [`${traitPrefix}ThermostatHvac`]: { status } });
}

function isEco(device: Device): boolean {
  return traitOf(device, "ThermostatEco").mode === "MANUAL_ECO";
}

export function traitOf(device: Device, name: string): Fields {
  return device.traits[`${traitPrefix}${name}`] ?? {};
}
