/** Ready-made trait maps as JSON documents, by name. A tenant takes one as it is, or changes it first. */
export const traitMapTemplates = {
  lamp: {
    kind: "light",
    traits: { onOff: { on: { attribute: "power", words: { true: "on", false: "off" }, writable: true } } },
  },
  dimmer: {
    kind: "light",
    traits: {
      onOff: { on: { attribute: "power", words: { true: "on", false: "off" }, writable: true } },
      brightness: { percent: { attribute: "brightness", decimals: 0, writable: true } },
    },
  },
  plug: {
    kind: "switch",
    traits: { onOff: { on: { attribute: "power", words: { true: "on", false: "off" }, writable: true } } },
  },
  fan: {
    kind: "fan",
    traits: {
      onOff: { on: { attribute: "power", words: { true: "on", false: "off" }, writable: true } },
      fan: {
        percent: { attribute: "speed", decimals: 0, writable: true },
        capabilities: { percentStep: 1 },
      },
    },
  },
  thermostat: {
    kind: "thermostat",
    traits: {
      temperature: { celsius: { attribute: "temperature" } },
      humidity: { percent: { attribute: "humidity" } },
      thermostat: {
        mode: { attribute: "mode", writable: true },
        targetCelsius: { attribute: "target", decimals: 1, writable: true },
        action: { attribute: "action" },
        capabilities: {
          modes: ["off", "heat"],
          minHeatCelsius: 5,
          maxHeatCelsius: 30,
          stepCelsius: 0.5,
          unit: "C",
        },
      },
    },
  },
  "smoke-alarm": {
    kind: "alarm",
    online: { silentAfterSeconds: 90_000 },
    traits: {
      smoke: {
        state: { attribute: "smoke" },
        testing: { attribute: "testing" },
        capabilities: { graded: true },
      },
      battery: { state: { attribute: "battery" } },
    },
  },
  sensor: {
    kind: "sensor",
    online: { silentAfterSeconds: 3_600 },
    traits: {
      temperature: { celsius: { attribute: "temperature" } },
      humidity: { percent: { attribute: "humidity" } },
      battery: { percent: { attribute: "battery" } },
    },
  },
} as const satisfies Readonly<Record<string, object>>;

export type TemplateName = keyof typeof traitMapTemplates;

export const templateNames = Object.keys(traitMapTemplates) as readonly TemplateName[];
