import type { AssistantKind } from "../../src/assistants/assistant.ts";
import type { ShownThing } from "../../src/outlets/console/tiles/shown-thing.ts";

/** What is said of a thing. */
type NamedThing = Pick<ShownThing, "thingId" | "kind" | "name">;

/** A thing that an assistant does not know. */
export interface LeftOut {
  readonly thing: NamedThing;
  readonly reason: string;
}

export interface LeftOutParts {
  readonly kind: AssistantKind;
  readonly title: string;
  readonly things: readonly NamedThing[];
  /** The ids of the devices that the assistant knows. */
  readonly known: readonly string[];
  /** The ids of the things that came from Google. */
  readonly fromGoogle: ReadonlySet<string>;
}

/** The things of the house that the assistant does not know, each with the reason (docs/outlets). */
export function leftOut({ kind, title, things, known, fromGoogle }: LeftOutParts): readonly LeftOut[] {
  const reasonOf = (thing: NamedThing) => {
    if (thing.kind === "home") return "A home is not a device.";
    if (kind === "google-home" && fromGoogle.has(thing.thingId)) {
      return "It came from Google, by itself or through Home Assistant. Google never gets back what came from Google.";
    }
    if (kind === "alexa" && thing.kind === "alarm") {
      return "Alexa has no interface for smoke and carbon monoxide. With --alarms contact, an outlet offers alarms as contact sensors.";
    }
    return `${title} was not told about it yet, or has no interface for it. Discover asks again.`;
  };
  const ids = new Set(known.map(thingIdOf));
  return things.filter(({ thingId }) => !ids.has(thingId)).map((thing) => ({ thing, reason: reasonOf(thing) }));
}

/** The fan of a thermostat is a device of its own, whose id begins with that of the thing. */
export function thingIdOf(deviceId: string): string {
  return deviceId.split(":")[0]!;
}

/** Values that the assistant does not get of the things that it knows. */
export const leftOutValues: Readonly<Record<AssistantKind, string>> = {
  alexa: "Alexa has no interface that fits humidity, batteries, the modes of fans and presence: it is not told these.",
  "google-home": "Google is not told the presence of a home.",
};
