import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isJsonObject, parseJson } from "../../src/ecosystem/nest/parse-json.ts";
import { readSnapshot } from "../../src/ecosystem/nest/snapshot.ts";
import { SnapshotReader } from "../../src/ecosystem/nest/snapshot-reader.ts";
import type { Account } from "../../src/model/account.ts";
import { makeAlarm, makeDocument, makeStructure, makeThermostat } from "./made-documents.ts";

describe("a reader of puts in a row", () => {
  it("tells the very same account again when nothing that it reads has changed", () => {
    const reader = new SnapshotReader();
    const account = reader.read(put(makeDocument()));
    assert.equal(reader.read(put(withThermostat({ humidity: 41 }))), account);
    assert.equal(reader.read(put(withThermostat({ humidity: 4.1e1, note: '}{,"t1":{' }))), account);
  });

  it("shares with the account before whatever has not changed", () => {
    const reader = new SnapshotReader();
    const before = reader.read(put(makeDocument())) as Account;
    const after = reader.read(put(withThermostat({ name: "Café 🏡 with a longer name" }))) as Account;
    assert.deepEqual(after, wholly(put(withThermostat({ name: "Café 🏡 with a longer name" }))));
    assert.equal(after.alarms, before.alarms);
    assert.equal(after.structures, before.structures);
    assert.notEqual(after.thermostats.byId.get("t1"), before.thermostats.byId.get("t1"));
  });

  it("copies a list once, however many of its objects have changed", () => {
    const reader = new SnapshotReader();
    reader.read(put(crowded(150, "Room")));
    assert.equal(
      copiesDuring(() => reader.read(put(crowded(150, "Hall")))),
      1,
    );
    assert.equal(reader.isQuick, true);
  });

  it("reads an account as a whole in which hundreds of objects have changed", () => {
    const reader = new SnapshotReader();
    reader.read(put(crowded(2_000, "Room")));
    assert.deepEqual(reader.read(put(crowded(2_000, "Hall"))), wholly(put(crowded(2_000, "Hall"))));
    const copies = copiesDuring(() => reader.read(put(crowded(2_000, "Attic"))));
    assert.ok(copies <= 1, `${copies} copies of 2,000 objects`);
    assert.equal(reader.isQuick, false);
  });

  it("knows bytes that came before, and none before the first", () => {
    const reader = new SnapshotReader();
    assert.equal(reader.isSame(Buffer.alloc(0)), false);
    reader.read(put(makeDocument()));
    assert.equal(reader.isSame(put(makeDocument())), true);
    assert.equal(reader.isSame(put(withThermostat({ humidity: 41 }))), false);
  });

  it("expects little work until puts have differed twice in more than their objects", () => {
    const reader = new SnapshotReader();
    assert.equal(reader.isQuick, false);
    reader.read(put(makeDocument()));
    assert.equal(reader.isQuick, true);
    for (const version of [2, 3]) reader.read(put(makeDocument({ metadata: { version } })));
    assert.equal(reader.isQuick, false);
    reader.read(put(makeDocument({ metadata: { version: 3 }, structures: { s1: listing({ away: "away" }) } })));
    assert.equal(reader.isQuick, true);
  });

  const pairs: [string, string, string][] = [
    ["a device that comes twice", twice("true", "false"), twice("true", "true")],
    ["a device that comes twice and changes where it doesn't count", twice("true", "false"), twice("null", "false")],
    [
      "devices that come twice",
      text('"devices":{},"devices":{"thermostats":{"t1":{"is_online":true,"structure_id":"s1"}}}'),
      text('"devices":{},"devices":{"thermostats":{"t1":{"is_online":false,"structure_id":"s1"}}}'),
    ],
    [
      "a key that is spelled in another way",
      text(
        '"devices":{"thermostats":{"t1":{"is_online":true,"structure_id":"s1"},"\\u0074\\u0031":{"has_fan":true,"structure_id":"s1"}}}',
      ),
      text(
        '"devices":{"thermostats":{"t1":{"is_online":false,"structure_id":"s1"},"\\u0074\\u0031":{"has_fan":true,"structure_id":"s1"}}}',
      ),
    ],
    [
      "an object that ends early",
      text('"structures":{"s1":{"away":"home"}}'),
      text('"structures":{"s1":{"away":"home"},"s2":{"away":"away"}}'),
    ],
    [
      "an object that is no longer one",
      text('"structures":{"s1":{"away":"home"}}'),
      text('"structures":{"s1":["away","home"]}'),
    ],
    [
      "a document that breaks off",
      text('"structures":{"s1":{"away":"home"}}'),
      text('"structures":{"s1":{"away":"away"}}').slice(0, -1),
    ],
    [
      "a document that goes on",
      text('"structures":{"s1":{"away":"home"}}'),
      `${text('"structures":{"s1":{"away":"home"}}')}}`,
    ],
    [
      "a structure that lists another device",
      text('"structures":{"s1":{"away":"home","thermostats":["t1"]}}'),
      text('"structures":{"s1":{"away":"home","thermostats":["t2"]}}'),
    ],
    [
      "a structure that begins to speak of alarms",
      text('"structures":{"s1":{"away":"home"}}'),
      text('"structures":{"s1":{"away":"home","smoke_co_alarms":null}}'),
    ],
    [
      "a device that doesn't say where it is",
      text(
        '"structures":{"s1":{"a":1,"thermostats":["t1"]}},"devices":{"thermostats":{"t1":{"is_online":true,"structure_id":"s2"}}}',
      ),
      text('"structures":{"s1":{"a":1,"thermostats":["t1"]}},"devices":{"thermostats":{"t1":{"is_online":true}}}'),
    ],
    [
      "an object that is too deep",
      text('"structures":{"s1":{"away":"home"}}'),
      text(`"structures":{"s1":{"away":"away","x":${"[".repeat(29)}${"]".repeat(29)}}}`),
    ],
    [
      "a field that is too deep",
      text('"structures":{"s1":{"away":"home","x":1}}'),
      text(`"structures":{"s1":{"away":"home","x":${"[".repeat(29)}${"]".repeat(29)}}}`),
    ],
    [
      "a structure that says nothing any more",
      text('"structures":{"s1":{"name":"x","zone":"a"}}'),
      text('"structures":{"s1":{"name":"x","zone":null}}'),
    ],
    [
      "another path",
      text('"structures":{"s1":{"away":"home"}}'),
      text('"structures":{"s1":{"away":"home"}}').replace('"/"', '"x"'),
    ],
  ];
  for (const [what, first, second] of pairs) {
    it(`reads ${what} as if it were the first`, () => {
      for (const row of [
        [first, second, first],
        [second, first, second],
      ])
        compareWith(row.map((one) => Buffer.from(one)));
    });
  }

  it("forgets of an object what a whole put has overtaken", () => {
    const of = (fields: Record<string, unknown>, version: number) => {
      return put({ ...withThermostat(fields), metadata: { version } });
    };
    const isNow = { name: "Den", is_online: null };
    compareWith([of({}, 1), of({ name: "Den" }, 1), of(isNow, 2), of({ ...isNow, name: "Bar" }, 2)]);
  });

  it("reads every put of any row as if it were the first", () => {
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 1, maxLength: 12 }), (steps) => compareWith(rowOf(steps))),
      { numRuns: 300 },
    );
  });
});

function compareWith(puts: readonly Buffer[]): void {
  const reader = new SnapshotReader();
  for (const bytes of puts) {
    const expected = wholly(bytes);
    const account = reader.isSame(bytes) ? "unchanged" : reader.read(bytes);
    if (account !== "unchanged") assert.deepEqual(inOrder(account), inOrder(expected));
  }
}

/** As it is read without anything before it. */
function wholly(bytes: Buffer): Account | "partial" | undefined {
  const value = parseJson(bytes);
  if (!isJsonObject(value) || typeof value.path !== "string") return undefined;
  return value.path === "/" ? readSnapshot(value.data) : "partial";
}

/** A comparison of maps passes over their order. */
function inOrder(account: Account | "partial" | undefined) {
  if (!account || account === "partial") return account;
  const { structures, thermostats, alarms } = account;
  return { ...account, ids: [structures, thermostats, alarms].map(({ byId }) => [...byId.keys()]) };
}

function put(document: unknown): Buffer {
  return Buffer.from(JSON.stringify({ path: "/", data: document }));
}

function text(inside: string): string {
  return `{"path":"/","data":{${inside}}}`;
}

function twice(first: string, second: string): string {
  const thermostat = (isOnline: string) => `"t1":{"is_online":${isOnline},"structure_id":"s1"}`;
  return text(`"devices":{"thermostats":{${thermostat(first)},${thermostat(second)}}}`);
}

function listing(fields: Record<string, unknown> = {}) {
  return makeStructure({ thermostats: ["t1"], smoke_co_alarms: ["a1"], ...fields });
}

function withThermostat(fields: Record<string, unknown>) {
  const { devices } = makeDocument();
  return makeDocument({ devices: { ...devices, thermostats: { t1: makeThermostat(fields) } } });
}

type Document = Record<string, Record<string, Record<string, Record<string, unknown>>>>;

/** What happens to the document, or to the way in which it is written, before the next put. */
type Step = (state: {
  document: Document;
  write: (document: unknown) => string;
  spoil: (bytes: Buffer) => Buffer;
}) => void;

const anyId = fc.constantFrom("t1", "t2", "a1", "s1", "7", "3", "__proto__", "tür", "🏠");
const anyValue = fc.oneof(
  fc.constantFrom(true, false, null, "ok", "warning", "emergency", "home", "away", "odd", "s1", "s2", 1, 1e21, -0, 0.5),
  fc.string({ unit: "binary", maxLength: 5 }),
  fc.constantFrom(["t1"], ["a1", "t2"], ["t1", 7], {}, [[{}]], '}},"t2":{"x":"', "\\", '"', "\u2028"),
);
const anyField = fc.constantFrom(
  ...["name", "is_online", "has_fan", "fan_timer_active", "fan_timer_timeout", "structure_id", "device_id", "humidity"],
  ...["co_alarm_state", "smoke_alarm_state", "ui_color_state", "away", "thermostats", "smoke_co_alarms", "wheres"],
);
const anyPlace = fc.constantFrom("structures", "thermostats", "smoke_co_alarms");

const change: fc.Arbitrary<Step> = fc
  .tuple(anyPlace, fc.nat(), anyField, anyValue)
  .map(([place, which, field, value]) => ({ document }) => {
    const objects = Object.values(objectsAt(document, place) ?? {});
    const object = objects[which % objects.length];
    if (object) object[field] = value;
  });
const removal: fc.Arbitrary<Step> = fc
  .tuple(anyPlace, fc.nat(), anyField)
  .map(([place, which, field]) => ({ document }) => {
    const objects = Object.values(objectsAt(document, place) ?? {});
    delete objects[which % objects.length]?.[field];
  });
const arrival: fc.Arbitrary<Step> = fc.tuple(anyPlace, anyId).map(([place, id]) => ({ document }) => {
  const objects = objectsAt(document, place);
  const made = place === "structures" ? makeStructure() : place === "thermostats" ? makeThermostat() : makeAlarm();
  if (objects)
    Object.defineProperty(objects, id, { value: made, enumerable: true, configurable: true, writable: true });
});
const departure: fc.Arbitrary<Step> = fc.tuple(anyPlace, anyId).map(([place, id]) => ({ document }) => {
  delete objectsAt(document, place)?.[id];
});
const writing: fc.Arbitrary<Step> = fc.constantFrom(
  ...[
    (document: unknown) => JSON.stringify(document),
    (document: unknown) => JSON.stringify(document, null, 1),
    (document: unknown) =>
      JSON.stringify(document).replace(
        /[é-\uffff]/g,
        (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
      ),
    (document: unknown) => JSON.stringify(document).replaceAll("name", "\\u006eame"),
    (document: unknown) => JSON.stringify(document).replaceAll('"humidity":40', '"humidity":4.0e1'),
    (document: unknown) =>
      JSON.stringify(document, (_, value) =>
        isJsonObject(value) ? Object.fromEntries(Object.entries(value).reverse()) : value,
      ),
    (document: unknown) => JSON.stringify(document).replace('"t1":{', '"t1":{"name":"twice"},"t1":{'),
    (document: unknown) => JSON.stringify(document).replace('"name":', '"name":"twice","name":'),
  ].map((write) => (state: Parameters<Step>[0]) => {
    state.write = write;
  }),
);
const spoiling: fc.Arbitrary<Step> = fc
  .oneof(
    fc.nat(5_000).map((at) => (bytes: Buffer) => bytes.subarray(0, at)),
    fc.tuple(fc.nat(5_000), fc.integer({ min: 0, max: 255 })).map(([at, byte]) => (bytes: Buffer) => {
      const spoiled = Buffer.from(bytes);
      spoiled[at % spoiled.length] = byte;
      return spoiled;
    }),
  )
  .map((spoil) => (state) => {
    state.spoil = spoil;
  });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: change },
  { weight: 2, arbitrary: removal },
  { weight: 1, arbitrary: arrival },
  { weight: 1, arbitrary: departure },
  { weight: 2, arbitrary: writing },
  { weight: 3, arbitrary: spoiling },
);

function objectsAt(document: Document, place: string): Record<string, Record<string, unknown>> | undefined {
  return (place === "structures" ? document.structures : document.devices?.[place]) as never;
}

function rowOf(steps: readonly Step[]): readonly Buffer[] {
  const plain = (bytes: Buffer) => bytes;
  const state = {
    document: structuredClone(makeDocument()) as unknown as Document,
    write: JSON.stringify as (document: unknown) => string,
    spoil: plain,
  };
  return [() => undefined, ...steps].map((step) => {
    state.spoil = plain;
    step(state);
    return state.spoil(Buffer.from(state.write({ path: "/", data: state.document })));
  });
}

/** So many thermostats, all of that name. */
function crowded(thermostats: number, name: string) {
  const ids = Array.from({ length: thermostats }, (_, i) => `t${i}`);
  return makeDocument({
    devices: { thermostats: Object.fromEntries(ids.map((id) => [id, makeThermostat({ device_id: id, name })])) },
  });
}

/** How many maps were made as copies of others meanwhile. */
function copiesDuring(act: () => void): number {
  const OwnMap = globalThis.Map;
  let copies = 0;
  globalThis.Map = class<Key, Value> extends OwnMap<Key, Value> {
    constructor(entries?: Iterable<readonly [Key, Value]> | null) {
      super(entries);
      if (entries instanceof OwnMap) copies += 1;
    }
  } as MapConstructor;
  try {
    act();
  } finally {
    globalThis.Map = OwnMap;
  }
  return copies;
}
