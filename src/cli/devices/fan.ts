import { BadParameter, NotFound } from "../../model/errors.ts";
import { friendlyNames, isCalled, type ShownAttribute, type ShownDevice } from "./friendly-names.ts";

/** A thermostat of a home, by what the home calls it and where it stands on the wire. */
export interface Thermostat {
  readonly words: string;
  readonly place: string;
  readonly position: string;
}

const thermostatName = /^(d\.structures\[(\d+)\]\.d\.thermostats\[(\d+)\])\.name$/;

function thermostatsOf(device: ShownDevice): readonly Thermostat[] {
  const friendly = friendlyNames(device);
  return Object.keys(device.attributes).flatMap((name) => {
    const [, place, x, y] = thermostatName.exec(name) ?? [];
    return place ? [{ words: friendly(name).place.join(" › "), place, position: `${x}.${y}` }] : [];
  });
}

/** By its name, by `structure.thermostat` as in 1.2, or the only one. */
export function chosenThermostat(device: ShownDevice, given: string | undefined): Thermostat {
  const all = thermostatsOf(device);
  if (all.length === 0) throw new NotFound(`Device ${device.deviceId} has no thermostat.`);
  const known = all.map(({ position, words }) => `  ${position}  ${words}`).join("\n");
  if (given === undefined) {
    if (all.length === 1) return all[0]!;
    throw new BadParameter("thermostat", `There are ${all.length} thermostats. Name one:\n${known}`);
  }
  const isMeant = ({ words, position, place }: Thermostat) =>
    [position, place].includes(given) || [words, words.split(" › ").at(-1)!].some((name) => isCalled(name, given));
  const [first, second] = all.filter(isMeant);
  if (!first) throw new NotFound(`There is no thermostat "${given}". There are:\n${known}`);
  if (second) throw new BadParameter("thermostat", `"${given}" is the name of several. Say which:\n${known}`);
  return first;
}

/** What a client looks at: the fan itself, and its request. */
export interface FanReading {
  readonly active: ShownAttribute | undefined;
  readonly request: ShownAttribute | undefined;
}

export type FanOutcome =
  | { readonly state: "running" | "stopped" | "taken" }
  | { readonly state: "refused"; readonly reason: string }
  | { readonly state: "open" };

/**
 * The client check (interface 7): the fan's own value counts only when it is newer than the command; otherwise the
 * request tells an error, or by being blank that there is none. Times are the service's own, so that nobody's clock
 * matters: `before` is what was read ahead of the command.
 */
export function fanOutcome(wanted: "true" | "false", before: FanReading, now: FanReading): FanOutcome {
  const sentAfter = Math.max(before.active?.updateTime ?? 0, before.request?.updateTime ?? 0);
  const isNewer = (one: ShownAttribute | undefined) => one !== undefined && one.updateTime > sentAfter;
  const text = now.request?.value;
  if (isNewer(now.request) && typeof text === "string" && text.startsWith("error:")) {
    return { state: "refused", reason: reasonOf(text) };
  }
  if (now.active?.value === wanted && isNewer(now.active)) return { state: wanted === "true" ? "running" : "stopped" };
  if (isNewer(now.request) && (text === null || text === undefined)) {
    // A fan that was so already doesn't change, and so is never newer.
    if (before.active?.value === wanted) return { state: wanted === "true" ? "running" : "stopped" };
    return { state: "taken" };
  }
  return { state: "open" };
}

/** `error: <errormsg>, <badvalue>, <timestamp>`: message and value may hold commas, the timestamp is behind the last. */
function reasonOf(text: string): string {
  const parts = text.replace(/^error: ?/, "").split(", ");
  return (parts.length > 2 ? parts.slice(0, -2) : parts).join(", ");
}
