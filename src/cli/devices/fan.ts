import { BadParameter, NotFound } from "../../model/errors.ts";
import { friendlyNames, matchesName, type ShownAttribute, type ShownDevice } from "./friendly-names.ts";

/** A thermostat of a home: its friendly name, and the prefix of its attribute names. */
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

/** The thermostat with this name or this `structure.thermostat` index, as in 1.2; without either, the only one. */
export function chosenThermostat(device: ShownDevice, typed: string | undefined): Thermostat {
  const all = thermostatsOf(device);
  if (all.length === 0) throw new NotFound(`Device ${device.deviceId} has no thermostat.`);
  const known = all.map(({ position, words }) => `  ${position}  ${words}`).join("\n");
  if (typed === undefined) {
    if (all.length === 1) return all[0]!;
    throw new BadParameter("thermostat", `There are ${all.length} thermostats. Name one:\n${known}`);
  }
  const isSelected = ({ words, position, place }: Thermostat) =>
    [position, place].includes(typed) || [words, words.split(" › ").at(-1)!].some((name) => matchesName(name, typed));
  const [first, second] = all.filter(isSelected);
  if (!first) throw new NotFound(`There is no thermostat "${typed}". There are:\n${known}`);
  if (second) throw new BadParameter("thermostat", `"${typed}" is the name of several. Say which:\n${known}`);
  return first;
}

/** The two attributes of a fan. */
export interface FanReading {
  readonly active: ShownAttribute | undefined;
  readonly request: ShownAttribute | undefined;
}

export type FanOutcome =
  | { readonly state: "running" | "stopped" | "taken" }
  | { readonly state: "refused"; readonly reason: string }
  | { readonly state: "open" };

/**
 * The client's check: the fan's own value counts only when its time is later than the command. Otherwise the request
 * holds an error, or is blank if there is none. All times are the service's, so the local clock does not matter:
 * `before` was read before the command.
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
    // A fan that was in this state already does not change, so its time is never later.
    if (before.active?.value === wanted) return { state: wanted === "true" ? "running" : "stopped" };
    return { state: "taken" };
  }
  return { state: "open" };
}

/** Parses `error: <errormsg>, <badvalue>, <timestamp>`: message and value may contain commas, the timestamp follows the last. */
function reasonOf(text: string): string {
  const parts = text.replace(/^error: ?/, "").split(", ");
  return (parts.length > 2 ? parts.slice(0, -2) : parts).join(", ");
}
