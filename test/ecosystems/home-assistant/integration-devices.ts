/**
 * Devices as integrations of Home Assistant show them. States and attributes follow the records of Home Assistant's own
 * tests (`tests/components/<integration>/snapshots`), reduced to what Breezeway reads.
 */
export interface IntegrationDevice {
  /** The version of Home Assistant; a recent one when left out. */
  readonly version?: string;
  readonly entities: Readonly<Record<string, IntegrationEntity>>;
}

interface IntegrationEntity {
  readonly state: string;
  readonly originalName?: string;
  readonly category?: "diagnostic";
  readonly attributes: Readonly<Record<string, unknown>>;
}

const netatmo = {
  min_temp: 7,
  max_temp: 30,
  target_temp_step: 0.5,
  preset_modes: ["away", "boost", "frost_guard", "schedule"],
  supported_features: 401,
};

const matterFanModes = ["low", "medium", "high", "auto"];

const climates = {
  "netatmo: a thermostat": {
    "climate.livingroom": {
      state: "auto",
      attributes: {
        ...netatmo,
        hvac_modes: ["auto", "heat", "off"],
        current_temperature: 19.8,
        temperature: 12,
        preset_mode: "away",
      },
    },
  },
  "netatmo: a valve without the mode off": {
    "climate.cocina": {
      state: "auto",
      attributes: {
        ...netatmo,
        hvac_modes: ["auto", "heat"],
        current_temperature: 27,
        temperature: 7,
        preset_mode: "frost_guard",
      },
    },
  },
  "netatmo: a valve that does not answer": {
    "climate.bureau": { state: "unavailable", attributes: { ...netatmo, hvac_modes: ["auto", "heat"] } },
  },
  "sensibo: an air conditioner without targets": {
    "climate.kitchen": {
      state: "fan_only",
      attributes: {
        current_temperature: null,
        fan_mode: "low",
        fan_modes: ["low", "high"],
        hvac_modes: ["fan_only", "off"],
        min_temp: 0,
        max_temp: 1,
        target_temp_step: 1,
        supported_features: 392,
      },
    },
  },
  "sensibo: a device that can only be off": {
    "climate.bedroom": {
      state: "off",
      attributes: {
        current_temperature: null,
        hvac_modes: ["off"],
        min_temp: 0,
        max_temp: 1,
        target_temp_step: 1,
        supported_features: 384,
      },
    },
  },
  "sensibo: an air conditioner without the fan mode on": {
    "climate.hallway": {
      state: "heat",
      attributes: {
        current_humidity: 32.9,
        current_temperature: 21.2,
        fan_mode: "high",
        fan_modes: ["quiet", "low", "medium"],
        hvac_modes: ["cool", "heat", "dry", "heat_cool", "fan_only", "off"],
        min_temp: 10,
        max_temp: 20,
        target_temp_step: 1,
        temperature: 25,
        supported_features: 937,
      },
    },
  },
  "tesla_fleet: the overheat protection of a car whose target is fixed": {
    "climate.test_cabin_overheat_protection": {
      state: "cool",
      attributes: {
        current_temperature: 30,
        hvac_modes: ["off", "cool", "fan_only"],
        min_temp: 30,
        max_temp: 40,
        target_temp_step: 5,
        supported_features: 384,
      },
    },
  },
  "flexit_bacnet: a ventilation unit with a target": {
    "climate.device_name": {
      state: "fan_only",
      attributes: {
        current_temperature: 19,
        hvac_action: "heating",
        hvac_modes: ["off", "fan_only"],
        min_temp: 10,
        max_temp: 30,
        target_temp_step: 0.5,
        temperature: 22,
        preset_mode: "high",
        preset_modes: ["away", "home", "high", "fireplace"],
        supported_features: 401,
      },
    },
  },
  "honeywell: a thermostat with a fan of its own": {
    "climate.device1": {
      state: "heat",
      attributes: {
        current_humidity: 50,
        current_temperature: 20,
        fan_mode: "auto",
        fan_modes: ["on", "auto", "diffuse"],
        hvac_modes: ["off", "heat_cool", "cool", "heat"],
        min_temp: 7,
        max_temp: 35,
        target_temp_high: null,
        target_temp_low: null,
        temperature: 20,
        preset_mode: "none",
        preset_modes: ["none", "away", "hold"],
        supported_features: 415,
      },
    },
  },
  "matter: a thermostat with two targets": {
    "climate.mock_thermostat": {
      state: "heat_cool",
      attributes: {
        current_temperature: 18,
        hvac_action: "heating",
        hvac_modes: ["off", "heat", "cool", "heat_cool"],
        min_temp: 7,
        max_temp: 32,
        target_temp_high: 26,
        target_temp_low: 20,
        temperature: null,
        supported_features: 387,
      },
    },
  },
  "esphome: a thermostat that has only two targets": {
    "climate.two_point": {
      state: "cool",
      attributes: {
        current_temperature: 18,
        hvac_modes: ["off", "heat", "cool", "heat_cool"],
        min_temp: 7,
        max_temp: 32,
        target_temp_high: 26,
        target_temp_low: 20,
        supported_features: 386,
      },
    },
  },
  "nibe_heatpump: a heat pump without the mode off": {
    "climate.f1155": {
      state: "heat",
      attributes: {
        current_temperature: 20.5,
        hvac_action: "heating",
        hvac_modes: ["auto", "heat", "heat_cool"],
        min_temp: 5,
        max_temp: 35,
        target_temp_high: null,
        target_temp_low: null,
        target_temp_step: 0.5,
        temperature: 21,
        supported_features: 3,
      },
    },
  },
};

const climatesWithFans = {
  "matter: an air conditioner with one fan": {
    "climate.room_airconditioner": {
      state: "cool",
      attributes: {
        current_temperature: 20,
        hvac_modes: ["off", "heat", "cool", "dry", "fan_only", "heat_cool"],
        min_temp: 16,
        max_temp: 32,
        temperature: 20,
        supported_features: 385,
      },
    },
    "fan.room_airconditioner": {
      state: "off",
      attributes: {
        percentage: 0,
        percentage_step: 33.333333333333336,
        preset_mode: null,
        preset_modes: matterFanModes,
        supported_features: 57,
      },
    },
  },
  "balboa: a spa with a pump": {
    "climate.fakespa": {
      state: "heat",
      attributes: {
        current_temperature: 10,
        hvac_action: "idle",
        hvac_modes: ["heat", "off"],
        min_temp: 10,
        max_temp: 40,
        preset_mode: "ready",
        preset_modes: ["ready", "rest"],
        temperature: 40,
        supported_features: 401,
      },
    },
    "fan.fakespa_pump_1": {
      state: "off",
      originalName: "Pump 1",
      attributes: { percentage: 0, percentage_step: 50, preset_mode: null, preset_modes: null, supported_features: 49 },
    },
  },
};

const fans = {
  "vicare: a ventilation that is always on": {
    "fan.model0_ventilation": {
      state: "on",
      originalName: "Ventilation",
      attributes: {
        percentage: 0,
        percentage_step: 25,
        preset_mode: null,
        preset_modes: ["permanent", "ventilation", "sensor_driven", "sensor_override"],
        supported_features: 9,
      },
    },
  },
  "duco: a ventilation in its mode auto": {
    "fan.living": {
      state: "on",
      attributes: {
        percentage: null,
        percentage_step: 33.333333333333336,
        preset_mode: "auto",
        preset_modes: ["auto", "man1", "man2", "man3", "empt"],
        supported_features: 9,
      },
    },
  },
  "netatmo: a ventilation that has only modes": {
    "fan.centralized_ventilation_controler": {
      state: "on",
      attributes: { preset_mode: "slow", preset_modes: ["slow", "fast"], supported_features: 8 },
    },
  },
  "matter: a range hood without speeds": {
    "fan.sl_rangehood": {
      state: "off",
      attributes: { preset_mode: null, preset_modes: ["low", "medium", "high"], supported_features: 56 },
    },
  },
  "smartthings: a fan with three speeds": {
    "fan.bedroom_fan": {
      state: "off",
      attributes: {
        percentage: 0,
        percentage_step: 33.333333333333336,
        preset_mode: null,
        preset_modes: null,
        supported_features: 49,
      },
    },
  },
  "vesync: a purifier that sleeps": {
    "fan.air_purifier_131s": {
      state: "on",
      attributes: {
        percentage: null,
        percentage_step: 33.333333333333336,
        preset_mode: "sleep",
        preset_modes: ["auto", "sleep"],
        supported_features: 57,
      },
    },
  },
};

const lights = {
  "deconz: a light that can be dimmed": {
    "light.dimmable_light": {
      state: "on",
      attributes: { brightness: 255, color_mode: "brightness", supported_color_modes: ["brightness"] },
    },
  },
  "deconz: a tunable light that does not tell its brightness": {
    "light.tunable_white_light": {
      state: "on",
      attributes: { brightness: null, color_mode: "color_temp", supported_color_modes: ["color_temp"] },
    },
  },
  "deconz: a light that can only be switched": {
    "light.on_off_light": {
      state: "on",
      attributes: { color_mode: "onoff", supported_color_modes: ["onoff"], supported_features: 40 },
    },
  },
};

const detectors = {
  "matter: a smoke detector": {
    "binary_sensor.smoke_sensor_smoke": {
      state: "off",
      originalName: "Smoke",
      attributes: { device_class: "smoke", friendly_name: "Smoke sensor Smoke" },
    },
  },
  "tuya: a door": {
    "binary_sensor.door_garage": { state: "off", attributes: { device_class: "door" } },
  },
};

const covers = {
  "matter: an awning that lifts and tilts": {
    "cover.mock_full_window_covering": {
      state: "open",
      attributes: {
        current_position: 100,
        current_tilt_position: 100,
        device_class: "awning",
        supported_features: 143,
      },
    },
  },
  "netatmo: a shutter that has no position": {
    "cover.mhs1_shutter": {
      state: "unknown",
      attributes: { device_class: "shutter", is_closed: null, supported_features: 11 },
    },
  },
};

const current = { ...climates, ...climatesWithFans, ...fans, ...lights, ...detectors, ...covers };

/** By integration and kind. */
export const integrationDevices: ReadonlyMap<string, IntegrationDevice> = new Map<string, IntegrationDevice>([
  ...Object.entries(current).map(([name, entities]) => [name, { entities }] as const),
  [
    "a fan of a version before 2024.8",
    {
      version: "2024.7.4",
      entities: {
        "fan.attic": {
          state: "on",
          attributes: { percentage: 50, percentage_step: 25, preset_modes: null, supported_features: 1 },
        },
      },
    },
  ],
]);
