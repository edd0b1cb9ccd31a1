import { cleanText } from "../model/clean-text.ts";
import { type TraitName, type Traits, traitNames, traits } from "./catalogue.ts";
import type { ReportedThing } from "./reported-things.ts";
import type { ThingKind } from "./thing.ts";
import { hasEased } from "./traits/alarm-states.ts";

/** What changes rarely: what a thing is, and what its traits can do. */
export interface ThingDescriptor {
  readonly kind: ThingKind;
  readonly name: string | null;
  readonly room: string | null;
  readonly homeName: string | null;
  readonly maker: string | null;
  readonly model: string | null;
  /** Left out where the ecosystem has no integrations, and in rows of versions that did not store it. */
  readonly integration?: string | null;
  readonly capabilities: Readonly<Partial<Record<TraitName, Readonly<Record<string, unknown>>>>>;
}

export type FieldValue = string | number | boolean | null;

/** Each field with its value and the time of the commit that changed it, by trait. */
export type ThingState = Readonly<Partial<Record<TraitName, Readonly<Record<string, TimedValue>>>>>;

export type TimedValue = readonly [value: FieldValue, timeMs: number];

/** A changed field. `available` is a field of every trait. */
export interface FieldChange {
  readonly trait: TraitName;
  readonly field: string;
  readonly value: FieldValue;
  /** An alarm that has become a warning. Left out otherwise. */
  readonly isEased?: true;
}

/** `before`: the stored descriptor. A trait that the report lacks keeps what it can do, as it keeps its values. */
export function descriptorOf(
  { thing, homeName }: ReportedThing,
  before?: Pick<ThingDescriptor, "capabilities">,
): ThingDescriptor {
  const { kind, name, room, maker, model, integration } = thing;
  const capabilities: Partial<Record<TraitName, Readonly<Record<string, unknown>>>> = {};
  for (const trait of traitNames) {
    const known = thing.traits[trait]?.capabilities ?? before?.capabilities[trait];
    if (known) capabilities[trait] = withCleanTexts(known);
  }
  return {
    kind,
    name: clean(name),
    room: clean(room),
    homeName: clean(homeName),
    maker: clean(maker),
    model: clean(model),
    ...(integration !== undefined && { integration: clean(integration) }),
    capabilities,
  };
}

/**
 * Which fields a report changes. A trait that the report lacks is no longer available, and keeps its values; so does a
 * persisting field that the report does not tell. `isBack`: the thing was gone, so nothing was known of it, and every
 * field of the report is a change.
 */
export function fieldChanges(stored: ThingState, { thing }: ReportedThing, isBack = false): readonly FieldChange[] {
  const changes: FieldChange[] = [];
  const compare = (trait: TraitName, field: string, value: FieldValue) => {
    const before = isBack ? undefined : stored[trait] && (stored[trait][field] ?? untold);
    if (before === undefined || before[0] !== value) changes.push(fieldChange(trait, field, before?.[0], value));
  };
  for (const trait of traitNames) {
    const reported = thing.traits[trait];
    if (!reported) {
      if (stored[trait]) compare(trait, "available", false);
      continue;
    }
    compare(trait, "available", reported.available);
    const state: Readonly<Record<string, FieldValue>> = reported.state;
    const { fields } = traits[trait];
    for (const field in fields) {
      const value = clean(state[field] ?? null);
      const isKept = value === null && fields[field]!.persists === true && !isBack && stored[trait]?.[field];
      if (!isKept) compare(trait, field, value);
    }
  }
  return changes;
}

/** A field that the version which stored the row did not know. */
const untold: readonly [null] = [null];

/** The change of a field to another value. */
export function fieldChange(trait: TraitName, field: string, before: FieldValue | undefined, value: FieldValue) {
  const isAlarm = (trait === "smoke" || trait === "carbonMonoxide") && field === "state";
  return isAlarm && hasEased(before, value) ? { trait, field, value, isEased: true as const } : { trait, field, value };
}

/** The state after the changes; each changed field has the commit's time. */
export function withFieldChanges(stored: ThingState, changes: readonly FieldChange[], timeMs: number): ThingState {
  const changed: Partial<Record<TraitName, Record<string, TimedValue>>> = {};
  for (const { trait, field, value } of changes) {
    const fields = changed[trait] ?? { ...stored[trait] };
    fields[field] = [value, timeMs];
    changed[trait] = fields;
  }
  return { ...stored, ...changed };
}

/** The traits of a stored thing, as its connector reported them last. */
export function storedTraits({ capabilities }: Pick<ThingDescriptor, "capabilities">, stored: ThingState): Traits {
  const traits: Partial<Record<TraitName, object>> = {};
  for (const trait of traitNames) {
    const fields = stored[trait];
    if (!fields) continue;
    const state: Record<string, FieldValue> = {};
    for (const field in fields) if (field !== "available") state[field] = fields[field]![0];
    traits[trait] = { available: fields.available?.[0] ?? null, state, capabilities: capabilities[trait] ?? {} };
  }
  return traits as Traits;
}

function withCleanTexts(capabilities: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const cleaned: Record<string, unknown> = {};
  for (const name in capabilities) {
    const value = capabilities[name] as FieldValue | readonly string[];
    cleaned[name] = Array.isArray(value) ? value.map(clean) : clean(value as FieldValue);
  }
  return cleaned;
}

/** Text from outside is made storable in every database. */
function clean<Value extends FieldValue>(value: Value): Value {
  return typeof value === "string" ? (cleanText(value) as Value) : value;
}
