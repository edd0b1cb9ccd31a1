import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import fc from "fast-check";
import { readSnapshot } from "../../src/ecosystems/nest/snapshot.ts";
import type { Home, ObjectReading, Structure } from "../../src/home/home.ts";
import { noConditions } from "../../src/home/traits/alarm-states.ts";
import { parseUntrusted } from "../../src/runtime/json/untrusted-json.ts";
import { shownOf, shownOfAlarm, shownOfStructure, shownOfThermostat } from "../home/home-parts.ts";
import { makeAlarm, makeDocument, makeStructure, makeThermostat } from "./made-documents.ts";

describe("a Nest snapshot", () => {
  it("is read into structures, thermostats and alarms", () => {
    const account = readSnapshot(makeDocument());
    assert.deepEqual(structuresOf(account), [["s1", read({ name: "Home", away: "home", listsDevices: true })]]);
    const thermostat = { structureId: "s1", name: "Hall", isOnline: true, hasFan: true, fanTimerActive: false };
    assert.deepEqual(thermostatsOf(account), [
      ["t1", read({ ...thermostat, fanTimerTimeout: "1970-01-01T00:00:00.000Z" })],
    ]);
    const alarm = { structureId: "s1", name: "Attic", isOnline: true, coAlarmState: "ok", smokeAlarmState: "ok" };
    assert.deepEqual(alarmsOf(account), [["a1", read({ ...alarm, uiColorState: "green" })]]);
    assert.equal(account.speaksOfAlarms, true);
    assert.deepEqual(wholeness(account), [true, true, true]);
    assert.deepEqual(counted(account), [0, 0, 0]);
  });

  it("drops the token that it contains", () => {
    assert.doesNotMatch(inspect(readSnapshot(makeDocument()), { depth: null }), /secret-of-the-document/);
  });

  it("keeps all structures and devices, however many", () => {
    const structures = { s1: makeStructure(), s2: makeStructure(), s3: makeStructure() };
    const thermostats = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`t${index}`, makeThermostat()]));
    const account = readSnapshot(makeDocument({ structures, devices: { thermostats } }));
    assert.deepEqual([account.structures.byId.size, account.thermostats.byId.size], [3, 21]);
  });

  it("reads a thousand objects of each kind, and shows nothing as gone because of more", () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`o${at}`, {}]));
    const ids = Object.keys(many(1_001));
    const kinds = [
      { structures: many(1_001), devices: { thermostats: {}, smoke_co_alarms: {} } },
      { devices: { thermostats: many(1_001), smoke_co_alarms: {} } },
      { devices: { thermostats: {}, smoke_co_alarms: many(1_001) } },
      { structures: { s1: { ...makeStructure(), thermostats: ids } }, devices: { thermostats: {} } },
    ];
    const read = kinds.map((kind) => readSnapshot(makeDocument(kind)));
    const sizes = read.map(({ structures, thermostats, alarms }) =>
      Math.max(structures.byId.size, thermostats.byId.size, alarms.byId.size),
    );
    assert.deepEqual(sizes, [1_000, 1_000, 1_000, 1_000]);
    const whole = read.map(({ structures, thermostats, alarms }) =>
      [structures, thermostats, alarms].map((one) => one.isWhole),
    );
    assert.deepEqual(whole, [
      [false, true, true],
      [true, false, true],
      [true, true, false],
      [true, false, true],
    ]);
    assert.ok(read.every(({ oddities }) => oddities.incomplete > 0));
  });

  it("keeps any name unchanged", () => {
    for (const name of ["", "Hall", "ردهة", "🏠", "x".repeat(10_240), "a\0b", "\uD83C"]) {
      const account = readSnapshot(withThermostat({ name }));
      assert.deepEqual(thermostatOf(account), read({ ...plainThermostat, name }));
    }
  });

  it("ignores unknown fields everywhere", () => {
    const unknown = { $company: { x: 1 }, eta: null, wheres: { w: { name: "x" } }, future: [[{}]] };
    const plain = readSnapshot(makeDocument());
    const account = readSnapshot({
      ...makeDocument({
        structures: { s1: makeStructure({ thermostats: ["t1"], smoke_co_alarms: ["a1"], ...unknown }) },
        devices: {
          ...unknown,
          thermostats: { t1: makeThermostat(unknown) },
          smoke_co_alarms: { a1: makeAlarm(unknown) },
        },
      }),
      ...unknown,
    });
    assert.deepEqual(account, plain);
  });

  it("treats keys such as __proto__ as ordinary ids", () => {
    const text = `{"__proto__": {"structures": 1}, "structures": {"__proto__": {"away": "away", "constructor": 1}},
      "devices": {"thermostats": {"__proto__": {"is_online": true, "structure_id": "__proto__"}, "constructor": {}}}}`;
    const account = readSnapshot(parseUntrusted(text));
    assert.deepEqual([...account.structures.byId.keys()], ["__proto__"]);
    assert.deepEqual([...account.thermostats.byId.keys()], ["__proto__", "constructor"]);
    assert.equal(account.thermostats.byId.get("__proto__")?.isRead, true);
    assert.equal(({} as Record<string, unknown>).away, undefined);
  });

  it("never accepts a field of the wrong type", () => {
    const wrong = { is_online: "yes", has_fan: 1, fan_timer_active: null, name: 5, fan_timer_timeout: {} };
    const account = readSnapshot(withThermostat({ ...wrong, has_fan: true }));
    const blank = { name: null, isOnline: null, hasFan: true, fanTimerActive: null, fanTimerTimeout: null };
    assert.deepEqual(thermostatOf(account), read({ structureId: "s1", ...blank }));
    assert.deepEqual(counted(account), [0, 0, 0]);
  });

  it("parses any JSON without throwing", () => {
    const anything = fc.jsonValue({ maxDepth: 3 });
    const parts = fc.record({ structures: anything, devices: anything }, { requiredKeys: [] });
    const below = fc.record({
      structures: fc.dictionary(fc.string(), anything),
      devices: fc.record({ thermostats: anything, smoke_co_alarms: fc.dictionary(fc.string(), anything) }),
    });
    fc.assert(fc.property(fc.oneof(anything, parts, below), (document) => void readSnapshot(document)));
  });
});

describe("what a Nest snapshot leaves open", () => {
  const untold: [string, unknown, [boolean, boolean, boolean]][] = [
    ["no data at all", null, [false, false, false]],
    ["no document", undefined, [false, false, false]],
    ["a list", [], [false, false, false]],
    ["a text", "x", [false, false, false]],
    ["an empty document", {}, [false, true, true]],
    ["no structures", { devices: {} }, [false, true, true]],
    ["structures that are a list", makeDocument({ structures: [] }), [false, true, true]],
    ["devices that are null", makeDocument({ devices: null }), [true, false, false]],
    ["devices that are a number", makeDocument({ devices: 1 }), [true, false, false]],
    ["thermostats that are a list", makeDocument({ devices: { thermostats: [] } }), [true, false, true]],
    ["alarms that are null", makeDocument({ devices: { smoke_co_alarms: null } }), [true, true, false]],
  ];
  for (const [what, document, whole] of untold) {
    it(`is left open by ${what}, and counted`, () => {
      const account = readSnapshot(document);
      assert.deepEqual(wholeness(account), whole);
      assert.ok(account.oddities.incomplete > 0);
    });
  }

  it("is nothing in an account without devices", () => {
    const account = readSnapshot({ structures: { s1: makeStructure() } });
    assert.deepEqual(wholeness(account), [true, true, true]);
    assert.deepEqual(counted(account), [0, 0, 0]);
  });

  it("leaves a device that only its structure lists where it is", () => {
    const account = readSnapshot(makeDocument({ devices: { thermostats: {}, smoke_co_alarms: { a1: makeAlarm() } } }));
    assert.deepEqual(account.thermostats.byId.get("t1"), unread({ structureId: "s1", name: null }));
    assert.deepEqual(
      [wholeness(account), counted(account)],
      [
        [true, true, true],
        [1, 0, 0],
      ],
    );
  });

  const unreadable: [string, unknown, object][] = [
    ["null", null, { structureId: "s1", name: null }],
    ["a list", [true], { structureId: "s1", name: null }],
    ["empty", {}, { structureId: "s1", name: null }],
    [
      "only its ids and name",
      { device_id: "t1", structure_id: "s2", name: "Hall" },
      { structureId: "s2", name: "Hall" },
    ],
    ["only fields of the wrong type", { is_online: 1, has_fan: "x" }, { structureId: "s1", name: null }],
    ["only fields that aren't mirrored", { humidity: 40 }, { structureId: "s1", name: null }],
  ];
  for (const [what, object, partial] of unreadable) {
    it(`is all about a thermostat that is ${what}, while the alarm beside it is read`, () => {
      const account = readSnapshot(
        makeDocument({ devices: { thermostats: { t1: object }, smoke_co_alarms: { a1: makeAlarm() } } }),
      );
      assert.deepEqual(account.thermostats.byId.get("t1"), unread(partial));
      assert.equal(account.alarms.byId.get("a1")?.isRead, true);
      assert.deepEqual(
        [wholeness(account), counted(account)],
        [
          [true, true, true],
          [1, 0, 0],
        ],
      );
    });
  }

  it("is all about an alarm with nothing but its id", () => {
    const account = readSnapshot(makeDocument({ devices: { smoke_co_alarms: { a1: { device_id: "a1" } } } }));
    assert.deepEqual(account.alarms.byId.get("a1"), unread({ structureId: "s1", name: null }));
  });

  it("is all about a structure with nothing but its id and name", () => {
    for (const [value, name] of [
      [7, null],
      [{}, null],
      [{ structure_id: "s1", name: "Home" }, "Home"],
      [{ structure_id: "s1", name: "Home", away: null }, "Home"],
    ] as const) {
      const account = readSnapshot({ structures: { s1: value, s2: makeStructure() } });
      assert.deepEqual(account.structures.byId.get("s1"), unread({ name, listsDevices: false }));
      assert.equal(account.structures.byId.get("s2")?.isRead, true);
      assert.deepEqual(
        [wholeness(account), counted(account)],
        [
          [true, true, true],
          [1, 0, 0],
        ],
      );
    }
  });

  it("includes which devices are gone from a structure whose lists can't be read", () => {
    for (const lists of [{ thermostats: "t1" }, { smoke_co_alarms: ["a1", 7] }, { thermostats: null }]) {
      const account = readSnapshot(makeDocument({ structures: { s1: makeStructure(lists) } }));
      assert.equal(structureOf(account, "s1").listsDevices, false);
      assert.equal(account.oddities.incomplete, 1);
      assert.equal(account.alarms.byId.get("a1")?.isRead, true);
    }
  });
});

describe("where a device of a Nest snapshot is", () => {
  it("follows from its structure's list when the device doesn't name one", () => {
    const account = readSnapshot(withThermostat({ structure_id: undefined }));
    assert.deepEqual(thermostatOf(account), read({ ...plainThermostat, structureId: "s1" }));
  });

  it("is the structure that the device names when the lists disagree", () => {
    const account = readSnapshot(withThermostat({ structure_id: "s2" }));
    assert.deepEqual(thermostatOf(account), read({ ...plainThermostat, structureId: "s2" }));
  });

  it("stays unknown when neither names one", () => {
    const thermostats = { t1: makeThermostat({ structure_id: 7, device_id: "other" }) };
    const account = readSnapshot({ structures: { s1: makeStructure() }, devices: { thermostats } });
    assert.deepEqual(thermostatsOf(account), [["t1", read({ ...plainThermostat, structureId: null })]]);
  });
});

describe("the states of a Nest snapshot", () => {
  const aways = [
    ["home", "home", 0],
    ["away", "away", 0],
    ["auto-away", "auto-away", 0],
    ["asleep", "unknown", 1],
  ] as const;
  for (const [away, shown, unknown] of [...aways, [undefined, null, 0], [5, null, 0]] as const) {
    it(`show away ${away} as ${shown}`, () => {
      const account = readSnapshot(makeDocument({ structures: { s1: makeStructure({ away }) } }));
      assert.equal(shownOfStructure(structureOf(account, "s1")).away, shown);
      assert.equal(account.oddities.unknownAwayStates, unknown);
    });
  }

  it("keep the word of an unknown alarm state, and count it", () => {
    const alarm = makeAlarm({ co_alarm_state: "evacuate", smoke_alarm_state: 7, ui_color_state: "purple" });
    const account = readSnapshot(makeDocument({ devices: { smoke_co_alarms: { a1: alarm } } }));
    const sighting = account.alarms.byId.get("a1");
    assert.ok(sighting?.isRead);
    const { smoke, carbonMonoxide, indicator } = sighting.object.traits;
    assert.deepEqual(carbonMonoxide?.state, { ...noConditions, state: "unknown", word: "evacuate" });
    assert.deepEqual(smoke?.state, { ...noConditions, state: null, word: null });
    assert.equal(indicator?.state.color, "purple");
    assert.deepEqual(account.oddities.unknownAlarmStates, 1);
  });

  it("are complete with the alarms permission alone", () => {
    const structure = { structure_id: "s1", name: "Home", smoke_co_alarms: ["a1"] };
    const account = readSnapshot({ structures: { s1: structure }, devices: { smoke_co_alarms: { a1: makeAlarm() } } });
    assert.deepEqual(
      shownOf(account.structures.byId.get("s1"), shownOfStructure),
      read({ name: "Home", away: null, listsDevices: true }),
    );
    assert.deepEqual(
      [wholeness(account), counted(account)],
      [
        [true, true, true],
        [0, 0, 0],
      ],
    );
    assert.equal(account.speaksOfAlarms, true);
  });

  it("mention alarms when any part of the account does", () => {
    const speaks = (document: object) => readSnapshot(document).speaksOfAlarms;
    const structures = { s1: makeStructure() };
    assert.equal(speaks({ structures, devices: { thermostats: { t1: makeThermostat() } } }), false);
    assert.equal(speaks({ structures, devices: { smoke_co_alarms: {} } }), true);
    assert.equal(speaks({ structures: { s1: makeStructure({ smoke_co_alarms: [] }) } }), true);
  });
});

describe("the text of a Nest snapshot", () => {
  it("may nest 32 levels, and not one more", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    assert.notEqual(parseUntrusted(nested(32)), undefined);
    assert.equal(parseUntrusted(nested(33)), undefined);
    assert.equal(parseUntrusted(`${'{"a":'.repeat(33)}1${"}".repeat(33)}`), undefined);
    assert.equal(parseUntrusted(nested(10_000)), undefined);
    assert.equal(parseUntrusted(nested(1_000_000)), undefined);
  });

  it("must be JSON to its end", () => {
    for (const text of ["", "{", '{"a":1', "{}x", "nul", '{"a":"\0"}']) assert.equal(parseUntrusted(text), undefined);
  });
});

const plainThermostat = {
  structureId: "s1",
  name: "Hall",
  isOnline: true,
  hasFan: true,
  fanTimerActive: false,
  fanTimerTimeout: "1970-01-01T00:00:00.000Z",
};

function withThermostat(fields: Record<string, unknown>) {
  return makeDocument({
    devices: { thermostats: { t1: makeThermostat(fields) }, smoke_co_alarms: { a1: makeAlarm() } },
  });
}

function read<T>(object: T): ObjectReading<T> {
  return { isRead: true, object };
}

function unread(partial: object) {
  return { isRead: false, partial };
}

function structureOf(account: Home, id: string): Structure {
  const sighting = account.structures.byId.get(id);
  assert.ok(sighting?.isRead);
  return sighting.object;
}

function wholeness({ structures, thermostats, alarms }: Home): [boolean, boolean, boolean] {
  return [structures.isWhole, thermostats.isWhole, alarms.isWhole];
}

/** Incomplete, unknown alarm states, unknown away states. */
function counted({ oddities }: Home): number[] {
  return [oddities.incomplete, oddities.unknownAlarmStates, oddities.unknownAwayStates];
}

function structuresOf({ structures }: Home): unknown {
  return [...structures.byId].map(([id, one]) => [id, shownOf(one, shownOfStructure)]);
}

function thermostatsOf({ thermostats }: Home): unknown {
  return [...thermostats.byId].map(([id, one]) => [id, shownOf(one, shownOfThermostat)]);
}

function alarmsOf({ alarms }: Home): unknown {
  return [...alarms.byId].map(([id, one]) => [id, shownOf(one, shownOfAlarm)]);
}

function thermostatOf({ thermostats }: Home): unknown {
  return shownOf(thermostats.byId.get("t1"), shownOfThermostat);
}
