import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { buildHome, readAccountPlan } from "../../simulator/home/account-plan.ts";
import type { Home } from "../../simulator/home/home.ts";
import { seededRandom } from "../../simulator/home/random.ts";
import { Refusal } from "../../simulator/refusal.ts";
import { playScene, scenes } from "../../simulator/scenes/catalogue.ts";
import type { AnyJson } from "./world.ts";

const kinds = ["thermostats", "smoke_co_alarms"];
const runtime = (seed: string) => ({ random: seededRandom(seed), nowMs: Date.UTC(2026, 0, 1) });

describe("the document", () => {
  it("stays consistent through 2,000 random steps", () => {
    const around = runtime("steps");
    let home = newHome(11);
    const played = new Set<string>();
    for (let step = 0; step < 2000; step++) {
      const result = playScene(home, { scene: "random" }, around);
      home = result.home;
      played.add((result.changed as AnyJson).changes[0].scene);
      assertConsistent(home.document);
    }
    const expected = [...scenes.keys()].filter((name) => name !== "random" && name !== "fill-up");
    assert.deepEqual([...played].sort(), expected.sort());
  });

  it("stays consistent for any scenes in any order", () => {
    const argument = fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined });
    const scene = fc.record({ name: fc.constantFrom(...scenes.keys()), number: argument, of: argument, to: argument });
    const story = fc.array(scene, { minLength: 1, maxLength: 40, size: "max" });
    fc.assert(
      fc.property(story, fc.integer(), (plays, seed) => {
        const around = runtime(String(seed));
        let home = newHome(seed);
        for (const { name, number, of, to } of plays) {
          const wanted = { structure: of, thermostat: number, alarm: number, to, name: "New name" };
          const known = Object.entries(wanted).filter(([key, value]) => value && key in scenes.get(name)!.arguments);
          try {
            home = playScene(home, { scene: name, ...Object.fromEntries(known) }, around).home;
          } catch (error) {
            if (!(error instanceof Refusal)) throw error;
          }
          assertConsistent(home.document);
        }
      }),
      { numRuns: 100, seed: 20260101 },
    );
  });

  it("is never changed in place", () => {
    const around = runtime("frozen");
    let home = deepFreeze(newHome(3));
    for (let step = 0; step < 500; step++) home = deepFreeze(playScene(home, { scene: "random" }, around).home);
    assertConsistent(home.document);
  });
});

function newHome(seed: number): Home {
  const source = `consistency/${seed}`;
  return buildHome(readAccountPlan({ structures: [{}, {}] }), source, "c.token", seededRandom(source));
}

/** Invariants of the document: lists and devices agree, nothing is empty, states follow the alarms. */
function assertConsistent(document: AnyJson): void {
  const names: string[] = [];
  for (const kind of kinds) {
    const listing = document.devices[kind];
    if (listing !== undefined) assert.notEqual(Object.keys(listing).length, 0, `${kind} is empty instead of absent`);
    const listed = Object.values<AnyJson>(document.structures).flatMap((structure) => structure[kind] ?? []);
    assert.deepEqual(listed.toSorted(), Object.keys(listing ?? {}).toSorted(), `${kind}: lists and devices differ`);
    for (const [id, device] of Object.entries<AnyJson>(listing ?? {})) {
      assert.equal(device.device_id, id);
      const structure = document.structures[device.structure_id];
      assert.ok(structure[kind].includes(id), "a device is not listed in its own structure");
      assert.equal(structure.wheres[device.where_id].name, device.where_name);
      names.push(device.name);
    }
  }
  const generated = names.filter((name) => name !== "New name");
  assert.equal(new Set(generated).size, generated.length, "two devices have one name");
  for (const [id, structure] of Object.entries<AnyJson>(document.structures)) {
    assert.equal(structure.structure_id, id);
    for (const kind of kinds) assert.notDeepEqual(structure[kind], []);
    const alarms = (structure.smoke_co_alarms ?? []).map((alarm: string) => document.devices.smoke_co_alarms[alarm]);
    for (const field of ["smoke_alarm_state", "co_alarm_state"]) {
      assert.equal(structure[field], worst(alarms.map((alarm: AnyJson) => alarm[field])));
    }
    for (const alarm of alarms) assert.equal(alarm.ui_color_state, expectedColor(alarm));
  }
  for (const thermostat of Object.values<AnyJson>(document.devices.thermostats ?? {})) {
    assert.equal(thermostat.fan_timer_active, thermostat.fan_timer_timeout !== "1970-01-01T00:00:00.000Z");
  }
}

function worst(states: string[]): string {
  return ["emergency", "warning"].find((state) => states.includes(state)) ?? "ok";
}

function expectedColor(alarm: AnyJson): string {
  if (!alarm.is_online) return "gray";
  return { emergency: "red", warning: "yellow", ok: "green" }[worst([alarm.smoke_alarm_state, alarm.co_alarm_state])]!;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
