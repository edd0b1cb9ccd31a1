import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { completedHome } from "../../src/federation/completed-home.ts";
import type { Home } from "../../src/home/home.ts";
import { alarm, homeWith, incomplete, shownOfAlarm, structure, thermostat } from "../home/home-parts.ts";

const smokeOf = (home: Home) =>
  [...home.alarms.byId].map(([id, sighting]) => [
    id,
    sighting.isRead ? shownOfAlarm(sighting.object).smokeAlarmState : "unread",
  ]);

describe("an incomplete home that an older one completes", () => {
  const structures = { s1: structure() };

  it("keeps what it shows, and takes what it leaves out", () => {
    const older = homeWith({
      structures: { s1: structure({ away: "away" }) },
      thermostats: { t1: thermostat("s1", { fanTimerActive: true }) },
      alarms: { a1: alarm("s1"), a2: alarm("s1", { smokeAlarmState: "emergency", name: "Old name" }) },
    });
    const newer = homeWith({
      structures,
      thermostats: { t1: thermostat("s1", { fanTimerActive: false }) },
      alarms: { a1: alarm("s1", { smokeAlarmState: "warning" }), a2: incomplete({ name: "New name" }) },
    });
    const home = completedHome(newer, older);
    assert.deepEqual(home.structures.byId, newer.structures.byId);
    assert.deepEqual(home.thermostats, newer.thermostats);
    assert.deepEqual(smokeOf(home), [
      ["a1", "warning"],
      ["a2", "emergency"],
    ]);
    const renamed = home.alarms.byId.get("a2")!;
    assert.equal(renamed.isRead && renamed.object.name, "New name");
    assert.equal(home.oddities.incomplete, 0);
  });

  it("stays incomplete where both leave something out", () => {
    const newer = homeWith({ structures, alarms: { a1: incomplete(), a2: alarm("s1") } });
    const older = homeWith({ structures, alarms: { a1: incomplete(), a2: incomplete() } });
    const home = completedHome(newer, older);
    assert.deepEqual(smokeOf(home), [
      ["a1", "unread"],
      ["a2", "ok"],
    ]);
    assert.equal(home.oddities.incomplete, 1);
  });

  it("has no object that it says is gone, and all that it can't list", () => {
    const older = homeWith({ structures, thermostats: { t1: thermostat("s1") }, alarms: { a1: alarm("s1") } });
    const newer = homeWith({ structures, alarms: { a2: alarm("s1") }, notWhole: ["alarms"] });
    const home = completedHome(newer, older);
    assert.deepEqual([...home.thermostats.byId.keys()], []);
    assert.deepEqual([...home.alarms.byId.keys()], ["a2", "a1"]);
    assert.ok(home.alarms.isWhole);
  });

  for (const [what, unlisted] of [
    ["can't be read", incomplete({ name: null, listsDevices: false })],
    ["does not list its devices", structure({ listsDevices: false })],
  ] as const) {
    it(`keeps the devices of a structure that ${what}`, () => {
      const older = homeWith({ structures, alarms: { a1: alarm("s1", { smokeAlarmState: "emergency" }) } });
      const home = completedHome(homeWith({ structures: { s1: unlisted } }), older);
      assert.deepEqual(smokeOf(home), [["a1", "emergency"]]);
      const completed = home.structures.byId.get("s1")!;
      assert.ok(completed.isRead && completed.object.listsDevices);
      assert.equal(home.oddities.incomplete, 0);
    });
  }

  describe("that no longer has a structure", () => {
    const older = homeWith({
      structures: { s1: structure(), s2: structure() },
      thermostats: { t1: thermostat("s1"), t2: thermostat("s2") },
      alarms: {
        a1: alarm("s1"),
        a2: alarm("s2", { smokeAlarmState: "emergency" }),
        a3: alarm("s9", { smokeAlarmState: "emergency" }),
        a4: incomplete({ structureId: "s2" }),
      },
    });
    const unlisted = { s1: structure({ listsDevices: false }) };

    it("has none of its devices, and still those of a structure that the account never listed", () => {
      const home = completedHome(homeWith({ structures: unlisted, notWhole: ["alarms"] }), older);
      assert.deepEqual([...home.thermostats.byId.keys()], ["t1"]);
      assert.deepEqual(smokeOf(home), [
        ["a1", "ok"],
        ["a3", "emergency"],
      ]);
    });

    it("keeps its devices when it does not list all structures", () => {
      const home = completedHome(homeWith({ structures: unlisted, notWhole: ["structures"] }), older);
      assert.deepEqual([...home.thermostats.byId.keys()], ["t1", "t2"]);
      assert.deepEqual([...home.alarms.byId.keys()], ["a1", "a2", "a3", "a4"]);
    });
  });

  it("shows an unreadable device in the structure to which it was moved", () => {
    const both = { s1: structure(), s2: structure() };
    const older = homeWith({ structures: both, alarms: { a1: alarm("s1"), a2: alarm("s1") } });
    const moved = { a1: incomplete({ structureId: "s2" }), a2: incomplete({ structureId: null }) };
    const home = completedHome(homeWith({ structures: both, alarms: moved }), older);
    const structureIds = [...home.alarms.byId.values()].map(
      (sighting) => sighting.isRead && sighting.object.structureId,
    );
    assert.deepEqual(structureIds, ["s2", "s1"]);
  });

  it("has the other things of either", () => {
    const others = homeWith({ alarms: { o1: alarm("s1") } }).alarms;
    const [plain, rich] = [homeWith({ structures }), { ...homeWith({ structures }), others }];
    assert.equal(completedHome(plain, plain).others, undefined);
    assert.deepEqual(completedHome(plain, rich).others, others);
    assert.deepEqual(completedHome(rich, plain).others, others);
    assert.deepEqual(completedHome(rich, rich).others, others);
    assert.equal(completedHome({ ...plain, speaksOfAlarms: false }, plain).speaksOfAlarms, true);
  });
});
