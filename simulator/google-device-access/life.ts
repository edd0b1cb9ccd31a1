import type { Account } from "./account.ts";
import { settleHvac, traitOf } from "./thermostat-commands.ts";

const prefix = "sdm.devices.traits.";

/** A home that lives: rooms warm up and cool down, and the equipment follows. Returns how to end it. */
export function startLife(account: Account, everyMs: number): () => void {
  const timer = setInterval(() => live(account), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** One step of life for every thermostat. */
export function live(account: Account): void {
  for (const device of account.devices.values()) {
    const before = traitOf(device, "Temperature").ambientTemperatureCelsius;
    if (typeof before !== "number" || traitOf(device, "Connectivity").status !== "ONLINE") continue;
    const { status } = traitOf(device, "ThermostatHvac");
    const drift = status === "HEATING" ? 0.2 : status === "COOLING" ? -0.2 : before > 17 ? -0.1 : 0.1;
    const ambientTemperatureCelsius = Math.round((before + drift) * 100) / 100;
    account.change(device.name, { [`${prefix}Temperature`]: { ambientTemperatureCelsius } });
    settleHvac(account, device);
  }
}
