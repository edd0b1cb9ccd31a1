import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseAttributeName } from "../../src/virtual-device/attribute-names.ts";
import { isUrgent } from "../../src/virtual-device/urgent-changes.ts";

describe("an urgent commit", () => {
  const changing = (...names: string[]) =>
    names.map((name) => ({ attribute: parseAttributeName(name)!.number, value: "true" }));

  it("is one that changes an alarm's state, or a structure's warnings or emergencies", () => {
    const urgent = [
      "d.structures[1].d.smokeCoAlarms[1].co_alarm_state",
      "d.structures[2].d.smokeCoAlarms[18].smoke_alarm_state",
      "o.structures[1].warnings.all",
      "o.structures[2].emergencies.CO",
    ];
    for (const name of urgent) assert.ok(isUrgent(changing("d.structures[1].a.away", name)), name);
  });

  it("is none that changes only other attributes, or none at all", () => {
    const calm = [
      "d.structures[1].a.away",
      "d.structures[1].d.smokeCoAlarms[1].ui_color_state",
      "d.structures[1].d.thermostats[1].fan_timer_active",
      "o.structures[1].totals.smokeCOAlarms",
      "o.totalStructures",
    ];
    assert.ok(!isUrgent(changing(...calm)));
    assert.ok(!isUrgent([]));
  });
});
