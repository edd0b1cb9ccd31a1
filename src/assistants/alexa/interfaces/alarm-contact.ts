import type { Traits } from "../../../home/catalogue.ts";
import { isCurrent } from "../../../home/traits/alarm-states.ts";
import type { AlexaInterface, SourceField, Value } from "./interface.ts";

/**
 * An alarm as a contact sensor: Alexa has no interface for smoke or carbon monoxide
 * (docs/decisions/024-alarms-are-not-offered-to-alexa-by-default.md). One sensor speaks for both traits. A warning
 * counts as detected. The sensor is clear only when everything that the alarm measures is known to be clear.
 */
export const alarmContact: AlexaInterface = {
  namespace: "Alexa.ContactSensor",
  traits: ["smoke", "carbonMonoxide"],
  // Danger is told also when the link has turned stale meanwhile.
  mustBeKnown: (value) => value !== "DETECTED",
  offer: ({ traits: { smoke, carbonMonoxide } }) =>
    smoke || carbonMonoxide ? { names: ["detectionState"] } : undefined,
  values: ({ traits }) => {
    const measured = (["smoke", "carbonMonoxide"] as const).filter((trait) => traits[trait]);
    const states = measured.map((trait) => stateOf(traits[trait]!));
    const from = measured.map((trait): SourceField => [trait, "state"]);
    if (states.some((state) => state === "warning" || state === "alarm")) return detectionState("DETECTED", from);
    return states.every((state) => state === "clear") ? detectionState("NOT_DETECTED", from) : [];
  },
  directives: {},
};

function stateOf(alarm: NonNullable<Traits["smoke"]>) {
  return isCurrent(alarm) ? alarm.state.state : null;
}

function detectionState(value: string, from: readonly SourceField[]): readonly Value[] {
  return [{ name: "detectionState", value, from }];
}
