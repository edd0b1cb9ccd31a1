import { canSetSpeed } from "../../current-thing.ts";
import { alexaError } from "../errors.ts";
import type { AlexaInterface, OfferedThing, Value } from "./interface.ts";

/** The speed of a fan, as a range from 0 to 100 percent. */
export const fanSpeed: AlexaInterface = {
  namespace: "Alexa.RangeController",
  instance: "Fan.Speed",
  mayLackValues: true,
  traits: ["fan"],
  offer: (thing) =>
    canSetSpeed(thing)
      ? {
          names: ["rangeValue"],
          details: {
            capabilityResources: { friendlyNames },
            configuration: {
              supportedRange: { minimumValue: 0, maximumValue: 100, precision: stepOf(thing) },
              unitOfMeasure: "Alexa.Unit.Percent",
            },
          },
        }
      : undefined,
  values: ({ traits: { fan, onOff } }) => {
    const percent = fan?.state.percent ?? null;
    if (percent !== null) return [{ name: "rangeValue", value: percent, from: [["fan", "percent"]] }];
    const from: Value["from"] = [
      ["fan", "percent"],
      ["onOff", "on"],
    ];
    return onOff?.state.on === false ? [{ name: "rangeValue", value: 0, from }] : [];
  },
  directives: {
    SetRangeValue: ({ rangeValue: percent }) => {
      if (typeof percent !== "number") return alexaError("INVALID_VALUE", "The rangeValue must be a number.");
      return { trait: "fan", command: "setPercent", params: { percent } };
    },
    AdjustRangeValue: ({ rangeValueDelta: delta, rangeValueDeltaDefault: isDefault }, thing) => {
      if (typeof delta !== "number") return alexaError("INVALID_VALUE", "The rangeValueDelta must be a number.");
      // "Faster", without a number: Alexa sends one step, which can be 1 percent.
      const deltaPercent = isDefault === true ? Math.sign(delta) * Math.max(noticeable, stepOf(thing)) : delta;
      return { trait: "fan", command: "adjustPercent", params: { deltaPercent } };
    },
  },
};

const friendlyNames = [{ "@type": "asset", value: { assetId: "Alexa.Setting.FanSpeed" } }];

/** A change of the speed that people notice, in percent. */
const noticeable = 10;

function stepOf({ traits: { fan } }: OfferedThing): number {
  const step = fan?.capabilities.percentStep ?? 1;
  return step > 0 ? step : 1;
}
