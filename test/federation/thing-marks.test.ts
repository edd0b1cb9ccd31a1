import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { marksOf, noThingMarks, type ThingMarks, thingUpdate } from "../../src/federation/thing-marks.ts";
import type { Home } from "../../src/home/home.ts";
import type { Thing } from "../../src/home/thing.ts";
import { limits } from "../../src/model/limits.ts";
import { alarm, homeWith, incomplete, many, structure, thermostat } from "../home/home-parts.ts";
import { plainThingIds } from "../home/thing-ids.ts";
import { adasLink } from "./made-links.ts";

const structures = { s: structure() };
const update = (home: Home, marks: ThingMarks = noThingMarks) => thingUpdate(home, marks, adasLink, plainThingIds);
const keysOf = ({ writes }: ReturnType<typeof update>) =>
  writes.map((write) => ("isGone" in write ? `gone ${write.thingId}` : write.reported.key));
/** The ids of the thermostats that are stored, gone ones included. */
const stored = ({ marks }: ReturnType<typeof update>) => new Set([...marks].map(([key]) => key.replace(/^.*\//, "")));

describe("what a snapshot changes of the stored things", () => {
  const home = homeWith({ structures, thermostats: { t: thermostat("s") }, alarms: { a: alarm("s") } });
  const { marks } = update(home);

  it("is everything of a new account, and nothing of the same snapshot again", () => {
    assert.deepEqual(keysOf(update(home)), ["alarm/a", "structure/s", "thermostat/t"]);
    const again = update(home, marks);
    assert.deepEqual([again.writes, again.weight, again.isUrgent, again.marks], [[], "nothing", false, marks]);
  });

  it("is only what differs, and urgent when an alarm starts, changes or stops", () => {
    const burning = homeWith({
      structures,
      thermostats: { t: thermostat("s") },
      alarms: { a: alarm("s", { smokeAlarmState: "emergency" }) },
    });
    const started = update(burning, marks);
    assert.deepEqual([keysOf(started), started.weight, started.isUrgent], [["alarm/a"], "change", true]);
    const renamed = homeWith({
      structures,
      thermostats: { t: thermostat("s") },
      alarms: { a: alarm("s", { smokeAlarmState: "emergency", name: "Den" }) },
    });
    assert.equal(update(renamed, started.marks).isUrgent, false);
    assert.equal(update(home, started.marks).isUrgent, true);
    assert.equal(update(home, marks).isUrgent, false);
  });

  it("says that a thing is gone once, keeps an unreadable one, and adds one that is back", () => {
    const without = homeWith({ structures, alarms: { a: incomplete() } });
    const gone = update(without, marks);
    assert.deepEqual(keysOf(gone), ["gone t_1_nest_thermostat/t"]);
    assert.deepEqual(update(without, gone.marks).writes, []);
    assert.deepEqual(keysOf(update(home, gone.marks)), ["thermostat/t"]);
    const unlisted = homeWith({ structures, alarms: { a: alarm("s") }, notWhole: ["thermostats"] });
    assert.deepEqual(update(unlisted, marks).writes, []);
  });

  it("is urgent when a sounding alarm vanishes", () => {
    const burning = update(homeWith({ structures, alarms: { a: alarm("s", { coAlarmState: "warning" }) } }));
    assert.equal(update(homeWith({ structures }), burning.marks).isUrgent, true);
    assert.equal(update(homeWith({ structures }), marks).isUrgent, false);
  });

  it("recognises what was stored by another node", () => {
    const rows = [...marks].map(([key, { thingId, hash, samples }]) => ({
      thingId,
      key,
      print: hash,
      samples: JSON.stringify(samples),
      goneMs: null,
    }));
    assert.deepEqual(update(home, marksOf(rows)).writes, []);
    const gone = rows.map((row) => ({ ...row, goneMs: 7 }));
    assert.equal(update(home, marksOf(gone)).writes.length, 3);
  });

  it("keeps alarms, and things that are stored already, when there are too many", () => {
    const crowd = many(limits.thingsPerLink + 40, "t", () => thermostat("s"));
    const first = update(homeWith({ structures, thermostats: crowd }));
    assert.equal(first.writes.length, limits.thingsPerLink);
    const last = keysOf(first).toSorted().at(-1)!;
    const reversed = homeWith({ structures, thermostats: [...crowd].reverse(), alarms: { z: alarm("s") } });
    const next = update(reversed, first.marks);
    assert.deepEqual([keysOf(next), next.weight], [["alarm/z", `gone t_1_nest_${last}`], "change"]);
    assert.deepEqual(update(reversed, next.marks).writes, []);
    const withRoom = homeWith({ structures, thermostats: crowd.filter(([id]) => stored(next).has(id)) });
    assert.deepEqual(keysOf(update(withRoom, next.marks)), [last, "gone t_1_nest_alarm/z"]);
  });

  it("counts things of every kind towards the limit", () => {
    const half = limits.thingsPerLink / 2 + 40;
    const lamps = many(half, "l", () => thermostat("s"));
    const { writes } = update({
      ...homeWith({ structures, thermostats: many(half, "t", () => thermostat("s")) }),
      others: { isWhole: true, byId: new Map(lamps) },
    });
    assert.equal(writes.length, limits.thingsPerLink);
  });

  it("counts stored things that an incomplete list does not name towards the limit", () => {
    const presentIn = (marks: ThingMarks) => [...marks].filter(([, { isGone }]) => !isGone).map(([key]) => key);
    const alarms = { a: alarm("s") };
    let { marks } = update(homeWith({ structures, thermostats: many(400, "first-", () => thermostat("s")), alarms }));
    for (const round of ["second", "third"]) {
      const others = homeWith({ structures, thermostats: many(400, `${round}-`, () => thermostat("s")) });
      const incompleteHome = { ...others, thermostats: { ...others.thermostats, isWhole: false } };
      const next = update({ ...incompleteHome, alarms: { isWhole: false, byId: new Map() } }, marks);
      ({ marks } = next);
      assert.equal(presentIn(marks).length, limits.thingsPerLink, round);
      assert.equal(presentIn(marks).filter((key) => key.includes("first-")).length, 400, "stored ones stay");
      assert.ok(presentIn(marks).includes("alarm/a"));
      const complete = thingUpdate(others, marks, adasLink, plainThingIds, incompleteHome);
      assert.equal(presentIn(complete.marks).length, 401, "each thing of a complete list is stored, and no other");
    }
  });

  it("does not show a gone thing instead of a stored one when there are too many", () => {
    const crowd = many(limits.thingsPerLink + 40, "t", () => thermostat("s"));
    const first = update(homeWith({ structures, thermostats: crowd }));
    const [, ...others] = crowd;
    const without = update(homeWith({ structures, thermostats: others }), first.marks);
    assert.equal(without.writes.length, 2, "one is gone, and one takes its place");
    assert.deepEqual(update(homeWith({ structures, thermostats: crowd }), without.marks).writes, []);
  });

  it("looks at no thing that is the same object in the snapshot before", () => {
    let looks = 0;
    const counted = (): ReturnType<typeof thermostat> => {
      const reading = thermostat("s") as { readonly isRead: true; readonly object: Thing };
      const { traits, ...others } = reading.object;
      const object = {
        ...others,
        get traits() {
          looks += 1;
          return traits;
        },
      };
      return { isRead: true, object };
    };
    const crowd = many(400, "t", counted);
    const [id] = crowd[7]!;
    const before = homeWith({ structures, thermostats: crowd });
    const first = update(before);
    assert.ok(looks >= 400);
    const after = homeWith({ structures, thermostats: new Map([...crowd, [id, thermostat("s", { name: "New" })]]) });
    looks = 0;
    const next = thingUpdate(after, first.marks, adasLink, plainThingIds, before);
    assert.deepEqual([keysOf(next), looks], [[`thermostat/${id}`], 0]);
    assert.deepEqual(update(after, first.marks).writes, next.writes, "as without the snapshot before");
    const gone = homeWith({ structures, thermostats: new Map(crowd.slice(1)) });
    assert.equal(thingUpdate(gone, first.marks, adasLink, plainThingIds, before).writes.length, 1);
  });

  it("remembers a bounded number of gone things, and recognises a forgotten one by its id", () => {
    let marks = noThingMarks;
    for (let round = 0; round < 6; round++) {
      const crowd = many(400, `r${round}-`, () => thermostat("s"));
      marks = update(homeWith({ structures, thermostats: crowd }), marks).marks;
    }
    assert.ok(marks.size <= limits.thingsPerLink + 500, `${marks.size} marks`);
    assert.equal([...marks].filter(([, { isGone }]) => !isGone).length, 401);
    const back = update(homeWith({ structures, thermostats: { "r0-01": thermostat("s") } }), marks);
    assert.ok(back.writes.some(({ thingId }) => thingId === "t_1_nest_thermostat/r0-01"));
  });
});
