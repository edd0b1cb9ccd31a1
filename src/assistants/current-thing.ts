import type { ReadThing } from "../devices/read-thing.ts";
import type { Traits } from "../home/catalogue.ts";
import type { CommandedTrait } from "../home/command-plan.ts";
import { isCurrent } from "../home/traits/alarm-states.ts";

/** A thing as an assistant is told about it: its last known state, and whether that is current. */
export interface CurrentThing extends ReadThing {
  readonly traits: Traits;
  /** Google has this thing's device already: what came from Google must never go back to it. */
  readonly isGoogles: boolean;
  /** Nothing confirms the state at present. */
  readonly isStale: boolean;
}

/** Whether commands can set one of these fields. The ecosystem of a linked thing decides itself, and counts as able to. */
export function canSet(
  { settable }: Pick<CurrentThing, "settable">,
  trait: CommandedTrait,
  ...fields: readonly string[]
): boolean {
  return settable === undefined || fields.some((field) => settable[trait]?.includes(field));
}

/**
 * Whether the thing has a fan with a speed that commands can set. The present speed does not count: what is offered must
 * not change with it, because assistants learn it only when they read the list of devices.
 */
export function canSetSpeed({ traits: { fan }, settable }: Pick<CurrentThing, "traits" | "settable">): boolean {
  if (!fan) return false;
  return settable ? settable.fan?.includes("percent") === true : fan.capabilities.percentStep !== null;
}

/** Modes in which a fan does not run by itself. The fan of a thermostat rests in `auto` until the thermostat needs it. */
export const restingModes: readonly string[] = ["off", "auto"];

/** The setpoints of a thermostat. Each is enough for a command that sets a target. */
export const targetFields = ["targetCelsius", "heatCelsius", "coolCelsius"] as const;

/**
 * Whether the assistant can rely on the state: it is current, and at least one trait is available. A trait whose
 * availability was not told counts as available, and so does an alarm of a detector that says that it is broken.
 */
export function isReachable({ goneMs, isStale, traits }: CurrentThing): boolean {
  if (goneMs !== null || isStale) return false;
  const { smoke, carbonMonoxide } = traits;
  if (Object.values(traits).some(({ available }) => available !== false)) return true;
  return [smoke, carbonMonoxide].some((alarm) => alarm !== undefined && isCurrent(alarm));
}
