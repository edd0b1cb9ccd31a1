/** The traits of Google's devices that Breezeway reads. */
export const traitNames = {
  info: "sdm.devices.traits.Info",
  connectivity: "sdm.devices.traits.Connectivity",
  settings: "sdm.devices.traits.Settings",
  temperature: "sdm.devices.traits.Temperature",
  humidity: "sdm.devices.traits.Humidity",
  fan: "sdm.devices.traits.Fan",
  mode: "sdm.devices.traits.ThermostatMode",
  eco: "sdm.devices.traits.ThermostatEco",
  hvac: "sdm.devices.traits.ThermostatHvac",
  setpoint: "sdm.devices.traits.ThermostatTemperatureSetpoint",
} as const;

/** Of a structure. */
export const structureInfo = "sdm.structures.traits.Info";

/** The type of a thermostat, also while it is offline and shows no traits. */
export const thermostatType = "sdm.devices.types.THERMOSTAT";
