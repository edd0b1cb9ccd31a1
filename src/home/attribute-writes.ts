import { traits } from "./catalogue.ts";
import type { CommandError } from "./command-errors.ts";
import type { CommandedTrait, Expectation, Plan, Step } from "./command-plan.ts";
import { readMapped, writeMapped } from "./mapped-value.ts";
import type { FieldValue } from "./stored-thing.ts";
import { attributeSource, type TraitMap } from "./trait-map.ts";

/** What a command asks of an own device: the attributes that it should show, with their values. */
export interface OwnPlan {
  readonly writes: readonly { readonly attribute: string; readonly value: string }[];
  /**
   * The plan's expectations with the values that the written texts stand for. A device that knows whole degrees
   * Fahrenheit never shows the exact Celsius value that was planned.
   */
  readonly expected: readonly Expectation[];
}

/** The inverse of reading: the attributes whose values carry out a plan. `nowMs`: when a timer starts. */
export function attributeWrites(
  map: TraitMap,
  plan: Pick<Plan, "steps" | "expected" | "absolute">,
  nowMs: number,
): OwnPlan | CommandError {
  const writes = new Map<string, string>();
  const shown = new Map<string, FieldValue>();
  for (const step of plan.steps) {
    for (const { trait, field, value, isRequired } of settingsOf(map, step, nowMs)) {
      const source = attributeSource(map, trait, field);
      const type = traits[trait].fields[field]!.value;
      const text = source?.isWritable ? writeMapped(source, type, value) : undefined;
      if (!source || text === undefined) {
        if (!isRequired) continue;
        return notSupported(plan, source?.isWritable ? `${field} can't be set to ${value}` : `${field} is read-only`);
      }
      writes.set(source.attribute, text);
      const readBack = readMapped(source.format, type, text);
      shown.set(`${trait}.${field}`, readBack);
      if (isSetpoint(field) && !map.traits.thermostat?.fields.has("targetCelsius")) {
        shown.set("thermostat.targetCelsius", readBack);
      }
    }
  }
  const expected = plan.expected.map((one): Expectation => {
    const value = shown.get(`${one.trait}.${one.field}`) ?? null;
    return value === null ? one : { ...one, value };
  });
  return { writes: [...writes].map(([attribute, value]) => ({ attribute, value })), expected };
}

interface Setting {
  readonly trait: CommandedTrait;
  readonly field: string;
  readonly value: boolean | number | string;
  /** The command is refused when the map can't write the field. */
  readonly isRequired: boolean;
}

function settingsOf(map: TraitMap, step: Step, nowMs: number): readonly Setting[] {
  const { trait } = step;
  const settings: Setting[] = [];
  for (const [field, value] of Object.entries(step.set)) {
    // Null ends eco: the mode beside it says what follows.
    if (value === null || value === undefined) continue;
    settings.push({ trait, field, value, isRequired: !hasStandIn(map, step, field) });
  }
  // A brightness switches the light on.
  if (trait === "brightness") settings.push({ trait: "onOff", field: "on", value: true, isRequired: false });
  if (trait === "fanTimer" && step.forMinutes !== undefined) {
    settings.push({ trait, field: "untilMs", value: nowMs + step.forMinutes * 60_000, isRequired: true });
  }
  return settings;
}

/** A step with one target names the target and the setpoint of the mode. Either of them is enough. */
function hasStandIn(map: TraitMap, { trait, set }: Step, field: string): boolean {
  if (trait !== "thermostat" || !("targetCelsius" in set)) return field === "baseMode";
  const isWritable = (name: string) => name in set && attributeSource(map, trait, name)?.isWritable === true;
  if (field === "targetCelsius") return isWritable("heatCelsius") || isWritable("coolCelsius");
  return field === "baseMode" || (isSetpoint(field) && isWritable("targetCelsius"));
}

function isSetpoint(field: string): boolean {
  return field === "heatCelsius" || field === "coolCelsius";
}

function notSupported({ absolute }: Pick<Plan, "absolute">, reason: string): CommandError {
  return { code: "notSupported", command: `${absolute.trait}.${absolute.command}`, reason };
}
