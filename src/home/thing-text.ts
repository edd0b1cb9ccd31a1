import { type TraitName, traitNames, traits } from "./catalogue.ts";
import type { FieldValue, ThingDescriptor, ThingState, TimedValue } from "./stored-thing.ts";
import type { ThingKind } from "./thing.ts";
import type { ValueType } from "./trait.ts";

/**
 * How descriptors and states are stored. `named`: JSON objects with all names, which versions before the compact form
 * can read. `compact`: JSON arrays in the order of the catalogue, which take a quarter of the space.
 */
export type ThingForm = "named" | "compact";

/** The columns that hold a descriptor. */
export interface DescriptorColumns {
  readonly kind: string;
  readonly room: string | null;
  readonly descriptor: string;
}

/** The catalogue's order: stored rows depend on it, so traits, fields and capabilities are only ever appended. */
interface TraitOrder {
  readonly trait: TraitName;
  readonly fields: readonly StoredField[];
  readonly capabilities: readonly StoredField[];
}

interface StoredField {
  readonly name: string;
  /** A boolean is stored as 1 or 0. */
  readonly isFlag: boolean;
}

const storedFields = (definitions: Readonly<Record<string, { readonly value: ValueType }>>): readonly StoredField[] =>
  Object.entries(definitions).map(([name, { value }]) => ({ name, isFlag: value.type === "boolean" }));

const orders: readonly TraitOrder[] = traitNames.map((trait) => ({
  trait,
  fields: [{ name: "available", isFlag: true }, ...storedFields(traits[trait].fields)],
  capabilities: storedFields(traits[trait].capabilities),
}));

type Scalar = Exclude<FieldValue, boolean>;
type Encoded = Scalar | readonly string[];

/**
 * `[time, [trait, ...values, later], …]`: the oldest time of all fields; then of each trait its number and its values
 * up to the last non-null one. `later` is a list that says by how many milliseconds each field is younger, and is left
 * out when none is.
 */
export function encodeState(state: ThingState, form: ThingForm): string {
  if (form === "named") return JSON.stringify(state);
  let oldestMs = Number.POSITIVE_INFINITY;
  for (const trait in state) {
    const fields = state[trait as TraitName]!;
    for (const field in fields) if (fields[field]![1] < oldestMs) oldestMs = fields[field]![1];
  }
  const encoded: (number | readonly (Scalar | readonly number[])[])[] = [Number.isFinite(oldestMs) ? oldestMs : 0];
  for (let number = 0; number < orders.length; number++) {
    const { trait, fields } = orders[number]!;
    const stored = state[trait];
    if (!stored) continue;
    const values: (Scalar | readonly number[])[] = [number];
    const later: number[] = [];
    let [length, laterLength] = [1, 0];
    for (const { name } of fields) {
      const [value, timeMs] = stored[name] ?? [null, oldestMs];
      values.push(typeof value === "boolean" ? Number(value) : value);
      later.push(timeMs - oldestMs);
      if (value !== null) length = values.length;
      if (timeMs !== oldestMs) laterLength = later.length;
    }
    values.length = length;
    later.length = laterLength;
    if (laterLength > 0) values.push(later);
    encoded.push(values);
  }
  return JSON.stringify(encoded);
}

export function decodeState(text: string): ThingState {
  if (isNamed(text)) return JSON.parse(text);
  const [oldestMs, ...stored]: [number, ...(Scalar | readonly number[])[][]] = JSON.parse(text);
  const state: Partial<Record<TraitName, Readonly<Record<string, TimedValue>>>> = {};
  for (const values of stored) {
    const order = orders[values[0] as number];
    // A trait that a later version has added.
    if (!order) continue;
    const { trait, fields } = order;
    const last = values.at(-1);
    const later = Array.isArray(last) ? (last as readonly number[]) : noneLater;
    const valueCount = later === noneLater ? values.length - 1 : values.length - 2;
    const decoded: Record<string, TimedValue> = {};
    for (let i = 0; i < fields.length; i++) {
      const { name, isFlag } = fields[i]!;
      const value = i < valueCount ? (values[i + 1] as Scalar) : null;
      decoded[name] = [isFlag ? asFlag(value) : value, oldestMs + (later[i] ?? 0)];
    }
    state[trait] = decoded;
  }
  return state;
}

const noneLater: readonly number[] = [];

/**
 * Marks the entry of the integration; other entries begin with a trait's number. Versions that do not know it skip it.
 */
const integrationEntry = "integration";

/**
 * `[name, homeName, maker, model, [trait number, ...capabilities], …, ["integration", name]]`; kind and room have columns
 * of their own, and a thing without an integration has no last entry.
 */
export function encodeDescriptor(descriptor: ThingDescriptor, form: ThingForm): DescriptorColumns {
  const { kind, room, name, homeName, maker, model, integration, capabilities } = descriptor;
  if (form === "named") return { kind, room, descriptor: JSON.stringify(descriptor) };
  const encoded: (Scalar | readonly Encoded[])[] = [name, homeName, maker, model];
  for (let number = 0; number < orders.length; number++) {
    const order = orders[number]!;
    const known = capabilities[order.trait];
    if (!known) continue;
    const values: Encoded[] = [number];
    // Trailing nulls are cut off.
    let length = 1;
    for (const { name: capability } of order.capabilities) {
      const value = (known[capability] ?? null) as FieldValue | readonly string[];
      values.push(typeof value === "boolean" ? Number(value) : value);
      if (value !== null) length = values.length;
    }
    values.length = length;
    encoded.push(values);
  }
  if (integration !== undefined) encoded.push([integrationEntry, integration]);
  return { kind, room, descriptor: JSON.stringify(encoded) };
}

export function decodeDescriptor({ kind, room, descriptor }: DescriptorColumns): ThingDescriptor {
  if (isNamed(descriptor)) return JSON.parse(descriptor);
  const [name, homeName, maker, model, ...stored] = JSON.parse(descriptor) as [...Names, ...Entry[]];
  const capabilities: Partial<Record<TraitName, Readonly<Record<string, unknown>>>> = {};
  let integration: string | null | undefined;
  for (const [number, ...values] of stored) {
    if (number === integrationEntry) {
      integration = values[0] as string | null;
      continue;
    }
    const order = orders[number];
    if (!order) continue;
    const decoded: Record<string, unknown> = {};
    for (const [i, { name: capability, isFlag }] of order.capabilities.entries()) {
      const value = values[i] ?? null;
      decoded[capability] = isFlag ? asFlag(value as Scalar) : value;
    }
    capabilities[order.trait] = decoded;
  }
  const names = { kind: kind as ThingKind, name, room, homeName, maker, model };
  return { ...names, ...(integration !== undefined && { integration }), capabilities };
}

type Entry = [number: number | typeof integrationEntry, ...Encoded[]];
type Names = [name: string | null, homeName: string | null, maker: string | null, model: string | null];

/** Whether two stored descriptors are equal, also when they are stored in different forms. */
export function isSameDescriptor(one: DescriptorColumns, other: DescriptorColumns): boolean {
  if (one.kind !== other.kind || one.room !== other.room) return false;
  if (one.descriptor === other.descriptor) return true;
  if (isNamed(one.descriptor) === isNamed(other.descriptor)) return false;
  const [a, b] = [one, other].map((columns) => encodeDescriptor(decodeDescriptor(columns), "compact").descriptor);
  return a === b;
}

/** Whether a stored descriptor or state has the form. */
export function hasForm(text: string, form: ThingForm): boolean {
  return isNamed(text) === (form === "named");
}

function isNamed(text: string): boolean {
  return text.startsWith("{");
}

function asFlag(value: Scalar): boolean | null {
  return value === null ? null : value !== 0;
}
