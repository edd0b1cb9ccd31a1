import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Home, ObjectReading } from "../../src/home/home.ts";
import { assignIndexes, emptyIndexMap, type IndexMap } from "../../src/virtual-device/index-map.ts";
import type { Slot } from "../../src/virtual-device/slots.ts";
import { decodeIndexMap, encodeIndexMap } from "../../src/virtual-device/stored-index-map.ts";
import { alarm, homeWith, incomplete, many, structure, thermostat } from "../home/home-parts.ts";
import { rounds } from "../set-up/extent.ts";
import { IndexChecker } from "./index-checker.ts";

describe("the index of a structure or device", () => {
  it("is assigned lowest first in the order of ids, whatever the order of the payload", () => {
    const map = after(
      homeWith({
        structures: { b: structure(), a: structure() },
        thermostats: { t3: thermostat("b"), t1: thermostat("a"), t2: thermostat("b") },
        alarms: { p: alarm("b") },
      }),
    );
    assert.deepEqual(ids(map.structures), ["a", "b"]);
    assert.deepEqual(ids(map.structures[0]!.thermostats), ["t1"]);
    assert.deepEqual(ids(map.structures[1]!.thermostats), ["t2", "t3"]);
    assert.deepEqual(ids(map.structures[1]!.alarms), ["p"]);
  });

  it("stays through rename, absence and return, and never-used slots go first", () => {
    const home = (...devices: string[]) =>
      homeWith({ structures: { s: structure() }, thermostats: devices.map((id) => [id, thermostat("s")]) });
    const map = after(home("b", "c"), home("c"), home("c", "a"), home("a", "b", "c"));
    assert.deepEqual(ids(map.structures[0]!.thermostats), ["b", "c", "a"]);
    assert.ok(map.structures[0]!.thermostats.slice(0, 3).every((slot) => slot?.absentSince === null));
  });

  it("is in the same map object when a snapshot changes nothing of it", () => {
    const account = homeWith({ structures: { s: structure() }, thermostats: { t: thermostat("s") } });
    const renamed = homeWith({
      structures: { s: structure({ name: "Cottage" }) },
      thermostats: account.thermostats.byId,
    });
    const map = after(account);
    assert.equal(assignIndexes(map, account).map, map);
    assert.equal(assignIndexes(map, renamed).map, map);
    assert.equal(assignIndexes(emptyIndexMap, homeWith()).map, emptyIndexMap);
  });

  it("passes from the longest absent id to a new one only when the range is full, and reports it", () => {
    const alarms = (list: string[]) =>
      homeWith({ structures: { s: structure() }, alarms: list.map((id) => [id, alarm("s")]) });
    const all = many(18, "a", () => null).map(([id]) => id);
    const without = (...gone: string[]) => all.filter((id) => !gone.includes(id));
    const map = after(alarms(all), alarms(without("a07")), alarms(without("a07", "a03")));
    const { map: next, evicted } = assignIndexes(map, alarms([...without("a07", "a03"), "new"]));
    assert.deepEqual(evicted, [{ kind: "alarm", x: 1, y: 7, oldId: "a07", newId: "new" }]);
    assert.equal(next.structures[0]!.alarms[6]!.id, "new");
    assert.equal(next.structures[0]!.alarms[2]!.id, "a03");
  });

  it("passes from the lowest of those that went absent together, and is complete without those that got none", () => {
    const alarms = (list: string[]) =>
      homeWith({ structures: { s: structure() }, alarms: list.map((id) => [id, alarm("s")]) });
    const all = many(18, "a", () => null).map(([id]) => id);
    const without = all.filter((id) => id !== "a03" && id !== "a07");
    const map = after(alarms(all), alarms(without));
    const { evicted } = assignIndexes(map, alarms([...without, "new"]));
    assert.deepEqual(evicted, [{ kind: "alarm", x: 1, y: 3, oldId: "a03", newId: "new" }]);
    const thermostats = (from: number) =>
      homeWith({ structures: { s: structure() }, thermostats: many(21, "t", () => thermostat("s")).slice(from) });
    const moved = assignIndexes(after(thermostats(0), thermostats(1)), thermostats(1));
    assert.deepEqual(moved.evicted, []);
    assert.deepEqual(assignIndexes(after(thermostats(0)), thermostats(1)).evicted, [
      { kind: "thermostat", x: 1, y: 1, oldId: "t01", newId: "t21" },
    ]);
    const full = assignIndexes(map, alarms([...all, "z19"]));
    assert.deepEqual(full.map.structures[0]!.alarms, after(alarms(all)).structures[0]!.alarms);
  });

  it("is where a device was last, when a snapshot doesn't say where it is", () => {
    const structures = { s1: structure(), s2: structure() };
    const at = (where: string | null) =>
      homeWith({ structures, ...(where && { thermostats: { t: thermostat(where) } }) });
    const unsaid = homeWith({ structures, thermostats: { t: incomplete() } });
    for (const [first, last, x] of [
      ["s1", "s2", 1],
      ["s2", "s1", 0],
    ] as const) {
      assert.equal(after(at(first), at(last), unsaid).structures[x]!.thermostats[0]!.absentSince, null);
      const map = after(at(first), at(last), at(null), unsaid);
      assert.equal(map.structures[x]!.thermostats[0]!.absentSince, null, `${first}, then ${last}`);
      assert.notEqual(map.structures[1 - x]!.thermostats[0]!.absentSince, null);
    }
  });

  it("is given in a structure that a list which isn't whole leaves out", () => {
    const two = homeWith({ structures: { s1: structure(), s2: structure() } });
    const part = homeWith({ structures: { s2: structure() }, alarms: { p: alarm("s1") }, notWhole: ["structures"] });
    assert.deepEqual(ids(after(two, part).structures[0]!.alarms), ["p"]);
  });

  it("is missing for a 19th alarm and a third structure, which are counted and take the next slot that frees", () => {
    const three = { a: structure(), b: structure(), c: structure() };
    const nineteen = many(19, "p", () => alarm("a"));
    const full = assignIndexes(
      emptyIndexMap,
      homeWith({ structures: three, alarms: nineteen, thermostats: { t: thermostat("c") } }),
    );
    assert.deepEqual(full.overLimit, { structures: ["c"], thermostats: 0, alarms: 1 });
    const { a, c } = three;
    const freed = assignIndexes(full.map, homeWith({ structures: { a, c }, alarms: nineteen.slice(1) }));
    assert.deepEqual(freed.overLimit, { structures: [], thermostats: 0, alarms: 0 });
    assert.deepEqual(freed.evicted, [
      { kind: "structure", x: 2, oldId: "b", newId: "c" },
      { kind: "alarm", x: 1, y: 1, oldId: "p01", newId: "p19" },
    ]);
  });

  it("goes with its structure when that loses its slot: the new structure starts with empty slots", () => {
    const devices = { t: thermostat("b"), u: thermostat("a") };
    const [a, b, c] = [structure(), structure(), structure()];
    const before = after(homeWith({ structures: { a, b }, thermostats: devices }));
    const { map } = assignIndexes(before, homeWith({ structures: { a, c }, thermostats: devices }));
    assert.deepEqual(ids(map.structures), ["a", "c"]);
    assert.deepEqual(ids(map.structures[1]!.thermostats), []);
    assert.deepEqual(ids(map.structures[0]!.thermostats), ["u"]);
  });

  it("is kept in the old structure for a device that moved", () => {
    const at = (home: string) =>
      homeWith({ structures: { a: structure(), b: structure() }, thermostats: { t: thermostat(home) } });
    const moved = after(at("a"), at("b"));
    assert.equal(moved.structures[0]!.thermostats[0]!.absentSince, 2);
    assert.equal(moved.structures[1]!.thermostats[0]!.absentSince, null);
    const back = after(at("a"), at("b"), at("a"));
    assert.equal(back.structures[0]!.thermostats[0]!.absentSince, null);
    assert.equal(back.structures[1]!.thermostats[0]!.absentSince, 3);
  });

  it("isn't lost by a snapshot that doesn't show which ids are gone", () => {
    const whole = homeWith({
      structures: { s: structure() },
      thermostats: { t: thermostat("s") },
      alarms: { p: alarm("s") },
    });
    const map = after(whole);
    const s = structure();
    const tellingNothing = [
      homeWith({ notWhole: ["structures", "thermostats", "alarms"] }),
      homeWith({ notWhole: ["structures"] }),
      homeWith({ structures: { s }, notWhole: ["thermostats", "alarms"] }),
      homeWith({ structures: { s: incomplete() } }),
      homeWith({ structures: { s: structure({ listsDevices: false }) } }),
      homeWith({ structures: { s }, thermostats: { t: incomplete() }, alarms: { p: incomplete() } }),
      homeWith({ structures: { s }, thermostats: { t: thermostat(null) }, alarms: { p: alarm(null) } }),
    ];
    for (const account of tellingNothing) assert.equal(assignIndexes(map, account).map, map);
  });

  it("becomes absent when an otherwise unreadable structure lists its devices without it", () => {
    const map = after(homeWith({ structures: { s: structure() }, thermostats: { t: thermostat("s") } }));
    const listing = homeWith({ structures: { s: incomplete({ listsDevices: true }) } });
    assert.equal(assignIndexes(map, listing).map.structures[0]!.thermostats[0]!.absentSince, 2);
  });

  it("is absent with its structure, and found again when that returns", () => {
    const devices = { thermostats: { t: thermostat("s") }, alarms: { p: alarm("s") } };
    const whole = homeWith({ structures: { s: structure() }, ...devices });
    const gone = after(whole, homeWith(devices));
    assert.equal(gone.structures[0]!.thermostats[0]!.absentSince, 2);
    assert.deepEqual(assignIndexes(gone, whole).map.structures, after(whole).structures);
  });

  it("keeps the rules through any sequence of appearing, leaving, moving, returning and incomplete snapshots", () => {
    const met = { evictions: 0, structureEvictions: 0, overLimit: 0 };
    fc.assert(
      fc.property(fc.array(anyTurn, { minLength: 10, maxLength: 40 }), (turns) => {
        const checker = new IndexChecker();
        const world = new World();
        let map: IndexMap = emptyIndexMap;
        for (const turn of turns) {
          const account = world.take(turn);
          const assignment = assignIndexes(map, account);
          checker.check(map, account, assignment);
          assert.equal(
            assignIndexes(assignment.map, account).map,
            assignment.map,
            "a repeated snapshot changed the map",
          );
          met.evictions += assignment.evicted.filter(({ kind }) => kind !== "structure").length;
          met.structureEvictions += assignment.evicted.filter(({ kind }) => kind === "structure").length;
          met.overLimit += assignment.overLimit.thermostats + assignment.overLimit.alarms;
          map = turn.isKilled ? decodeIndexMap(encodeIndexMap(assignment.map)) : assignment.map;
        }
      }),
      { numRuns: rounds({ all: 200, few: 60 }) },
    );
    for (const [what, count] of Object.entries(met)) assert.ok(count > 50, `only ${count} ${what} were met`);
  });
});

function after(...accounts: Home[]): IndexMap {
  return accounts.reduce((map, account) => assignIndexes(map, account).map, emptyIndexMap);
}

function ids(slots: readonly (Slot | null)[]): string[] {
  return slots.flatMap((slot) => (slot ? [slot.id] : []));
}

const structureIds = ["s1", "s2", "s3", "s4"];
const deviceIds = { thermostats: many(27, "t", () => null), alarms: many(24, "p", () => null) };

const anyRange = fc.constantFrom("thermostats" as const, "alarms" as const);
/**
 * Devices appear, leave and move in runs, so that ranges fill up; most go to the first structure, for the same reason.
 */
const anyMove = fc.record({
  range: anyRange,
  from: fc.nat(26),
  count: fc.oneof(fc.constant(1), fc.nat(24)),
  to: fc.oneof({ weight: 2, arbitrary: fc.constant("s1") }, fc.constantFrom(undefined, ...structureIds, "unheard-of")),
});
/** Which devices are hidden, incomplete or without a structure in a snapshot: every nth, if any. */
const anyIncompleteness = fc.option(fc.record({ every: fc.integer({ min: 1, max: 5 }), offset: fc.nat(4) }), {
  nil: undefined,
  freq: 3,
});
const anyTurn = fc.record({
  moves: fc.array(anyMove, { maxLength: 3 }),
  toggled: fc.option(fc.constantFrom(...structureIds), { nil: undefined }),
  notWhole: fc.subarray(["structures", "thermostats", "alarms"] as const).map((list) => (list.length > 1 ? [] : list)),
  hidden: anyIncompleteness,
  unread: anyIncompleteness,
  homeless: anyIncompleteness,
  structureFog: fc.option(fc.constantFrom(...structureIds), { nil: undefined, freq: 2 }),
  structureIsIncomplete: fc.boolean(),
  isKilled: fc.boolean(),
});
type Turn = typeof anyTurn extends fc.Arbitrary<infer T> ? T : never;

/** The ecosystem: where each device is, and the snapshot of it. */
class World {
  readonly structures = new Set(["s1", "s2"]);
  readonly places = { thermostats: new Map<string, string>(), alarms: new Map<string, string>() };

  take(turn: Turn): Home {
    if (turn.toggled !== undefined && !this.structures.delete(turn.toggled)) this.structures.add(turn.toggled);
    for (const { range, from, count, to } of turn.moves) {
      for (const [id] of deviceIds[range].slice(from, from + count)) {
        if (to === undefined) this.places[range].delete(id);
        else this.places[range].set(id, to);
      }
    }
    return homeWith({
      structures: [...this.structures]
        .filter((id) => !(turn.notWhole.includes("structures") && id === turn.structureFog))
        .map((id) => [id, this.#showStructure(id, turn)]),
      thermostats: this.#show("thermostats", turn, thermostat),
      alarms: this.#show("alarms", turn, alarm),
      notWhole: turn.notWhole,
    });
  }

  #showStructure(id: string, turn: Turn) {
    if (id !== turn.structureFog) return structure();
    return turn.structureIsIncomplete ? incomplete() : structure({ listsDevices: false });
  }

  #show<T extends { readonly structureId: string | null }>(
    range: "thermostats" | "alarms",
    turn: Turn,
    make: (structureId: string | null) => ObjectReading<T>,
  ): [string, ObjectReading<T>][] {
    return [...this.places[range]]
      .filter((_, index) => !hits(turn.hidden, index))
      .map(([id, home], index) => {
        const structureId = hits(turn.homeless, index) ? null : home;
        if (!hits(turn.unread, index)) return [id, make(structureId)];
        return [id, incomplete((structureId === null ? {} : { structureId }) as Partial<T>)];
      });
  }
}

function hits(fog: { readonly every: number; readonly offset: number } | undefined, index: number): boolean {
  return fog !== undefined && index % fog.every === fog.offset;
}
