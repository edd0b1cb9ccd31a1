import { alexaError } from "../errors.ts";
import type { AlexaInterface } from "./interface.ts";

export const brightness: AlexaInterface = {
  namespace: "Alexa.BrightnessController",
  traits: ["brightness"],
  offer: ({ brightness }) => (brightness ? { names: ["brightness"] } : undefined),
  // Alexa takes whole percents only.
  values: ({ brightness }) =>
    typeof brightness?.state.percent === "number"
      ? [{ name: "brightness", value: Math.round(brightness.state.percent), from: [["brightness", "percent"]] }]
      : [],
  directives: {
    SetBrightness: ({ brightness: percent }) => {
      if (typeof percent !== "number") return alexaError("INVALID_VALUE", "The brightness must be a number.");
      return { trait: "brightness", command: "set", params: { percent } };
    },
    AdjustBrightness: ({ brightnessDelta: delta }, { brightness, onOff }) => {
      if (typeof delta !== "number") return alexaError("INVALID_VALUE", "The brightnessDelta must be a number.");
      const percent = onOff?.state.on === false ? 0 : brightness?.state.percent;
      if (typeof percent !== "number") return alexaError("ENDPOINT_UNREACHABLE", "The brightness is not known.");
      return { trait: "brightness", command: "set", params: { percent: Math.min(100, Math.max(0, percent + delta)) } };
    },
  },
};
