import type { Account, Device } from "./account.ts";

const prefix = "sdm.devices.traits.";

/** A thermostat as the first answer of a real one: no name of its own, heating to 20 °C. */
export function addThermostat(account: Account, room: string, { hasFan = true, customName = "" } = {}): Device {
  return account.addDevice(room, "sdm.devices.types.THERMOSTAT", {
    [`${prefix}Info`]: { customName },
    [`${prefix}Connectivity`]: { status: "ONLINE" },
    [`${prefix}Settings`]: { temperatureScale: "CELSIUS" },
    [`${prefix}Humidity`]: { ambientHumidityPercent: 35 },
    [`${prefix}Temperature`]: { ambientTemperatureCelsius: 19.4 },
    [`${prefix}Fan`]: hasFan ? { timerMode: "OFF" } : {},
    [`${prefix}ThermostatMode`]: { mode: "HEAT", availableModes: ["HEAT", "COOL", "HEATCOOL", "OFF"] },
    [`${prefix}ThermostatEco`]: {
      mode: "OFF",
      availableModes: ["OFF", "MANUAL_ECO"],
      heatCelsius: 15.3,
      coolCelsius: 25,
    },
    [`${prefix}ThermostatHvac`]: { status: "OFF" },
    [`${prefix}ThermostatTemperatureSetpoint`]: { heatCelsius: 20 },
  });
}

/** A house with two thermostats, one without a fan, and a doorbell. */
export function furnish(
  account: Account,
  homeName = "Maple Street",
): { readonly hall: Device; readonly attic: Device } {
  const house = account.addStructure(homeName);
  const [hall, attic, door] = ["Hall", "Attic", "Front door"].map((name) => account.addRoom(house, name));
  account.addDevice(door!, "sdm.devices.types.DOORBELL", { [`${prefix}Info`]: { customName: "Bell" } });
  return {
    hall: addThermostat(account, hall!),
    attic: addThermostat(account, attic!, { hasFan: false, customName: "Attic heater" }),
  };
}
