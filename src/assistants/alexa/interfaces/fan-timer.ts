import { canSet } from "../../current-thing.ts";
import type { AlexaInterface } from "./interface.ts";

/** The fan of a thermostat that runs for a time. */
export const fanTimerToggle: AlexaInterface = {
  namespace: "Alexa.ToggleController",
  instance: "Fan.Timer",
  traits: ["fanTimer"],
  offer: ({ traits: { fanTimer }, ...thing }) =>
    fanTimer && fanTimer.capabilities.supported !== false && canSet(thing, "fanTimer", "active")
      ? { names: ["toggleState"], details: { capabilityResources: { friendlyNames } } }
      : undefined,
  values: ({ traits: { fanTimer } }) =>
    typeof fanTimer?.state.active === "boolean"
      ? [{ name: "toggleState", value: fanTimer.state.active ? "ON" : "OFF", from: [["fanTimer", "active"]] }]
      : [],
  directives: {
    TurnOn: () => ({ trait: "fanTimer", command: "start", params: {} }),
    TurnOff: () => ({ trait: "fanTimer", command: "stop", params: {} }),
  },
};

const friendlyNames = [{ "@type": "text", value: { text: "fan", locale: "en-US" } }];
