import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { homesOf } from "../../demo/console/house-view.ts";
import { thing } from "./things.ts";

describe("the homes of the demo's page", () => {
  it("stand in the order of their names, each with its thermostats and alarms", () => {
    const things = [
      thing("alarm", {}, { thingId: "t_kitchen", name: "Kitchen", homeName: "Lake House" }),
      thing("home", {}, { thingId: "t_maple", name: "Maple Street" }),
      thing("thermostat", {}, { thingId: "t_hall", name: "Hall" }),
      thing("home", {}, { thingId: "t_lake", name: "Lake House", homeName: "Lake House" }),
      thing("thermostat", {}, { thingId: "t_den", name: "Den" }),
    ];
    assert.deepEqual(shown(things), ["t_lake: | t_kitchen", "t_maple: t_den t_hall | "]);
  });

  it("leave no device out: not in a home whose name another home has, and not without a home", () => {
    const things = [
      thing("home", {}, { thingId: "t_one", name: "Maple Street" }),
      thing("home", {}, { thingId: "t_two", name: "Maple Street" }),
      thing("alarm", {}, { thingId: "t_attic" }),
      thing("alarm", {}, { thingId: "t_lost", homeName: null }),
    ];
    assert.deepEqual(shown(things), ["none: | t_lost", "t_one: | t_attic", "t_two: | "]);
  });
});

function shown(things: Parameters<typeof homesOf>[0]): readonly string[] {
  const ids = (devices: typeof things) => devices.map(({ thingId }) => thingId).join(" ");
  return homesOf(things).map(({ home, thermostats, alarms }) => {
    const left = thermostats.length === 0 ? "" : ` ${ids(thermostats)}`;
    return `${home?.thingId ?? "none"}:${left} | ${ids(alarms)}`;
  });
}
