import { canSet } from "../../current-thing.ts";
import { alexaError } from "../errors.ts";
import type { AlexaInterface } from "./interface.ts";

export const brightness: AlexaInterface = {
  namespace: "Alexa.BrightnessController",
  mayLackValues: true,
  traits: ["brightness"],
  offer: (thing) =>
    thing.traits.brightness && canSet(thing, "brightness", "percent") ? { names: ["brightness"] } : undefined,
  // Alexa takes whole percents only.
  values: ({ traits: { brightness } }) =>
    typeof brightness?.state.percent === "number"
      ? [{ name: "brightness", value: Math.round(brightness.state.percent), from: [["brightness", "percent"]] }]
      : [],
  directives: {
    SetBrightness: ({ brightness: percent }) => {
      if (typeof percent !== "number") return alexaError("INVALID_VALUE", "The brightness must be a number.");
      return { trait: "brightness", command: "set", params: { percent } };
    },
    AdjustBrightness: ({ brightnessDelta: deltaPercent }) => {
      if (typeof deltaPercent !== "number") return alexaError("INVALID_VALUE", "The brightnessDelta must be a number.");
      return { trait: "brightness", command: "adjust", params: { deltaPercent } };
    },
  },
};
