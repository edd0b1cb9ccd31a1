import { celsius, defineTrait, flag, type TraitOf, text } from "../trait.ts";

export const thermostatModes = ["off", "heat", "cool", "heatCool", "auto", "eco", "dry", "fanOnly"] as const;

export const thermostat = defineTrait({
  name: "thermostat",
  meaning: "Heating and cooling. Target temperatures keep their values when another mode makes them ineffective.",
  fields: {
    mode: { kind: "transition", value: { type: "enum", values: thermostatModes }, meaning: "The mode in force." },
    baseMode: {
      kind: "transition",
      value: { type: "enum", values: thermostatModes },
      meaning: "The mode that eco has replaced, and that returns after it.",
    },
    heatCelsius: { kind: "transition", value: celsius, meaning: "It heats below this temperature.", persists: true },
    coolCelsius: { kind: "transition", value: celsius, meaning: "It cools above this temperature.", persists: true },
    targetCelsius: { kind: "transition", value: celsius, meaning: "The target of a mode with one target." },
    ecoHeatCelsius: {
      kind: "level",
      value: celsius,
      meaning: "In eco it heats below this temperature.",
      persists: true,
    },
    ecoCoolCelsius: {
      kind: "level",
      value: celsius,
      meaning: "In eco it cools above this temperature.",
      persists: true,
    },
    preset: { kind: "transition", value: text, meaning: "The ecosystem's own name of the active preset." },
    action: {
      kind: "level",
      value: {
        type: "enum",
        values: ["off", "idle", "heating", "cooling", "fan", "drying", "preheating", "defrosting"],
      },
      meaning: "What the equipment does now.",
    },
  },
  capabilities: {
    modes: { value: { type: "list", values: thermostatModes }, meaning: "The modes that can be set." },
    presets: { value: { type: "list" }, meaning: "The presets that can be set." },
    dual: { value: flag, meaning: "In heatCool it has two targets, one for heating and one for cooling." },
    minHeatCelsius: { value: celsius, meaning: "The lowest heating target." },
    maxHeatCelsius: { value: celsius, meaning: "The highest heating target." },
    minCoolCelsius: { value: celsius, meaning: "The lowest cooling target." },
    maxCoolCelsius: { value: celsius, meaning: "The highest cooling target." },
    stepCelsius: { value: celsius, meaning: "Targets are multiples of this step, counted from the lowest target." },
    unit: { value: { type: "enum", values: ["C", "F"] }, meaning: "The unit in which the device shows temperatures." },
    minGapCelsius: { value: celsius, meaning: "The least distance between the heating and the cooling target." },
    single: { value: flag, meaning: "One target can be set in a mode that does not have two of them." },
  },
  commands: {
    setMode: {
      meaning: "Sets the mode. Eco ends when another mode is set.",
      parameters: {
        mode: { value: { type: "enum", values: thermostatModes }, meaning: "One of the capability `modes`." },
      },
    },
    setPreset: {
      meaning: "Activates a preset of the ecosystem.",
      parameters: { preset: { value: text, meaning: "One of the capability `presets`." } },
    },
    setTarget: {
      meaning:
        "Sets the target of the mode in force: `celsius`, or `heatCelsius` or `coolCelsius` or both. In heatCool " +
        "with two targets, `celsius` is the middle between them, and their distance stays.",
      parameters: {
        celsius: { value: celsius, isOptional: true, meaning: "The target of the mode." },
        heatCelsius: { value: celsius, isOptional: true, meaning: "Heat below this temperature." },
        coolCelsius: { value: celsius, isOptional: true, meaning: "Cool above this temperature." },
      },
    },
    adjustTarget: {
      meaning: "Raises or lowers the target of the mode in force; in heatCool with two targets, both of them.",
      parameters: { deltaCelsius: { value: celsius, meaning: "The difference; negative lowers the target." } },
    },
  },
});

export type Thermostat = TraitOf<typeof thermostat>;
export type ThermostatMode = (typeof thermostatModes)[number];
