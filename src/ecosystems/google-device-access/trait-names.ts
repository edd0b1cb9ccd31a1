import type { Projection } from "../../runtime/json/projection.ts";

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

const modes: Projection = { each: true, limit: 16 };

/** The fields of these traits that Breezeway reads. Others are not kept: an account can have any number of them. */
export const readTraits: Projection = {
  pick: {
    [traitNames.info]: { pick: { customName: true } },
    [traitNames.connectivity]: { pick: { status: true } },
    [traitNames.settings]: { pick: { temperatureScale: true } },
    [traitNames.temperature]: { pick: { ambientTemperatureCelsius: true } },
    [traitNames.humidity]: { pick: { ambientHumidityPercent: true } },
    [traitNames.fan]: { pick: { timerMode: true, timerTimeout: true } },
    [traitNames.mode]: { pick: { mode: true, availableModes: modes } },
    [traitNames.eco]: { pick: { mode: true, availableModes: modes, heatCelsius: true, coolCelsius: true } },
    [traitNames.hvac]: { pick: { status: true } },
    [traitNames.setpoint]: { pick: { heatCelsius: true, coolCelsius: true } },
  },
};

/** The type of a thermostat, also while it is offline and shows no traits. */
export const thermostatType = "sdm.devices.types.THERMOSTAT";
