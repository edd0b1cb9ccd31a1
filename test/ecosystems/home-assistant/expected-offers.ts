/** What a thing offers: its traits with their capabilities, and the service call or the error of each command. */
export interface Offer {
  readonly traits: readonly string[];
  readonly commands: Readonly<Record<string, string>>;
}

const noTarget = "notSupported: it has no target temperature that can be set";
const onlyPairs = "notSupported: it has targets only in the mode heatCool";
const noPresets = "notSupported: the thing has no presets";
const noModes = "notSupported: the fan has no modes";
const noSpeed = "notSupported: the fan has no speed";
const notSwitchable = "notSupported: it can't be switched from outside";

/** The things of each device in integration-devices.ts, by kind. Covers and doors are no things. */
export const expectedOffers: Readonly<Record<string, Readonly<Record<string, Offer>>>> = {
  "netatmo: a thermostat": {
    thermostat: {
      traits: ["thermostat: auto heat off; away boost frost_guard schedule; one target; 7 to 30", "temperature"],
      commands: {
        "mode off": "climate.set_hvac_mode hvac_mode=off",
        "mode heat": "climate.set_hvac_mode hvac_mode=heat",
        "target 22": "climate.set_temperature temperature=22",
        "up by 1": "climate.set_temperature temperature=13",
        "targets 21 and 25": "notInMode auto",
        "preset away": "climate.set_preset_mode preset_mode=away",
      },
    },
  },
  "netatmo: a valve without the mode off": {
    thermostat: {
      traits: ["thermostat: auto heat; away boost frost_guard schedule; one target; 7 to 30", "temperature"],
      commands: {
        "mode off": "modeNotSupported",
        "mode heat": "climate.set_hvac_mode hvac_mode=heat",
        "target 22": "climate.set_temperature temperature=22",
        "up by 1": "climate.set_temperature temperature=8",
        "targets 21 and 25": "notInMode auto",
        "preset away": "climate.set_preset_mode preset_mode=away",
      },
    },
  },
  "netatmo: a valve that does not answer": {
    thermostat: {
      traits: [],
      commands: {},
    },
  },
  "sensibo: an air conditioner without targets": {
    thermostat: {
      traits: ["thermostat: fanOnly off; no presets; no target; no range", "fan: low high; no speed"],
      commands: {
        "mode off": "climate.set_hvac_mode hvac_mode=off",
        "mode heat": "modeNotSupported",
        "target 22": noTarget,
        "up by 1": noTarget,
        "targets 21 and 25": noTarget,
        "preset away": noPresets,
        "fan on": "modeNotSupported",
        "fan auto": "modeNotSupported",
        "speed 50": noSpeed,
      },
    },
  },
  "sensibo: a device that can only be off": {
    thermostat: {
      traits: ["thermostat: off; no presets; no target; no range"],
      commands: {
        "mode off": "climate.set_hvac_mode hvac_mode=off",
        "mode heat": "modeNotSupported",
        "target 22": noTarget,
        "up by 1": noTarget,
        "targets 21 and 25": noTarget,
        "preset away": noPresets,
      },
    },
  },
  "sensibo: an air conditioner without the fan mode on": {
    thermostat: {
      traits: [
        "thermostat: cool heat dry heatCool fanOnly off; no presets; one target; 10 to 20",
        "temperature",
        "humidity",
        "fan: quiet low medium; no speed",
      ],
      commands: {
        "mode off": "climate.set_hvac_mode hvac_mode=off",
        "mode heat": "climate.set_hvac_mode hvac_mode=heat",
        "target 22": "outOfRange",
        "up by 1": "outOfRange",
        "targets 21 and 25": "notInMode heat",
        "preset away": noPresets,
        "fan on": "modeNotSupported",
        "fan auto": "modeNotSupported",
        "speed 50": noSpeed,
      },
    },
  },
  "tesla_fleet: the overheat protection of a car whose target is fixed": {
    thermostat: {
      traits: ["thermostat: off cool fanOnly; no presets; no target; no range", "temperature"],
      commands: {
        "mode off": "climate.set_hvac_mode hvac_mode=off",
        "mode heat": "modeNotSupported",
        "target 22": noTarget,
        "up by 1": noTarget,
        "targets 21 and 25": noTarget,
        "preset away": noPresets,
      },
    },
  },
  "flexit_bacnet: a ventilation unit with a target": {
    thermostat: {
      traits: ["thermostat: off fanOnly; away home high fireplace; one target; 10 to 30", "temperature"],
      commands: {
        "mode off": "climate.set_hvac_mode hvac_mode=off",
        "mode heat": "modeNotSupported",
        "target 22": "notInMode fanOnly",
        "up by 1": "notInMode fanOnly",
        "targets 21 and 25": "notInMode fanOnly",
        "preset away": "climate.set_preset_mode preset_mode=away",
      },
    },
  },
  "honeywell: a thermostat with a fan of its own": {
    thermostat: {
      traits: [
        "thermostat: off heatCool cool heat; none away hold; one target, two targets; 7 to 35",
        "temperature",
        "humidity",
        "fan: on auto diffuse; no speed",
      ],
      commands: {
        "mode off": "climate.set_hvac_mode hvac_mode=off",
        "mode heat": "climate.set_hvac_mode hvac_mode=heat",
        "target 22": "climate.set_temperature temperature=22",
        "up by 1": "climate.set_temperature temperature=21",
        "targets 21 and 25": "notInMode heat",
        "preset away": "climate.set_preset_mode preset_mode=away",
        "fan on": "climate.set_fan_mode fan_mode=on",
        "fan auto": "climate.set_fan_mode fan_mode=auto",
        "speed 50": noSpeed,
      },
    },
  },
  "matter: a thermostat with two targets": {
    thermostat: {
      traits: ["thermostat: off heat cool heatCool; no presets; one target, two targets; 7 to 32", "temperature"],
      commands: {
        "mode off": "climate.set_hvac_mode hvac_mode=off",
        "mode heat": "climate.set_hvac_mode hvac_mode=heat",
        "target 22": "climate.set_temperature target_temp_low=19 target_temp_high=25",
        "up by 1": "climate.set_temperature target_temp_low=21 target_temp_high=27",
        "targets 21 and 25": "climate.set_temperature target_temp_low=21 target_temp_high=25",
        "preset away": noPresets,
      },
    },
  },
  "esphome: a thermostat that has only two targets": {
    thermostat: {
      traits: ["thermostat: off heat cool heatCool; no presets; two targets; 7 to 32", "temperature"],
      commands: {
        "mode off": "climate.set_hvac_mode hvac_mode=off",
        "mode heat": "climate.set_hvac_mode hvac_mode=heat",
        "target 22": onlyPairs,
        "up by 1": onlyPairs,
        "targets 21 and 25": onlyPairs,
        "preset away": noPresets,
      },
    },
  },
  "nibe_heatpump: a heat pump without the mode off": {
    thermostat: {
      traits: ["thermostat: auto heat heatCool; no presets; one target, two targets; 5 to 35", "temperature"],
      commands: {
        "mode off": "modeNotSupported",
        "mode heat": "climate.set_hvac_mode hvac_mode=heat",
        "target 22": "climate.set_temperature temperature=22",
        "up by 1": "climate.set_temperature temperature=22",
        "targets 21 and 25": "notInMode heat",
        "preset away": noPresets,
      },
    },
  },
  "matter: an air conditioner with one fan": {
    thermostat: {
      traits: [
        "fan: on off; steps of 33 %",
        "thermostat: off heat cool dry fanOnly heatCool; no presets; one target; 16 to 32",
        "temperature",
      ],
      commands: {
        "mode off": "climate.set_hvac_mode hvac_mode=off",
        "mode heat": "climate.set_hvac_mode hvac_mode=heat",
        "target 22": "climate.set_temperature temperature=22",
        "up by 1": "climate.set_temperature temperature=21",
        "targets 21 and 25": "notInMode cool",
        "preset away": noPresets,
        "fan on": "fan.turn_on",
        "fan auto": "modeNotSupported",
        "speed 50": "fan.set_percentage percentage=66.67",
      },
    },
  },
  "balboa: a spa with a pump": {
    thermostat: {
      traits: ["thermostat: heat off; ready rest; one target; 10 to 40", "temperature"],
      commands: {
        "mode off": "climate.set_hvac_mode hvac_mode=off",
        "mode heat": "climate.set_hvac_mode hvac_mode=heat",
        "target 22": "climate.set_temperature temperature=22",
        "up by 1": "outOfRange",
        "targets 21 and 25": "notInMode heat",
        "preset away": "badValue",
      },
    },
    fan: {
      traits: ["onOff", "fan: no modes; steps of 50 %"],
      commands: {
        "turn on": "fan.turn_on",
        "turn off": "fan.turn_off",
        "fan on": noModes,
        "fan auto": noModes,
        "speed 50": "fan.set_percentage percentage=50",
      },
    },
  },
  "vicare: a ventilation that is always on": {
    fan: {
      traits: ["onOff: read-only", "fan: permanent ventilation sensor_driven sensor_override; steps of 25 %"],
      commands: {
        "turn on": notSwitchable,
        "turn off": notSwitchable,
        "fan on": "modeNotSupported",
        "fan auto": "modeNotSupported",
        "speed 50": "fan.set_percentage percentage=50",
      },
    },
  },
  "duco: a ventilation in its mode auto": {
    fan: {
      traits: ["onOff: read-only", "fan: auto man1 man2 man3 empt; steps of 33 %"],
      commands: {
        "turn on": notSwitchable,
        "turn off": notSwitchable,
        "fan on": "modeNotSupported",
        "fan auto": "fan.set_preset_mode preset_mode=auto",
        "speed 50": "fan.set_percentage percentage=66.67",
      },
    },
  },
  "netatmo: a ventilation that has only modes": {
    fan: {
      traits: ["onOff: read-only", "fan: slow fast; no speed"],
      commands: {
        "turn on": notSwitchable,
        "turn off": notSwitchable,
        "fan on": "modeNotSupported",
        "fan auto": "modeNotSupported",
        "speed 50": noSpeed,
      },
    },
  },
  "matter: a range hood without speeds": {
    fan: {
      traits: ["onOff", "fan: low medium high; no speed"],
      commands: {
        "turn on": "fan.turn_on",
        "turn off": "fan.turn_off",
        "fan on": "modeNotSupported",
        "fan auto": "modeNotSupported",
        "speed 50": noSpeed,
      },
    },
  },
  "smartthings: a fan with three speeds": {
    fan: {
      traits: ["onOff", "fan: no modes; steps of 33 %"],
      commands: {
        "turn on": "fan.turn_on",
        "turn off": "fan.turn_off",
        "fan on": noModes,
        "fan auto": noModes,
        "speed 50": "fan.set_percentage percentage=66.67",
      },
    },
  },
  "vesync: a purifier that sleeps": {
    fan: {
      traits: ["onOff", "fan: auto sleep; steps of 33 %"],
      commands: {
        "turn on": "fan.turn_on",
        "turn off": "fan.turn_off",
        "fan on": "modeNotSupported",
        "fan auto": "fan.set_preset_mode preset_mode=auto",
        "speed 50": "fan.set_percentage percentage=66.67",
      },
    },
  },
  "deconz: a light that can be dimmed": {
    light: {
      traits: ["onOff", "brightness"],
      commands: {
        "turn on": "light.turn_on",
        "turn off": "light.turn_off",
        "brightness 40": "light.turn_on brightness_pct=40",
      },
    },
  },
  "deconz: a tunable light that does not tell its brightness": {
    light: {
      traits: ["onOff", "brightness"],
      commands: {
        "turn on": "light.turn_on",
        "turn off": "light.turn_off",
        "brightness 40": "light.turn_on brightness_pct=40",
      },
    },
  },
  "deconz: a light that can only be switched": {
    light: {
      traits: ["onOff"],
      commands: {
        "turn on": "light.turn_on",
        "turn off": "light.turn_off",
      },
    },
  },
  "matter: a smoke detector": {
    alarm: {
      traits: ["smoke"],
      commands: {},
    },
  },
  "tuya: a door": {},
  "matter: an awning that lifts and tilts": {},
  "netatmo: a shutter that has no position": {},
  "a fan of a version before 2024.8": {
    fan: {
      traits: ["onOff", "fan: no modes; steps of 25 %"],
      commands: {
        "turn on": "fan.turn_on",
        "turn off": "fan.turn_off",
        "fan on": noModes,
        "fan auto": noModes,
        "speed 50": "fan.set_percentage percentage=50",
      },
    },
  },
};
