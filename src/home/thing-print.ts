import { type TraitName, type Traits, traitNames, traits } from "./catalogue.ts";
import type { ReportedThing } from "./reported-things.ts";
import type { Unit } from "./trait.ts";
import { addNumber, addValue, digestOf, type HashState, newHash } from "./value-hash.ts";

/** What the node that follows a link keeps in memory of each stored thing, to recognise a report that changes nothing. */
export interface ThingPrint {
  /** A 53-bit hash of everything but the samples. */
  readonly hash: number;
  /** The sample fields in the catalogue's order, each divided by its jump: a difference of 1 is a jump. */
  readonly samples: readonly (number | null)[];
  /** The states of smoke and carbon monoxide; empty when both are clear. Undefined in a print from the store. */
  readonly danger: string | undefined;
}

export function printOf({ thing, homeName }: Pick<ReportedThing, "thing" | "homeName">): ThingPrint {
  const hash = newHash();
  addValue(hash, thing.kind);
  addValue(hash, thing.name);
  addValue(hash, thing.room);
  addValue(hash, homeName);
  addValue(hash, thing.maker);
  addValue(hash, thing.model);
  if (thing.integration !== undefined) addValue(hash, thing.integration);
  let samples: (number | null)[] = noSamples;
  for (let i = 0; i < printedTraits.length; i++) {
    const { name, stable, sampled } = printedTraits[i]!;
    const reported = thing.traits[name];
    if (!reported) continue;
    const state: Readonly<Record<string, unknown>> = reported.state;
    addNumber(hash, i);
    addValue(hash, reported.available);
    for (let j = 0; j < stable.length; j++) addValue(hash, state[stable[j]!]);
    addNumber(hash, capabilityHash(reported.capabilities));
    for (let j = 0; j < sampled.length; j++) {
      const { field, jump } = sampled[j]!;
      const value = state[field];
      if (samples === noSamples) samples = [];
      samples.push(typeof value === "number" ? value / jump : null);
    }
  }
  return { hash: digestOf(hash), samples, danger: dangerOf(thing.traits) };
}

const noSamples: (number | null)[] = [];

/** Connectors share the objects of equal capabilities, so each is hashed once. */
const capabilityHashes = new WeakMap<object, number>();

function capabilityHash(capabilities: Readonly<Record<string, unknown>>): number {
  const known = capabilityHashes.get(capabilities);
  if (known !== undefined) return known;
  const hash: HashState = newHash();
  for (const name in capabilities) {
    addValue(hash, name);
    addValue(hash, capabilities[name]);
  }
  const value = digestOf(hash);
  capabilityHashes.set(capabilities, value);
  return value;
}

function dangerOf({ smoke, carbonMonoxide }: Traits): string {
  const [smokeState, coState] = [smoke?.state.state ?? "clear", carbonMonoxide?.state.state ?? "clear"];
  return smokeState === "clear" && coState === "clear" ? "" : `${smokeState} ${coState}`;
}

/** The smallest change of a sample that is committed at once, by unit. A smaller one waits, at most a minute. */
const jumps: Readonly<Record<Unit, number>> = { celsius: 0.5, percent: 5, milliseconds: 1_000, minutes: 1 };
/** Values have two decimals, which binary fractions only approximate. */
const roundingError = 1e-6;

type SamplePrint = Pick<ThingPrint, "samples">;

/** Whether two prints with the same hash differ in their samples: not at all, a little, or by a jump. */
export function sampleDifference(before: SamplePrint, after: SamplePrint): "none" | "small" | "jump" {
  let difference: "none" | "small" = "none";
  for (let i = 0; i < Math.max(before.samples.length, after.samples.length); i++) {
    const [old, now] = [before.samples[i] ?? null, after.samples[i] ?? null];
    if (old === now) continue;
    if (old === null || now === null || Math.abs(now - old) >= 1 - roundingError) return "jump";
    difference = "small";
  }
  return difference;
}

interface PrintedTrait {
  readonly name: TraitName;
  readonly stable: readonly string[];
  readonly sampled: readonly { readonly field: string; readonly jump: number }[];
}

const printedTraits: readonly PrintedTrait[] = traitNames.map((name) => {
  const fields = Object.entries(traits[name].fields);
  const sampled = fields.flatMap(([field, { kind, value }]) =>
    kind === "sample" && value.type === "number" ? [{ field, jump: jumps[value.unit] }] : [],
  );
  return { name, stable: fields.filter(([, { kind }]) => kind !== "sample").map(([field]) => field), sampled };
});
