import type { AccountDocument, Temperature, Thermostat } from "../home/account-document.ts";
import { entryOf } from "../home/element.ts";
import type { Json, JsonObject } from "../home/json.ts";
import { temperature } from "../home/new-device.ts";
import { EcosystemError, invalidContent, unpublished } from "./ecosystem-error.ts";

/** The fields of a thermostat that a client with write permission may write. */
export const writableFields: readonly string[] = [
  "fan_timer_active",
  "fan_timer_duration",
  "hvac_mode",
  "label",
  ...["target_temperature", "target_temperature_high", "target_temperature_low"].flatMap((name) => [
    `${name}_c`,
    `${name}_f`,
  ]),
];

const modes = ["heat", "cool", "heat-cool", "eco", "off"] as const;
type Mode = (typeof modes)[number];

/** In minutes, as the ecosystem's application offers them. */
const durations: readonly Json[] = [15, 30, 45, 60, 120, 240, 480, 720];
const maxLabelLength = 255;
const scales = {
  c: { lowest: 9, highest: 32, step: 0.5, gap: 1.5 },
  f: { lowest: 50, highest: 90, step: 1, gap: 3 },
} as const;

/**
 * The changes of a write other than those of the fan timer. Throws a refusal if the thermostat does not allow them. A
 * mode in the same write applies before a temperature.
 */
export function decideSettings(
  document: AccountDocument,
  thermostat: Thermostat,
  fields: JsonObject,
): Partial<Thermostat> {
  const mode = readMode(thermostat, fields.hvac_mode);
  return {
    ...mode,
    ...readDuration(thermostat, fields.fan_timer_duration),
    ...readLabel(thermostat, fields.label),
    ...readTargets(document, thermostat, (mode.hvac_mode ?? thermostat.hvac_mode) as Mode, fields),
  };
}

function readMode(thermostat: Thermostat, value: Json | undefined): Partial<Thermostat> {
  if (value === undefined) return {};
  const mode = modes.find((known) => known === value);
  if (mode === undefined) throw invalidContent();
  for (const [ability, can] of [
    ["heat", thermostat.can_heat],
    ["cool", thermostat.can_cool],
  ] as const) {
    const isNeeded = mode === ability || mode === "heat-cool";
    if (isNeeded && !can) throw unpublished(`Cannot set hvac_mode to ${mode}: the thermostat cannot ${ability}`);
  }
  if (thermostat.is_using_emergency_heat && mode !== "heat") {
    throw unpublished("Cannot change hvac_mode during emergency heat");
  }
  const before = thermostat.hvac_mode;
  const previous = mode === "eco" ? (before === "eco" ? thermostat.previous_hvac_mode : before) : "";
  return { hvac_mode: mode, previous_hvac_mode: previous } as Partial<Thermostat>;
}

function readDuration(thermostat: Thermostat, value: Json | undefined): Partial<Thermostat> {
  if (value === undefined) return {};
  if (!thermostat.has_fan) throw new EcosystemError(400, "Thermostat does not have a fan");
  if (!durations.includes(value)) throw unpublished(`fan_timer_duration must be one of: ${durations.join(", ")}`);
  return { fan_timer_duration: value as number };
}

/** Both names consist of the room and the label in brackets. */
function readLabel({ where_name: room }: Thermostat, value: Json | undefined): Partial<Thermostat> {
  if (value === undefined) return {};
  if (typeof value !== "string" || [...value].length > maxLabelLength) throw invalidContent();
  const suffix = value === "" ? "" : ` (${value})`;
  return { label: value, name: `${room}${suffix}`, name_long: `${room} Thermostat${suffix}` };
}

function readTargets(
  document: AccountDocument,
  thermostat: Thermostat,
  mode: Mode,
  fields: JsonObject,
): Partial<Thermostat> {
  const single = readTemperature(thermostat, fields, "target_temperature");
  const high = readTemperature(thermostat, fields, "target_temperature_high");
  const low = readTemperature(thermostat, fields, "target_temperature_low");
  if (!single && !high && !low) return {};
  const { away } = entryOf(document.structures, thermostat.structure_id) ?? {};
  if (away === "away" || away === "auto-away") {
    throw unpublished("Cannot change target temperature while structure is away");
  }
  if (mode === "eco" || mode === "off")
    throw unpublished(`Cannot change target temperature while hvac_mode is ${mode}`);
  if (thermostat.is_using_emergency_heat) throw unpublished("Cannot change target temperature during emergency heat");
  if (single && mode === "heat-cool") {
    throw unpublished("Cannot set target_temperature while hvac_mode is heat-cool: set high and low");
  }
  if ((high || low) && mode !== "heat-cool") {
    throw unpublished(`Cannot set target_temperature_high or _low while hvac_mode is ${mode}`);
  }
  const next = { ...thermostat, ...single, ...high, ...low };
  if (mode === "heat-cool" && next.target_temperature_high_c - next.target_temperature_low_c < scales.c.gap) {
    throw unpublished(`target_temperature_high must be at least ${scales.c.gap} C above target_temperature_low`);
  }
  return { ...single, ...high, ...low };
}

/** A written temperature in both scales; undefined if the write has none. */
function readTemperature<Name extends string>(
  thermostat: Thermostat,
  fields: JsonObject,
  name: Name,
): Temperature<Name> | undefined {
  const scalesSet = (["c", "f"] as const).filter((scale) => fields[`${name}_${scale}`] !== undefined);
  const [scale] = scalesSet;
  if (scale === undefined) return undefined;
  if (scalesSet.length > 1) throw unpublished(`Set either ${name}_c or ${name}_f, not both`);
  const value = fields[`${name}_${scale}`];
  const { lowest, highest, step } = scales[scale];
  if (typeof value !== "number" || value % step !== 0) throw invalidContent();
  if (value < lowest || value > highest) {
    throw unpublished(`${name}_${scale} must be from ${lowest} to ${highest}`);
  }
  enforceLock(thermostat, name, scale, value);
  return temperature(name, scale === "c" ? value : (value - 32) / 1.8);
}

function enforceLock(thermostat: Thermostat, name: string, scale: "c" | "f", value: number): void {
  const [min, max] = [thermostat[`locked_temp_min_${scale}`], thermostat[`locked_temp_max_${scale}`]];
  if (thermostat.is_locked && (value < min || value > max)) {
    throw unpublished(`${name}_${scale} must be from ${min} to ${max} while the thermostat is locked`);
  }
}
