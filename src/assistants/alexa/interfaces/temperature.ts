import { inCelsius } from "../temperatures.ts";
import type { AlexaInterface } from "./interface.ts";

export const temperatureSensor: AlexaInterface = {
  namespace: "Alexa.TemperatureSensor",
  traits: ["temperature"],
  offer: ({ traits: { temperature } }) => (temperature ? { names: ["temperature"] } : undefined),
  values: ({ traits: { temperature } }) =>
    typeof temperature?.state.celsius === "number"
      ? [{ name: "temperature", value: inCelsius(temperature.state.celsius), from: [["temperature", "celsius"]] }]
      : [],
  directives: {},
};
