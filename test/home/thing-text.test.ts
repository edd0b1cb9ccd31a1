import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type TraitName, traitNames, traits } from "../../src/home/catalogue.ts";
import type { FieldValue, ThingDescriptor, ThingState, TimedValue } from "../../src/home/stored-thing.ts";
import {
  decodeDescriptor,
  decodeState,
  encodeDescriptor,
  encodeState,
  hasForm,
  isSameDescriptor,
} from "../../src/home/thing-text.ts";
import type { ValueType } from "../../src/home/trait.ts";

/** The order on which stored rows depend: names may be appended to each list, and never moved or removed. */
const storedOrder: readonly (readonly [trait: TraitName, fields: string, capabilities: string])[] = [
  ["onOff", "on", "readOnly"],
  ["brightness", "percent", ""],
  ["temperature", "celsius", "unit"],
  ["humidity", "percent", ""],
  [
    "thermostat",
    "mode baseMode heatCelsius coolCelsius targetCelsius ecoHeatCelsius ecoCoolCelsius preset action",
    "modes presets dual minHeatCelsius maxHeatCelsius minCoolCelsius maxCoolCelsius stepCelsius unit minGapCelsius single",
  ],
  ["fanTimer", "active untilMs untilText", "supported maxMinutes"],
  ["fan", "mode percent", "modes percentStep"],
  ["smoke", "state word testing fault endOfLife muted", "graded"],
  ["carbonMonoxide", "state word testing fault endOfLife muted", "graded"],
  ["battery", "state percent", ""],
  ["indicator", "color", ""],
  ["presence", "state word", ""],
];

/** A value of the type; `pick` chooses among several. */
function anyValue(type: ValueType, pick: number): FieldValue | readonly string[] {
  if (pick % 4 === 3) return null;
  if (type.type === "boolean") return pick % 2 === 0;
  if (type.type === "number") return [0, 1, 21.5, -3][pick % 4]!;
  if (type.type === "list") return ["one", "two"].slice(0, pick % 3);
  return ["clear", "", '"[{'][pick % 3]!;
}

/** A thing with every trait whose number has a bit in `seed`; values and times depend on the seed too. */
function anyThing(seed: number): { readonly descriptor: ThingDescriptor; readonly state: ThingState } {
  const capabilities: Record<string, Record<string, unknown>> = {};
  const state: Record<string, Record<string, TimedValue>> = {};
  for (const [number, trait] of traitNames.entries()) {
    if (((seed >> number) & 1) === 0) continue;
    const timeMs = (i: number) => 1_794_915_995_152 + (seed % 3 === 0 ? 0 : ((seed + i) % 4) * 60_000);
    const fields = Object.entries(traits[trait].fields);
    const values = fields.map(([name, { value }], i) => [name, [anyValue(value, seed + i), timeMs(i)]]);
    state[trait] = { available: [seed % 5 !== 0, timeMs(7)], ...Object.fromEntries(values) };
    const known = Object.entries(traits[trait].capabilities);
    capabilities[trait] = Object.fromEntries(
      known.map(([name, { value }], i) => [name, anyValue(value, seed * 7 + i)]),
    );
  }
  const names = { name: "Den", room: seed % 2 === 0 ? null : "Attic", homeName: "Maple Street", model: null };
  const integration = [undefined, null, "nest"][seed % 3];
  return {
    descriptor: {
      kind: "other",
      ...names,
      maker: seed % 3 === 0 ? null : "Nest",
      ...(integration !== undefined && { integration }),
      capabilities,
    },
    state,
  };
}

describe("the compact form of a stored thing", () => {
  it("is read back as it was, for things with many combinations of traits", () => {
    for (let seed = 0; seed < 2 ** traitNames.length; seed += 29) {
      const { descriptor, state } = anyThing(seed);
      assert.deepEqual(decodeState(encodeState(state, "compact")), state, `state ${seed}`);
      assert.deepEqual(decodeDescriptor(encodeDescriptor(descriptor, "compact")), descriptor, `descriptor ${seed}`);
    }
  });

  it("has the order of the catalogue, to which names are only appended", () => {
    const order = traitNames.map((trait) => {
      const { fields, capabilities } = traits[trait];
      return [trait, Object.keys(fields).join(" "), Object.keys(capabilities).join(" ")];
    });
    assert.deepEqual(order.slice(0, storedOrder.length), storedOrder);
  });

  it("says once which time its fields share, and what is later", () => {
    const state: ThingState = {
      temperature: { available: [true, 1_000], celsius: [21.5, 61_000] },
      smoke: {
        ...{ available: [null, 1_000], state: ["clear", 1_000], word: [null, 1_000], testing: [false, 1_000] },
        ...{ fault: [null, 1_000], endOfLife: [null, 1_000], muted: [null, 1_000] },
      },
      battery: { available: [false, 1_000], state: [null, 1_000], percent: [null, 2_000] },
    };
    const text = '[1000,[2,1,21.5,[0,60000]],[7,null,"clear",null,0],[9,0,[0,0,1000]]]';
    assert.equal(encodeState(state, "compact"), text);
    assert.deepEqual(decodeState(text), state);
    assert.equal(encodeState({}, "compact"), "[0]");
  });

  it("has no value for a field that the version which stored it did not know", () => {
    const { smoke } = decodeState('[1000,[7,1,"clear",null,0]]');
    assert.deepEqual(
      [smoke?.testing, smoke?.fault],
      [
        [false, 1_000],
        [null, 1_000],
      ],
    );
  });

  it("leaves kind and room to their columns, and what is not told at the end of a trait", () => {
    const descriptor: ThingDescriptor = {
      ...{ kind: "thermostat", name: "Den", room: "Attic", homeName: null, maker: "Nest", model: null },
      capabilities: { temperature: { unit: null }, fanTimer: { supported: true, maxMinutes: null } },
    };
    assert.deepEqual(encodeDescriptor(descriptor, "compact"), {
      ...{ kind: "thermostat", room: "Attic", descriptor: '["Den",null,"Nest",null,[2],[5,1]]' },
    });
  });

  it("leaves out traits and fields that a later version has added", () => {
    assert.deepEqual(decodeState('[5,[99,1,2,[7]],[10,1,"green","new",3]]'), {
      indicator: { available: [true, 5], color: ["green", 5] },
    });
    const columns = { kind: "other", room: null, descriptor: "[null,null,null,null,[99,1],[0,0,1]]" };
    assert.deepEqual(decodeDescriptor(columns).capabilities, { onOff: { readOnly: false } });
  });
});

describe("the named form of a stored thing", () => {
  const { descriptor, state } = anyThing(0b1010_0111_0101);

  it("is JSON with all names, and is read too", () => {
    assert.deepEqual(JSON.parse(encodeState(state, "named")), state);
    assert.deepEqual(decodeState(encodeState(state, "named")), state);
    const columns = encodeDescriptor(descriptor, "named");
    assert.deepEqual(JSON.parse(columns.descriptor), descriptor);
    assert.deepEqual(decodeDescriptor(columns), descriptor);
  });

  it("is told from the compact one, and compared with it by what it says", () => {
    const [named, compact] = [encodeDescriptor(descriptor, "named"), encodeDescriptor(descriptor, "compact")];
    assert.deepEqual([hasForm(named.descriptor, "named"), hasForm(named.descriptor, "compact")], [true, false]);
    assert.deepEqual([hasForm(compact.descriptor, "named"), hasForm(compact.descriptor, "compact")], [false, true]);
    const moved = { ...descriptor, room: "Cellar" };
    const renamed = { ...descriptor, name: "Cellar" };
    const other = { ...descriptor, kind: "fan" as const };
    for (const form of ["named", "compact"] as const) {
      assert.ok(isSameDescriptor(named, encodeDescriptor(descriptor, form)), form);
      assert.ok(isSameDescriptor(encodeDescriptor(descriptor, form), compact), form);
      for (const changed of [moved, renamed, other]) {
        assert.ok(!isSameDescriptor(named, encodeDescriptor(changed, form)), form);
        assert.ok(!isSameDescriptor(compact, encodeDescriptor(changed, form)), form);
      }
    }
  });
});
