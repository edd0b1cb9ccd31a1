import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reportedThings } from "../../src/home/reported-things.ts";
import { descriptorOf, fieldChanges, withFieldChanges } from "../../src/home/stored-thing.ts";
import type { Thing } from "../../src/home/thing.ts";
import { printOf, sampleDifference } from "../../src/home/thing-print.ts";
import { alarm, alarmThing, homeWith, incomplete, structure, thermostat, thermostatThing } from "./home-parts.ts";

const reported = (thing: Thing, homeName: string | null = "Home") => ({ key: "thermostat/t", thing, homeName });
const measured = (celsius: number | null, percent: number | null = 40): Thing => {
  const thing = thermostatThing({});
  const temperature = { available: true, state: { celsius }, capabilities: { unit: "C" as const } };
  const humidity = { available: true, state: { percent }, capabilities: {} };
  return { ...thing, traits: { ...thing.traits, temperature, humidity } };
};

describe("the print of a thing", () => {
  it("has another hash when any field but a sample differs", () => {
    const base = thermostatThing({});
    const hash = (thing: Thing, homeName?: string) => printOf(reported(thing, homeName)).hash;
    const others: Record<string, number> = {
      name: hash({ ...base, name: "Den" }),
      room: hash({ ...base, room: "Den" }),
      homeName: hash(base, "Cottage"),
      kind: hash({ ...base, kind: "other" }),
      mode: hash(thermostatThing({ mode: "cool" })),
      fan: hash(thermostatThing({ fanTimerActive: true })),
      "not told": hash(thermostatThing({ fanTimerActive: null })),
      capability: hash(thermostatThing({ hasFan: false })),
      online: hash(thermostatThing({ isOnline: false })),
      "moved text": hash({ ...base, name: "Hall,4:null", room: null }),
    };
    for (const [what, other] of Object.entries(others)) assert.notEqual(other, hash(base), what);
    assert.equal(new Set(Object.values(others)).size, Object.keys(others).length);
    assert.equal(hash(measured(20)), hash(measured(21, 60)));
  });

  it("tells a small change of a sample from a jump", () => {
    const difference = (before: Thing, after: Thing) =>
      sampleDifference(printOf(reported(before)), printOf(reported(after)));
    const cases = [
      [measured(20), measured(20), "none"],
      [measured(20), measured(20.49), "small"],
      [measured(20.15), measured(20.65), "jump"],
      [measured(20), measured(19.5), "jump"],
      [measured(20, 40), measured(20, 44), "small"],
      [measured(20, 40), measured(20, 45), "jump"],
      [measured(null), measured(20), "jump"],
      [measured(20), measured(null), "jump"],
    ] as const;
    for (const [before, after, expected] of cases) assert.equal(difference(before, after), expected);
  });

  it("tells which danger is reported, and calls an unknown word one", () => {
    const danger = (fields: Parameters<typeof alarmThing>[0]) => printOf(reported(alarmThing(fields))).danger;
    assert.equal(danger({}), "");
    assert.equal(danger({ smokeAlarmState: null, coAlarmState: null }), "");
    assert.equal(danger({ smokeAlarmState: "emergency" }), "alarm clear");
    assert.equal(danger({ coAlarmState: "beeping" }), "clear unknown");
  });
});

describe("the things of a home", () => {
  const home = homeWith({
    structures: { s: structure({ name: "Cottage" }), u: incomplete({ name: "Barn" }) },
    thermostats: { t: thermostat("s"), x: incomplete() },
    alarms: { a: alarm("u"), b: alarm(null) },
  });

  it("are its alarms, structures and thermostats, each with the name of its structure", () => {
    const { read, unread } = reportedThings(home);
    assert.deepEqual(
      read.map(({ key, homeName }) => [key, homeName]),
      [
        ["alarm/a", "Barn"],
        ["alarm/b", null],
        ["structure/s", "Cottage"],
        ["thermostat/t", "Cottage"],
      ],
    );
    assert.deepEqual(unread, ["structure/u", "thermostat/x"]);
    assert.deepEqual(read[2]!.thing.traits.presence?.state, { state: "home", word: "home" });
  });

  it("are gone only when the snapshot lists all that could hold them", () => {
    const structures = { s: structure() };
    const gone = (home: Parameters<typeof reportedThings>[0]) =>
      ["alarm/z", "thermostat/z", "structure/z"].filter(reportedThings(home).isGoneUnlessNamed);
    assert.deepEqual(gone(homeWith({ structures })), ["alarm/z", "thermostat/z", "structure/z"]);
    assert.deepEqual(gone(homeWith({ structures, notWhole: ["alarms"] })), ["thermostat/z", "structure/z"]);
    assert.deepEqual(gone(homeWith({ structures, notWhole: ["thermostats"] })), ["alarm/z", "structure/z"]);
    assert.deepEqual(gone(homeWith({ structures, notWhole: ["structures"] })), []);
    assert.deepEqual(gone(homeWith({ structures: { s: structure({ listsDevices: false }) } })), ["structure/z"]);
    assert.deepEqual(gone(homeWith({ structures: { s: incomplete() } })), ["structure/z"]);
    assert.ok(!reportedThings(homeWith({ structures })).isGoneUnlessNamed("lamp/z"));
  });
});

describe("a stored thing", () => {
  it("takes the changed fields with the time of their commit, and leaves the others", () => {
    const first = fieldChanges({}, reported(alarmThing({})));
    const stored = withFieldChanges({}, first, 5);
    assert.deepEqual(stored.smoke, {
      available: [true, 5],
      state: ["clear", 5],
      word: ["ok", 5],
      testing: [null, 5],
    });
    const burning = reported(alarmThing({ smokeAlarmState: "emergency", uiColorState: "red" }));
    const changes = fieldChanges(stored, burning);
    assert.deepEqual(changes, [
      { trait: "smoke", field: "state", value: "alarm" },
      { trait: "smoke", field: "word", value: "emergency" },
      { trait: "indicator", field: "color", value: "red" },
    ]);
    const next = withFieldChanges(stored, changes, 9);
    assert.deepEqual(next.smoke?.state, ["alarm", 9]);
    assert.deepEqual([next.smoke?.testing, next.carbonMonoxide], [[null, 5], stored.carbonMonoxide]);
    assert.deepEqual(fieldChanges(next, burning), []);
  });

  it("keeps the values of a trait that is no longer told, as not available", () => {
    const thing = alarmThing({});
    const stored = withFieldChanges({}, fieldChanges({}, reported(thing)), 5);
    const { smoke, ...traits } = thing.traits;
    assert.ok(smoke);
    assert.deepEqual(fieldChanges(stored, reported({ ...thing, traits })), [
      { trait: "smoke", field: "available", value: false },
    ]);
  });

  it("has text that every database can store", () => {
    const thing = { ...alarmThing({ smokeAlarmState: "\0\ud800" }), room: "\0" };
    assert.equal(descriptorOf(reported(thing, "\udc00")).room, "\uFFFD");
    assert.equal(descriptorOf(reported(thing, "\udc00")).homeName, "\uFFFD");
    const word = fieldChanges({}, reported(thing)).find(({ trait, field }) => trait === "smoke" && field === "word");
    assert.equal(word?.value, "\uFFFD\uFFFD");
  });
});
