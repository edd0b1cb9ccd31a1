import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Home, ObjectReading } from "../../src/home/home.ts";
import {
  attributeCount,
  attributeName,
  isWritable,
  parseAttributeName,
} from "../../src/virtual-device/attribute-names.ts";
import { type AttributeValues, blankValues } from "../../src/virtual-device/attribute-values.ts";
import { assignIndexes, emptyIndexMap, type IndexMap } from "../../src/virtual-device/index-map.ts";
import { mirror } from "../../src/virtual-device/mirror.ts";
import type { Slot } from "../../src/virtual-device/slots.ts";
import { anyHome } from "../home/any-home.ts";
import {
  alarm,
  alarmThing,
  homeWith,
  incomplete,
  many,
  shownOfAlarm,
  shownOfStructure,
  shownOfThermostat,
  structure,
  thermostat,
} from "../home/home-parts.ts";
import { rounds } from "../set-up/extent.ts";

const home = "d.structures[1].a";
const firstThermostat = "d.structures[1].d.thermostats[1]";
const firstAlarm = "d.structures[1].d.smokeCoAlarms[1]";

describe("the mirror of an account", () => {
  it("shows every mapped object's fields, blank where a read object has none", () => {
    fc.assert(
      fc.property(fc.array(anyHome({ isClear: true, mostAlarms: 22 }), { minLength: 1, maxLength: 3 }), (accounts) => {
        const view = new View();
        for (const account of accounts) {
          view.show(account);
          assert.deepEqual(byName(view.values), expectedValues(account, view.map));
        }
      }),
      { numRuns: rounds({ all: 150, few: 25 }) },
    );
  });

  it("fills all attributes but the fan requests when the account has all that the model can hold", () => {
    const view = new View().show(
      homeWith({
        structures: { a: structure(), b: structure() },
        thermostats: many(40, "t", (number) => thermostat(number % 2 ? "a" : "b")),
        alarms: many(36, "p", (number) => alarm(number % 2 ? "a" : "b")),
      }),
    );
    const blank = view.values.flatMap((value, number) => (value === null ? [number] : []));
    assert.equal(blank.length, 40);
    assert.ok(blank.every(isWritable));
  });

  it("is the same when the same account is mirrored again", () => {
    const anyHomes = fc.array(anyHome({ isClear: false, mostAlarms: 22 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(anyHomes, (accounts) => {
        const view = new View();
        for (const account of accounts) {
          view.show(account);
          const once = { values: view.values, map: view.map };
          view.show(account);
          assert.deepEqual(view.values, once.values);
          assert.equal(view.map, once.map);
        }
      }),
      { numRuns: rounds({ all: 150, few: 25 }) },
    );
  });

  it("blanks nothing and changes nothing when the same account is incomplete", () => {
    const anyFog = fc.record({
      kept: fc.array(fc.constantFrom("read", "incomplete", "unnamed"), { minLength: 1, maxLength: 7 }),
      partHasStructure: fc.boolean(),
    });
    fc.assert(
      fc.property(anyHome({ isClear: true, mostAlarms: 18 }), anyFog, (account, fog) => {
        const view = new View().show(account);
        const { values, map } = view;
        view.show(madeIncomplete(account, fog.kept, fog.partHasStructure));
        assert.deepEqual(byName(view.values), byName(values));
        assert.equal(view.map, map);
      }),
      { numRuns: rounds({ all: 150, few: 25 }) },
    );
  });

  it("blanks what is gone, its fan request too, and an account without structures altogether", () => {
    const account = homeWith({
      structures: { s: structure() },
      thermostats: { t: thermostat("s") },
      alarms: { p: alarm("s") },
    });
    const view = new View().show(account).write(`${firstThermostat}.fan_timer_active.requestWrite`, "true");
    view.show(homeWith({ structures: { s: structure() } }));
    assert.deepEqual(shown(view.values, firstThermostat), {});
    assert.deepEqual(shown(view.values, firstAlarm), {});
    assert.equal(value(view.values, "o.structures[1].totals.thermostats"), "0");
    view.show(homeWith());
    assert.deepEqual(view.values, blankValues);
  });

  it("takes an incomplete object's new name, and sets no more than id and name of one never seen before", () => {
    const s = structure();
    const view = new View().show(homeWith({ structures: { s }, thermostats: { t: thermostat("s") } }));
    const part = { structureId: "s", name: "Den" };
    view.show(
      homeWith({
        structures: { s: incomplete({ name: "Cottage" }), x: incomplete() },
        thermostats: { t: incomplete(part) },
        alarms: { p: incomplete(part) },
      }),
    );
    assert.equal(value(view.values, `${home}.name`), "Cottage");
    assert.equal(value(view.values, `${home}.away`), "home");
    assert.equal(value(view.values, `${firstThermostat}.name`), "Den");
    assert.equal(value(view.values, `${firstThermostat}.has_fan`), "true");
    assert.deepEqual(shown(view.values, firstAlarm), { name: "Den", device_id: "p" });
    assert.deepEqual(shown(view.values, "d.structures[2].a"), { structure_id: "x" });
  });

  it("moves an incomplete device's values with it, but not its fan request", () => {
    const structures = { a: structure(), b: structure() };
    const view = new View().show(
      homeWith({
        structures,
        thermostats: { t: thermostat("a", { fanTimerActive: true }) },
        alarms: { p: alarm("a", { smokeAlarmState: "emergency" }) },
      }),
    );
    view.write(`${firstThermostat}.fan_timer_active.requestWrite`, "true");
    view.show(
      homeWith({
        structures,
        thermostats: { t: incomplete({ structureId: "b" }) },
        alarms: { p: incomplete({ structureId: "b" }) },
      }),
    );
    assert.deepEqual(shown(view.values, firstThermostat), {});
    assert.equal(value(view.values, "d.structures[2].d.thermostats[1].fan_timer_active"), "true");
    assert.equal(value(view.values, "d.structures[2].d.thermostats[1].fan_timer_active.requestWrite"), null);
    assert.equal(value(view.values, "o.structures[1].emergencies.smoke"), "false");
    assert.equal(value(view.values, "o.structures[2].emergencies.smoke"), "true");
  });

  it("keeps a fan request while its thermostat stays in the slot", () => {
    const request = `${firstThermostat}.fan_timer_active.requestWrite`;
    const show = (id: string) => homeWith({ structures: { s: structure() }, thermostats: { [id]: thermostat("s") } });
    const view = new View().show(show("t")).write(request, "true").show(show("t"));
    assert.equal(value(view.values, request), "true");
    const other = assignIndexes(emptyIndexMap, show("other")).map;
    assert.equal(value(mirror(show("other"), other, view.values), request), null);
  });

  it("makes text from outside storable in every database", () => {
    const name = `\0\uD800${"x".repeat(9000)}`;
    const account = homeWith({
      structures: { "s\0": structure({ name }) },
      thermostats: { "t\uDC00": thermostat("s\0") },
    });
    const { values } = new View().show(account);
    assert.equal(value(values, `${home}.name`), `\uFFFD\uFFFD${"x".repeat(8190)}`);
    assert.equal(value(values, `${home}.structure_id`), "s\uFFFD");
    assert.equal(value(values, `${firstThermostat}.device_id`), "t\uFFFD");
    const unread = homeWith({ structures: { "s\0": incomplete() }, thermostats: { "t\uDC00": incomplete() } });
    assert.deepEqual(mirror(unread, assignIndexes(emptyIndexMap, account).map, values), values);
  });
});

describe("a structure's warnings and emergencies", () => {
  const s = structure();
  const aggregates = (view: View) => shown(view.values, "o.structures[1]", "warnings", "emergencies");
  const allFalse = {
    "warnings.all": "false",
    "warnings.smoke": "false",
    "warnings.CO": "false",
    "emergencies.all": "false",
    "emergencies.smoke": "false",
    "emergencies.CO": "false",
  };

  it("are true when any alarm is in that state, each separately", () => {
    const cases: [Parameters<typeof alarm>[1], object][] = [
      [{ smokeAlarmState: "warning" }, { "warnings.all": "true", "warnings.smoke": "true" }],
      [{ coAlarmState: "warning" }, { "warnings.all": "true", "warnings.CO": "true" }],
      [{ smokeAlarmState: "emergency" }, { "emergencies.all": "true", "emergencies.smoke": "true" }],
      [{ coAlarmState: "emergency" }, { "emergencies.all": "true", "emergencies.CO": "true" }],
      [{ coAlarmState: "catastrophe", smokeAlarmState: null }, {}],
    ];
    for (const [states, expected] of cases) {
      const alarms = { p: alarm("s"), q: alarm("s", states), far: alarm("z", { coAlarmState: "emergency" }) };
      const view = new View().show(homeWith({ structures: { s, z: structure() }, alarms }));
      assert.deepEqual(aggregates(view), { ...allFalse, ...expected });
    }
  });

  it("are false without alarms, and blank when nothing in the account mentions alarms", () => {
    assert.deepEqual(aggregates(new View().show(homeWith({ structures: { s } }))), allFalse);
    assert.deepEqual(aggregates(new View().show(homeWith({ structures: { s }, speaksOfAlarms: false }))), {});
  });

  it("stay unchanged when a snapshot doesn't show whether there are alarms", () => {
    const alarms = { p: alarm("s", { smokeAlarmState: "emergency" }) };
    const view = new View().show(homeWith({ structures: { s }, alarms }));
    const before = view.values;
    view.show(homeWith({ structures: { s }, notWhole: ["alarms"], speaksOfAlarms: false }));
    assert.deepEqual(view.values, before);
  });

  it("count alarms over the limit, and keep them while they may still be present", () => {
    const sounding = alarm("s", { smokeAlarmState: "emergency" });
    const alarms = [...many(18, "p", () => alarm("s")), ["z", sounding] as [string, typeof sounding]];
    const view = new View().show(homeWith({ structures: { s }, alarms }));
    assert.equal(value(view.values, "o.structures[1].totals.smokeCOAlarms"), "18");
    const before = view.values;
    assert.equal(value(before, "o.structures[1].emergencies.all"), "true");
    view.show(homeWith({ structures: { s }, alarms: alarms.slice(0, 5), notWhole: ["alarms"] }));
    assert.deepEqual(view.values, before);
    view.show(homeWith({ structures: { s }, alarms: alarms.slice(0, 18) }));
    assert.equal(value(view.values, "o.structures[1].emergencies.all"), "false");
  });

  it("stay while an alarm over the limit has told nothing, and end when it tells its states", () => {
    const sounding = alarm("s", { smokeAlarmState: "emergency", coAlarmState: "emergency" });
    const crowd = many(18, "p", () => alarm("s"));
    const view = new View().show(homeWith({ structures: { s }, alarms: [...crowd, ["z", sounding]] }));
    const before = view.values;
    const silent = {
      isRead: true,
      object: { ...alarmThing({ structureId: "s", isOnline: false }), traits: {} },
    } as const;
    view.show(homeWith({ structures: { s }, alarms: [...crowd, ["z", silent]] }));
    assert.deepEqual(view.values, before);
    view.show(homeWith({ structures: { s }, alarms: [...crowd, ["z", alarm("s")]] }));
    assert.deepEqual(aggregates(view), allFalse);
    view.show(homeWith({ structures: { s }, alarms: [...crowd, ["z", silent]] }));
    assert.deepEqual(aggregates(view), allFalse);
  });

  it("are blank until an alarm was reported once", () => {
    const view = new View().show(homeWith({ structures: { s }, notWhole: ["alarms"], speaksOfAlarms: false }));
    assert.equal(value(view.values, "o.structures[1].emergencies.smoke"), null);
  });

  it("stay while an alarm without a structure may sound, and end when its last states are known", () => {
    const structures = { s1: structure(), s2: structure() };
    const sounding = alarm("s2", { smokeAlarmState: "emergency" });
    const neverTold = incomplete({ structureId: "s1" });
    const onlyCo = alarm("s1", { smokeAlarmState: null });
    for (const [first, after] of [
      [neverTold, "true"],
      [onlyCo, "false"],
    ] as const) {
      const view = new View().show(homeWith({ structures, alarms: { p: first, q: sounding } }));
      view.show(homeWith({ structures, alarms: { p: incomplete(), q: alarm("s2") } }));
      assert.equal(value(view.values, "o.structures[2].emergencies.smoke"), after);
    }
  });

  it("end with the alarm that sounded, also when the list of alarms isn't whole", () => {
    const sounding = homeWith({ structures: { s }, alarms: { p: alarm("s", { smokeAlarmState: "emergency" }) } });
    const view = new View().show(sounding);
    view.show(homeWith({ structures: { s }, alarms: { p: alarm("s") }, notWhole: ["alarms"] }));
    assert.equal(value(view.values, "o.structures[1].emergencies.smoke"), "false");
  });

  it("use what an incomplete alarm said last, also when it moved to where no slot is left", () => {
    const structures = { a: structure(), s };
    const p = alarm("a", { coAlarmState: "emergency" });
    const crowd = many(18, "b", () => alarm("s"));
    const view = new View().show(homeWith({ structures, alarms: [["p", p], ...crowd] }));
    view.show(homeWith({ structures, alarms: { ...Object.fromEntries(crowd), p: incomplete({ structureId: "s" }) } }));
    assert.equal(value(view.values, "o.structures[2].emergencies.CO"), "true");
    assert.equal(value(view.values, "o.structures[1].emergencies.CO"), "false");
  });
});

describe("an alarm that belongs to no structure of the account", () => {
  const smoke = { smokeAlarmState: "emergency" };
  const homeless = { "names none": alarm(null, smoke), "names an absent one": alarm("gone", smoke) };
  for (const [how, stray] of Object.entries(homeless)) {
    it(`and ${how} has an index in the only structure`, () => {
      const alarms = { own: alarm("s1"), stray };
      const view = new View().show(homeWith({ structures: { s1: structure() }, alarms }));
      assert.equal(value(view.values, "d.structures[1].d.smokeCoAlarms[2].smoke_alarm_state"), "emergency");
      assert.equal(value(view.values, "o.structures[1].totals.smokeCOAlarms"), "2");
      assert.equal(value(view.values, "o.structures[1].emergencies.smoke"), "true");
    });

    it(`and ${how} counts in both of two structures, without an index`, () => {
      const structures = { s1: structure(), s2: structure() };
      const view = new View().show(homeWith({ structures, alarms: { stray } }));
      for (const x of [1, 2]) {
        assert.equal(value(view.values, `o.structures[${x}].totals.smokeCOAlarms`), "0");
        assert.equal(value(view.values, `o.structures[${x}].emergencies.smoke`), "true");
      }
      const before = view.values;
      view.show(homeWith({ structures, alarms: { stray: incomplete() } }));
      assert.deepEqual(view.values, before, "while it can't be read it may still sound");
      view.show(homeWith({ structures, alarms: { stray: alarm(null) } }));
      for (const x of [1, 2]) assert.equal(value(view.values, `o.structures[${x}].emergencies.smoke`), "false");
    });
  }

  it("and had a structure before keeps its index there, and counts in both of two structures", () => {
    const structures = { s1: structure(), s2: structure() };
    const view = new View().show(homeWith({ structures, alarms: { a: alarm("s1", smoke) } }));
    assert.equal(value(view.values, "o.structures[2].emergencies.smoke"), "false");
    view.show(homeWith({ structures, alarms: { a: alarm(null, smoke) }, notWhole: ["structures"] }));
    assert.equal(value(view.values, "o.structures[2].emergencies.smoke"), "false", "its list may just be missing");
    view.show(homeWith({ structures, alarms: { a: alarm(null, smoke) } }));
    assert.equal(value(view.values, "d.structures[1].d.smokeCoAlarms[1].smoke_alarm_state"), "emergency");
    for (const x of [1, 2]) assert.equal(value(view.values, `o.structures[${x}].emergencies.smoke`), "true");
    view.show(homeWith({ structures, alarms: { a: incomplete() } }));
    assert.equal(value(view.values, "o.structures[2].emergencies.smoke"), "true", "it can't be read, and said so last");
    view.show(homeWith({ structures, alarms: { a: alarm(null, smoke) }, notWhole: ["structures"] }));
    assert.equal(value(view.values, "o.structures[2].emergencies.smoke"), "true", "nothing says that it has ended");
    view.show(homeWith({ structures, alarms: { a: alarm("s1", smoke) } }));
    assert.equal(value(view.values, "o.structures[2].emergencies.smoke"), "false");
  });

  it("and has an index ends its emergency there, also when the list of structures isn't whole", () => {
    const structures = { s1: structure(), s2: structure() };
    const view = new View().show(homeWith({ structures, alarms: { a: alarm("s1", smoke) } }));
    view.show(homeWith({ structures, alarms: { a: alarm(null) }, notWhole: ["structures"] }));
    assert.equal(value(view.values, "o.structures[1].emergencies.smoke"), "false");
  });

  it("goes to its structure when it names one, and leaves its old slot blank", () => {
    const structures = { s1: structure(), s2: structure() };
    const view = new View().show(homeWith({ structures: { s1: structure() }, alarms: { a: alarm(null) } }));
    view.show(homeWith({ structures, alarms: { a: alarm("s2") } }));
    assert.equal(value(view.values, "d.structures[1].d.smokeCoAlarms[1].device_id"), null);
    assert.equal(value(view.values, "d.structures[2].d.smokeCoAlarms[1].device_id"), "a");
  });
});

/** A virtual device that mirrors one snapshot after the other. */
class View {
  map: IndexMap = emptyIndexMap;
  values: AttributeValues = blankValues;

  show(account: Home): this {
    this.map = assignIndexes(this.map, account).map;
    this.values = mirror(account, this.map, this.values);
    return this;
  }

  write(name: string, text: string): this {
    this.values = this.values.with(parseAttributeName(name)!.number, text);
    return this;
  }
}

function value(values: AttributeValues, name: string): string | null | undefined {
  return values[parseAttributeName(name)!.number];
}

function byName(values: AttributeValues): Record<string, string> {
  assert.equal(values.length, attributeCount);
  return Object.fromEntries(values.flatMap((text, number) => (text === null ? [] : [[attributeName(number), text]])));
}

/** The values below a prefix that aren't blank, by their names without the prefix. */
function shown(values: AttributeValues, place: string, ...parts: string[]): Record<string, string> {
  const below = Object.entries(byName(values)).filter(([name]) => name.startsWith(`${place}.`));
  const short = below.map(([name, text]) => [name.slice(place.length + 1), text] as const);
  return Object.fromEntries(short.filter(([name]) => parts.length === 0 || parts.includes(name.split(".")[0]!)));
}

/** The values of a complete account, put together name by name from the interface's tables. */
function expectedValues(account: Home, map: IndexMap): Record<string, string> {
  const expected: Record<string, string> = {};
  const put = (name: string, value: string | boolean | number | null) => {
    if (value !== null) expected[name] = String(value).toWellFormed().replaceAll("\0", "\uFFFD");
  };
  const here = <T>(entries: ReadonlyMap<string, T>, id: string | undefined): T | undefined =>
    id === undefined ? undefined : entries.get(id);
  const structures = readOnes(account.structures.byId, shownOfStructure);
  const thermostats = readOnes(account.thermostats.byId, shownOfThermostat);
  const allAlarms = readOnes(account.alarms.byId, shownOfAlarm);
  if (account.structures.byId.size > 0) put("o.totalStructures", Math.min(2, account.structures.byId.size));
  for (const x of [1, 2]) {
    const slot = map.structures[x - 1];
    const structure = here(structures, slot?.id);
    if (!slot || !structure) continue;
    put(`d.structures[${x}].a.away`, structure.away);
    put(`d.structures[${x}].a.name`, structure.name);
    put(`d.structures[${x}].a.structure_id`, slot.id);
    slot.thermostats.forEach((device, index) => {
      const thermostat = here(thermostats, device?.id);
      if (!device || thermostat?.structureId !== slot.id) return;
      const place = `d.structures[${x}].d.thermostats[${index + 1}]`;
      put(`${place}.name`, thermostat.name);
      put(`${place}.device_id`, device.id);
      put(`${place}.is_online`, thermostat.isOnline);
      put(`${place}.has_fan`, thermostat.hasFan);
      put(`${place}.fan_timer_active`, thermostat.fanTimerActive);
      put(`${place}.fan_timer_timeout`, thermostat.fanTimerTimeout);
    });
    slot.alarms.forEach((device, index) => {
      const alarm = here(allAlarms, device?.id);
      if (!device || !alarm || device.absentSince !== null) return;
      assert.ok(alarm.structureId === slot.id || !account.structures.byId.has(String(alarm.structureId)));
      const place = `d.structures[${x}].d.smokeCoAlarms[${index + 1}]`;
      put(`${place}.name`, alarm.name);
      put(`${place}.device_id`, device.id);
      put(`${place}.is_online`, alarm.isOnline);
      put(`${place}.co_alarm_state`, alarm.coAlarmState);
      put(`${place}.smoke_alarm_state`, alarm.smokeAlarmState);
      put(`${place}.ui_color_state`, alarm.uiColorState);
    });
    const residents = <T extends { readonly structureId: string | null }>(entries: ReadonlyMap<string, T>) =>
      [...entries.values()].filter(({ structureId }) => structureId === slot.id);
    // An alarm that belongs to no structure counts in all.
    const strays = [...account.alarms.byId.keys()].filter(
      (id) => !account.structures.byId.has(String(here(allAlarms, id)!.structureId)),
    );
    const own = new Set(present(slot.alarms));
    const alarms = [...residents(allAlarms), ...strays.map((id) => here(allAlarms, id)!)];
    put(`o.structures[${x}].totals.thermostats`, Math.min(20, residents(thermostats).length));
    put(`o.structures[${x}].totals.smokeCOAlarms`, own.size);
    if (!account.speaksOfAlarms) continue;
    for (const [word, state] of [
      ["warnings", "warning"],
      ["emergencies", "emergency"],
    ] as const) {
      const smoke = alarms.some(({ smokeAlarmState }) => smokeAlarmState === state);
      const co = alarms.some(({ coAlarmState }) => coAlarmState === state);
      put(`o.structures[${x}].${word}.all`, smoke || co);
      put(`o.structures[${x}].${word}.smoke`, smoke);
      put(`o.structures[${x}].${word}.CO`, co);
    }
  }
  return expected;
}

function readOnes<T, Shown>(sightings: ReadonlyMap<string, ObjectReading<T>>, show: (object: T) => Shown) {
  const read = [...sightings].flatMap(([id, one]): [string, Shown][] => (one.isRead ? [[id, show(one.object)]] : []));
  return new Map(read);
}

function present(slots: readonly (Slot | null)[]): string[] {
  return slots.flatMap((slot) => (slot?.absentSince === null ? [slot.id] : []));
}

/** The same account, but incomplete: some objects can't be read, some aren't named, and no list is complete. */
function madeIncomplete(account: Home, pattern: readonly string[], partHasStructure: boolean): Home {
  let turn = 0;
  const fog = <T extends object>(entries: ReadonlyMap<string, ObjectReading<T>>) => {
    const told: [string, ObjectReading<T>][] = [];
    for (const [id, sighting] of entries) {
      const fate = pattern[turn++ % pattern.length];
      if (fate === "read") told.push([id, sighting]);
      if (fate !== "incomplete" || !sighting.isRead) continue;
      const { structureId } = sighting.object as { structureId?: string };
      const part = partHasStructure && structureId !== undefined ? { structureId } : {};
      told.push([id, incomplete(part as Partial<T>)]);
    }
    return told;
  };
  return homeWith({
    structures: fog(account.structures.byId),
    thermostats: fog(account.thermostats.byId),
    alarms: fog(account.alarms.byId),
    notWhole: ["structures", "thermostats", "alarms"],
    speaksOfAlarms: account.speaksOfAlarms,
  });
}
