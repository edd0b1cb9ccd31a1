import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { maximalObjects, WholeHome } from "../../../src/ecosystems/kit/whole-home.ts";
import type { Home, Structure } from "../../../src/home/home.ts";
import { alarm, alarmThing, homeWith, structure, thermostat, thermostatThing } from "../../home/home-parts.ts";

const kinds = ["structures", "thermostats", "alarms"] as const;
const cabin = structureOf({ name: "Cabin" });

describe("a home from single objects", () => {
  let whole: WholeHome;
  let heard: (Home | "unchanged")[];
  const report = () => whole.report({ home: (home) => heard.push(home), unchanged: () => heard.push("unchanged") });
  const listEmpty = (...names: readonly (typeof kinds)[number][]) => {
    for (const kind of names) {
      whole.beginListing(kind);
      whole.endListing(kind);
    }
  };

  beforeEach(() => {
    whole = new WholeHome();
    heard = [];
  });

  it("is not reported before every kind was listed completely", () => {
    for (const kind of kinds) whole.beginListing(kind);
    whole.set("structures", "s1", cabin);
    whole.set("thermostats", "t1", thermostatThing({ structureId: "s1" }));
    whole.set("alarms", "a1", alarmThing({ structureId: "s1" }));
    for (const kind of kinds) {
      report();
      assert.deepEqual([whole.isListed, whole.home(), heard], [false, undefined, []]);
      whole.endListing(kind);
    }
    report();
    const expected = homeWith({
      structures: { s1: structure({ name: "Cabin" }) },
      thermostats: { t1: thermostat("s1") },
      alarms: { a1: alarm("s1") },
    });
    assert.deepEqual(heard, [expected]);
  });

  it("is reported once after each change, and as unchanged when an object is sent again as it was", () => {
    listEmpty(...kinds);
    report();
    whole.set("thermostats", "t1", thermostatThing({}));
    report();
    whole.set("thermostats", "t1", thermostatThing({}));
    report();
    whole.set("thermostats", "t1", thermostatThing({ fanTimerActive: true }));
    whole.set("alarms", "a1", alarmThing({}));
    report();
    report();
    const thermostats = { t1: thermostat(null) };
    const later = { thermostats: { t1: thermostat(null, { fanTimerActive: true }) }, alarms: { a1: alarm(null) } };
    assert.deepEqual(heard, [homeWith(), homeWith({ thermostats }), "unchanged", homeWith(later), "unchanged"]);
  });

  it("does not change after it was reported", () => {
    listEmpty(...kinds);
    report();
    whole.set("alarms", "a1", alarmThing({}));
    assert.equal((heard[0] as Home).alarms.byId.size, 0);
  });

  it("loses an object that is removed, and one that a complete listing leaves out", () => {
    listEmpty(...kinds);
    for (const id of ["t1", "t2", "t3"]) whole.set("thermostats", id, thermostatThing({}));
    whole.remove("thermostats", "t1");
    assert.deepEqual(ids(whole, "thermostats"), ["t2", "t3"]);
    report();
    whole.beginListing("thermostats");
    whole.set("thermostats", "t3", thermostatThing({}));
    assert.deepEqual(ids(whole, "thermostats"), ["t2", "t3"], "an open listing removes nothing");
    whole.set("thermostats", "t4", thermostatThing({}));
    whole.remove("thermostats", "t4");
    whole.endListing("thermostats");
    assert.deepEqual(ids(whole, "thermostats"), ["t3"]);
  });

  it("is reported when a complete listing only leaves an object out", () => {
    listEmpty(...kinds);
    whole.set("alarms", "a1", alarmThing({}));
    report();
    listEmpty("alarms");
    report();
    listEmpty("alarms");
    report();
    assert.deepEqual(heard.slice(1), [homeWith(), "unchanged"]);
  });

  it("names an object that can't be read, and counts it as incomplete", () => {
    listEmpty(...kinds);
    whole.set("alarms", "a1", alarmThing({}));
    whole.setUnreadable("alarms", "a1", { name: "Attic" });
    const { alarms, oddities } = whole.home()!;
    assert.deepEqual(alarms.byId.get("a1"), { isRead: false, partial: { name: "Attic" } });
    assert.deepEqual([alarms.isWhole, oddities.incomplete], [true, 1]);
  });

  it("has no complete list of a kind from a loss to the next complete listing", () => {
    listEmpty(...kinds);
    whole.set("thermostats", "t1", thermostatThing({}));
    report();
    whole.beginListing("thermostats");
    whole.lose("thermostats");
    whole.endListing("thermostats");
    report();
    const lost = heard[1] as Home;
    assert.deepEqual([lost.structures.isWhole, lost.thermostats.isWhole, lost.alarms.isWhole], [true, false, true]);
    assert.deepEqual([[...lost.thermostats.byId.keys()], lost.oddities.incomplete], [["t1"], 1]);
    whole.beginListing("thermostats");
    whole.set("thermostats", "t1", thermostatThing({}));
    whole.endListing("thermostats");
    report();
    assert.deepEqual(heard[2], heard[0]);
  });

  it("has an empty and complete list of a kind that the ecosystem does not know", () => {
    whole = new WholeHome(["structures", "thermostats"]);
    listEmpty("structures", "thermostats");
    assert.deepEqual(whole.home(), homeWith({ speaksOfAlarms: false }));
  });

  it("counts what is unknown or unreadable", () => {
    listEmpty(...kinds);
    whole.set("structures", "s1", structureOf({ away: "unknown" }));
    whole.set("structures", "s2", structureOf({ listsDevices: false }));
    whole.setUnreadable("structures", "s3");
    whole.set("alarms", "a1", alarmThing({ smokeAlarmState: "odd", coAlarmState: "odd" }));
    whole.setUnreadable("alarms", "a2");
    assert.deepEqual(whole.home()!.oddities, { incomplete: 3, unknownAlarmStates: 2, unknownAwayStates: 1 });
  });

  it("holds a bounded number of objects of each kind, and then says that the list is not complete", () => {
    listEmpty("structures", "alarms");
    whole.beginListing("thermostats");
    for (let i = 0; i <= maximalObjects; i += 1) whole.set("thermostats", `t${i}`, thermostatThing({}));
    whole.endListing("thermostats");
    whole.set("alarms", "a1", alarmThing({}));
    const { thermostats, alarms } = whole.home()!;
    assert.deepEqual([thermostats.byId.size, thermostats.isWhole], [maximalObjects, false]);
    assert.deepEqual([alarms.byId.size, alarms.isWhole], [1, true]);
    whole.beginListing("thermostats");
    whole.set("thermostats", "t0", thermostatThing({}));
    whole.endListing("thermostats");
    assert.equal(whole.home()!.thermostats.isWhole, true);
  });
});

function structureOf(fields: Parameters<typeof structure>[0]): Structure {
  const sighting = structure(fields);
  assert.ok(sighting.isRead);
  return sighting.object;
}

function ids(whole: WholeHome, kind: (typeof kinds)[number]): readonly string[] {
  return [...whole.home()![kind].byId.keys()];
}
