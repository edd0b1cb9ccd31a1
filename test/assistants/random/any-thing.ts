import fc from "fast-check";
import type { CurrentThing } from "../../../src/assistants/current-thing.ts";
import { traits as catalogue, type TraitName, type Traits, traitNames } from "../../../src/home/catalogue.ts";
import type { ThingKind } from "../../../src/home/thing.ts";
import type { ValueType } from "../../../src/home/trait.ts";
import { settableFields } from "../../../src/home/trait-map.ts";
import { cleanText } from "../../../src/model/clean-text.ts";
import { anyCharacter } from "../../set-up/any-character.ts";
import { changedMs, thing } from "../alexa/things.ts";

/** Names that people give, and names that break what does not expect them. */
const anyText = fc
  .oneof(
    fc.constantFrom(
      "Hall",
      "Küche",
      "Living room lamp",
      "寝室",
      "غرفة النوم",
      "",
      " ",
      "\u0000",
      "\u202eroom",
      "👩‍👩‍👧‍👦",
    ),
    fc.constantFrom("<script>alert(1)</script>", '"; DROP TABLE things; --', "%s%n", "a\nb\tc", "../../x"),
    fc.constantFrom("x".repeat(127), "x".repeat(5_000), `${"y".repeat(127)}😀`, "__proto__", "constructor"),
    fc.string({ unit: anyCharacter, maxLength: 12 }),
  )
  .map(cleanText);

export const anyName = fc.option(anyText, { freq: 8 });

const fanModes = ["auto", "on", "off", "low", "high", "Turbo 3000"];

function anyNumber({ unit, min, max }: Extract<ValueType, { readonly type: "number" }>): fc.Arbitrary<number> {
  switch (unit) {
    case "percent": {
      const [least, most] = [min ?? 0, max ?? 100];
      const hundredths = fc.integer({ min: least * 100, max: most * 100 }).map((value) => value / 100);
      return fc.oneof(fc.integer({ min: least, max: most }), hundredths, fc.constantFrom(least, most));
    }
    case "celsius":
      return fc.oneof(
        { weight: 8, arbitrary: fc.integer({ min: 500, max: 3_500 }).map((value) => value / 100) },
        { weight: 1, arbitrary: fc.integer({ min: -5_000, max: 15_000 }).map((value) => value / 100) },
        { weight: 1, arbitrary: fc.constantFrom(0, -273.15, 100, 100.01, 101, 1_000_000, -1_000_000) },
      );
    case "minutes":
      return fc.integer({ min: 1, max: 720 });
    case "milliseconds":
      return fc.integer({ min: changedMs - 86_400_000, max: changedMs + 86_400_000 });
  }
}

/** A value of a field, a capability or a parameter, as the catalogue types it. */
function anyValue(type: ValueType): fc.Arbitrary<unknown> {
  switch (type.type) {
    case "boolean":
      return fc.boolean();
    case "enum":
      return fc.constantFrom(...type.values);
    case "number":
      return anyNumber(type);
    case "text":
      return fc.oneof(fc.constantFrom(...fanModes), anyText);
    case "list":
      return fc.subarray([...(type.values ?? fanModes)], { minLength: 1 });
  }
}

function anyValues(definitions: Readonly<Record<string, { readonly value: ValueType }>>, freq: number) {
  const values = Object.entries(definitions).map(([name, { value }]) => [name, fc.option(anyValue(value), { freq })]);
  return fc.record(Object.fromEntries(values) as Record<string, fc.Arbitrary<unknown>>);
}

/** The trait with any state: values that are not told, devices that do not answer. */
export function anyTrait(name: TraitName): fc.Arbitrary<object> {
  return fc.record({
    available: fc.constantFrom(true, true, true, true, true, null, false),
    state: anyValues(catalogue[name].fields, 9),
    capabilities: anyValues(catalogue[name].capabilities, 3),
  });
}

/** The traits that things of a kind have most often. */
const usual: Readonly<Record<ThingKind, readonly TraitName[]>> = {
  thermostat: ["thermostat", "temperature", "humidity", "fanTimer", "fan"],
  alarm: ["smoke", "carbonMonoxide", "battery", "indicator"],
  fan: ["onOff", "fan"],
  light: ["onOff", "brightness"],
  switch: ["onOff"],
  sensor: ["temperature", "humidity", "battery"],
  home: ["presence"],
  other: ["onOff", "temperature"],
};

const anyTraits = (kind: ThingKind): fc.Arbitrary<Traits> =>
  fc
    .oneof(
      { weight: 5, arbitrary: fc.constant(usual[kind]) },
      { weight: 2, arbitrary: fc.subarray([...usual[kind]], { minLength: 1 }) },
      { weight: 1, arbitrary: fc.subarray([...traitNames]) },
    )
    .chain(
      (names) => fc.record(Object.fromEntries(names.map((name) => [name, anyTrait(name)]))) as fc.Arbitrary<Traits>,
    );

/** What a map lets commands set; undefined for a thing of a linked account. */
const anySettable = fc.option(
  fc.record(
    Object.fromEntries(Object.entries(settableFields).map(([trait, fields]) => [trait, fc.subarray([...fields])])),
  ),
  { nil: undefined },
);

const kinds: readonly ThingKind[] = [
  ...([
    "thermostat",
    "thermostat",
    "thermostat",
    "alarm",
    "fan",
    "light",
    "switch",
    "sensor",
    "home",
    "other",
  ] as const),
];

/** A thing as an assistant sees it: of a linked account or an own device, current or not. */
export const anyThing: fc.Arbitrary<CurrentThing> = fc
  .record({
    kind: fc.constantFrom(...kinds),
    number: fc.bigInt({ min: 0n, max: 2n ** 60n }),
    name: anyName,
    room: fc.option(
      fc.oneof(
        fc.integer({ min: 1, max: 40 }).map((room) => `Room ${room}`),
        anyText,
      ),
    ),
    maker: anyName,
    model: anyName,
    settable: anySettable,
    isGoogles: fc.constantFrom(false, false, false, false, true),
    isStale: fc.constantFrom(false, false, false, false, false, true),
    isGone: fc.constantFrom(false, false, false, false, false, false, false, true),
  })
  .chain(({ kind, number, settable, isGone, ...facts }) =>
    anyTraits(kind).map((traits) => {
      const source = settable ? "own" : "nest";
      const thingId = `t_${number.toString(36).padStart(22, "0")}`;
      const isOwn = settable !== undefined;
      return thing(kind, traits, {
        ...facts,
        ...(isOwn && { settable, isGoogles: false, isStale: false }),
        thingId,
        source,
        goneMs: isGone && !isOwn ? changedMs : null,
      });
    }),
  );

/** Any home, of which each thing has an id of its own. Without `size` fast-check makes few things, whatever `most` is. */
export const anyThings = (most: number, least = 1): fc.Arbitrary<readonly CurrentThing[]> =>
  fc.uniqueArray(anyThing, { minLength: least, maxLength: most, size: "max", selector: ({ thingId }) => thingId });
