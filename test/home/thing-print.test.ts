import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reportedThings, thermostatIn, thermostatKey } from "../../src/home/reported-things.ts";
import { descriptorOf, fieldChanges, storedTraits, withFieldChanges } from "../../src/home/stored-thing.ts";
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
      maker: hash({ ...base, maker: "Acme" }),
      model: hash({ ...base, model: "Acme" }),
    };
    for (const [what, other] of Object.entries(others)) assert.notEqual(other, hash(base), what);
    assert.equal(new Set(Object.values(others)).size, Object.keys(others).length);
    assert.equal(hash(measured(20)), hash(measured(21, 60)));
  });

  it("has the same hash for equal things, and another one for equal values of another trait or capability", () => {
    const hash = (thing: Thing) => printOf(reported(thing)).hash;
    const base = structuredClone(alarmThing({}));
    assert.equal(hash(base), hash(base));
    assert.equal(hash(structuredClone(base)), hash(base));
    assert.ok(Number.isSafeInteger(hash(base)));
    const { smoke, ...others } = base.traits;
    const only = (name: "smoke" | "carbonMonoxide") => ({ ...base, traits: { [name]: smoke! } });
    assert.notEqual(hash(only("smoke")), hash(only("carbonMonoxide")));
    const withCapability = (name: string) => {
      const changed = { ...smoke!, capabilities: { [name]: true } as never };
      return { ...base, traits: { ...others, smoke: changed } };
    };
    assert.notEqual(hash(withCapability("graded")), hash(withCapability("tested")));
  });

  it("has a sample for each measured field that is reported, and for no other", () => {
    const samplesOf = (thing: Thing) => printOf(reported(thing)).samples;
    assert.deepEqual(samplesOf(thermostatThing({})), []);
    assert.deepEqual(samplesOf(measured(20, null)), [40, null]);
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
      [measured(null), measured(0.1), "jump"],
      [thermostatThing({}), measured(20), "jump"],
      [thermostatThing({}), measured(null, null), "none"],
      [measured(null, null), thermostatThing({}), "none"],
    ] as const;
    for (const [before, after, expected] of cases) assert.equal(difference(before, after), expected);
    assert.equal(sampleDifference({ samples: [0] }, { samples: [1 - 1e-6] }), "jump", "1 but for a rounding error");
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
    assert.deepEqual([read[2]!.thing.kind, read[2]!.thing.structureId, read[2]!.thing.name], ["home", "s", "Cottage"]);
  });

  it("tell nothing of presence when the account does not", () => {
    const structures = { s: { isRead: true, object: { name: "Cottage", listsDevices: true } } } as const;
    assert.deepEqual(reportedThings(homeWith({ structures })).read[0]?.thing.traits, {});
  });

  it("have the key of a thermostat exactly when they are one", () => {
    assert.equal(thermostatKey("a/b"), "thermostat/a/b");
    assert.equal(thermostatIn("thermostat/a/b"), "a/b");
    assert.equal(thermostatIn("alarm/thermostat/a"), undefined);
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
    const oneListsNone = { ...structures, u: structure({ listsDevices: false }) };
    assert.deepEqual(gone(homeWith({ structures: oneListsNone })), ["structure/z"]);
    assert.equal(reportedThings(homeWith({ structures })).isGoneUnlessNamed("lamp/z"), false);
  });
});

describe("a stored thing", () => {
  it("takes the changed fields with the time of their commit, and leaves the others", () => {
    const first = fieldChanges({}, reported(alarmThing({})));
    const stored = withFieldChanges({}, first, 5);
    assert.deepEqual(Object.keys(stored), ["smoke", "carbonMonoxide", "indicator"]);
    assert.deepEqual(stored.smoke, {
      available: [true, 5],
      state: ["clear", 5],
      word: ["ok", 5],
      ...{ testing: [null, 5], fault: [null, 5], endOfLife: [null, 5], muted: [null, 5] },
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

  it("keeps what a trait can do while the trait is not told, and forgets it when the thing was gone", () => {
    const report = reported(thermostatThing({ celsius: 20 }));
    const { thermostat, ...traits } = report.thing.traits;
    const silent = reported({ ...report.thing, traits });
    assert.deepEqual(descriptorOf(silent, descriptorOf(report)).capabilities.thermostat, thermostat?.capabilities);
    assert.equal(descriptorOf(silent).capabilities.thermostat, undefined);
  });

  it("keeps a setpoint that the mode in force does not tell, and no other value", () => {
    const { traits, ...thing } = thermostatThing({});
    const showing = (state: object) => {
      const thermostat = { ...traits.thermostat!, state: { ...traits.thermostat!.state, ...state } };
      return reported({ ...thing, traits: { thermostat } });
    };
    const heating = showing({ mode: "heat", heatCelsius: 20, targetCelsius: 20, preset: "home" });
    const stored = withFieldChanges({}, fieldChanges({}, heating), 5);
    const cooling = showing({ mode: "cool", heatCelsius: null, coolCelsius: 24, targetCelsius: null, preset: null });
    const changed = fieldChanges(stored, cooling).map(({ field, value }) => [field, value]);
    assert.deepEqual(changed, [
      ["mode", "cool"],
      ["coolCelsius", 24],
      ["targetCelsius", null],
      ["preset", null],
    ]);
    const back = fieldChanges(stored, cooling, true);
    assert.equal(back.find(({ field }) => field === "heatCelsius")?.value, null);
  });

  it("has null for a field that the report leaves out", () => {
    const thing = alarmThing({});
    const smoke = { ...thing.traits.smoke!, state: { state: "clear" } as never };
    const changes = fieldChanges({}, reported({ ...thing, traits: { smoke } }));
    assert.deepEqual(
      changes.map(({ field, value }) => [field, value]),
      [
        ["available", true],
        ["state", "clear"],
        ["word", null],
        ["testing", null],
        ["fault", null],
        ["endOfLife", null],
        ["muted", null],
      ],
    );
  });

  it("does not change by a field that the version which stored it did not know, until that field has a value", () => {
    const stored = withFieldChanges({}, fieldChanges({}, reported(alarmThing({}))), 5);
    const { fault: _, ...smoke } = stored.smoke!;
    assert.deepEqual(fieldChanges({ ...stored, smoke }, reported(alarmThing({}))), []);
  });

  it("has the traits that its connector reported last", () => {
    const { traits, ...thing } = thermostatThing({ celsius: 20, isOnline: false });
    const report = reported({ ...thing, traits });
    const state = withFieldChanges({}, fieldChanges({}, report), 5);
    assert.deepEqual(storedTraits(descriptorOf(report), state), traits);
    const partial = { temperature: { celsius: [20, 5] } } as const;
    assert.deepEqual(storedTraits({ capabilities: {} }, partial), {
      temperature: { available: null, state: { celsius: 20 }, capabilities: {} },
    });
  });

  it("has text that every database can store", () => {
    const thing = { ...alarmThing({ smokeAlarmState: "\0\ud800" }), room: "\0" };
    assert.equal(descriptorOf(reported(thing, "\udc00")).room, "\uFFFD");
    assert.equal(descriptorOf(reported(thing, "\udc00")).homeName, "\uFFFD");
    const word = fieldChanges({}, reported(thing)).find(({ trait, field }) => trait === "smoke" && field === "word");
    assert.equal(word?.value, "\uFFFD\uFFFD");
    const presets = { presetModes: ["eco", "a\0"], note: "\ud800", isFast: true, most: null } as never;
    const fan = { available: true, state: {}, capabilities: presets } as never;
    assert.deepEqual(descriptorOf(reported({ ...thing, traits: { fan } })).capabilities.fan, {
      ...{ presetModes: ["eco", "a\uFFFD"], note: "\uFFFD", isFast: true, most: null },
    });
  });
});
