import { type TraitName, type Traits, traitNames, traits } from "./catalogue.ts";
import type { ReportedThing } from "./reported-things.ts";

/** What the owner of a link remembers of each stored thing, to recognise a report that changes nothing. */
export interface ThingPrint {
  /** A 53-bit hash of everything but the samples. */
  readonly hash: number;
  /** The sample fields in the catalogue's order, each in units of the change that is committed at once. */
  readonly samples: readonly (number | null)[];
  /** What its sensors of danger report: empty for a thing that reports none, undefined when it is not known. */
  readonly danger: string | undefined;
}

export function printOf({ thing, homeName }: ReportedThing): ThingPrint {
  let text = [thing.kind, thing.name, thing.room, homeName, thing.maker, thing.model].map(hashed).join();
  const samples: (number | null)[] = [];
  for (const trait of traitNames) {
    const reported = thing.traits[trait];
    if (!reported) continue;
    const state: Readonly<Record<string, unknown>> = reported.state;
    const { stable, sampled } = fieldsOf.get(trait)!;
    text += `,${trait},${reported.available}`;
    for (const field of stable) text += `,${hashed(state[field])}`;
    for (const value of Object.values(reported.capabilities)) text += `,${hashed(value)}`;
    for (const { field, jump } of sampled) {
      const value = state[field];
      samples.push(typeof value === "number" ? value / jump : null);
    }
  }
  return { hash: hashOf(text), samples, danger: dangerOf(thing.traits) };
}

function dangerOf({ smoke, carbonMonoxide }: Traits): string {
  const [smokeState, coState] = [smoke?.state.state ?? "clear", carbonMonoxide?.state.state ?? "clear"];
  return smokeState === "clear" && coState === "clear" ? "" : `${smokeState} ${coState}`;
}

/** A change of a sample that is committed at once; smaller ones wait for the next commit, at most a minute. */
const jumps: Readonly<Record<string, number>> = { celsius: 0.5, percent: 5 };
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

interface PrintedFields {
  readonly stable: readonly string[];
  readonly sampled: readonly { readonly field: string; readonly jump: number }[];
}

const fieldsOf: ReadonlyMap<TraitName, PrintedFields> = new Map(
  traitNames.map((name) => {
    const fields = Object.entries(traits[name].fields);
    const sampled = fields.flatMap(([field, { kind, value }]) =>
      kind === "sample" && value.type === "number" ? [{ field, jump: jumps[value.unit] ?? 0 }] : [],
    );
    const stable = fields.filter(([, { kind }]) => kind !== "sample").map(([field]) => field);
    return [name, { stable, sampled }];
  }),
);

/** Text with its length before it, so that no text can look like several values. */
function hashed(value: unknown): string {
  return typeof value === "string" ? `${value.length}:${value}` : String(value);
}

/** cyrb53: two multiplicative hashes of 32 bits, of which 53 bits are kept. Not for secrets. */
function hashOf(text: string): number {
  let [one, two] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    one = Math.imul(one ^ code, 2_654_435_761);
    two = Math.imul(two ^ code, 1_597_334_677);
  }
  one = Math.imul(one ^ (one >>> 16), 2_246_822_507) ^ Math.imul(two ^ (two >>> 13), 3_266_489_909);
  two = Math.imul(two ^ (two >>> 16), 2_246_822_507) ^ Math.imul(one ^ (one >>> 13), 3_266_489_909);
  return 4_294_967_296 * (two & 0x1fffff) + (one >>> 0);
}
