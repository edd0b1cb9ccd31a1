import { buildHome, type StructurePlan } from "../../simulator/home/account-plan.ts";
import { seededRandom } from "../../simulator/home/random.ts";
import { makeAlarm, makeDocument, makeStructure, makeThermostat } from "../ecosystems/made-documents.ts";

/** Documents as ecosystems really send them: complete, with fewer permissions, and with the usual omissions. */
export function sampleDocuments(): readonly unknown[] {
  const homes: readonly (readonly StructurePlan[])[] = [
    [{ name: "Maple Street", thermostats: 1, alarms: 1 }],
    [
      { name: "Home", thermostats: 20, alarms: 18 },
      { name: "Cottage", thermostats: 20, alarms: 18 },
    ],
    [
      { name: "One", thermostats: 2, alarms: 0 },
      { name: "Two", thermostats: 0, alarms: 3 },
      { name: "Three", thermostats: 1, alarms: 0 },
    ],
    [],
  ];
  const built = homes.map((structures, i) => {
    const seed = `sample ${i}`;
    return buildHome({ seed, structures }, seed, "c.sample", seededRandom(seed)).document;
  });
  const withoutDevices = makeDocument();
  return [
    ...built,
    makeDocument(),
    { structures: withoutDevices.structures },
    // Alarms only: the permissions remove `thermostats` everywhere, and `away`.
    {
      structures: { s1: { structure_id: "s1", name: "Home", smoke_co_alarms: ["a1"] } },
      devices: { smoke_co_alarms: { a1: makeAlarm({ smoke_alarm_state: "emergency", ui_color_state: "red" }) } },
    },
    // A camera, unknown members, an object without `device_id`, and a test of an alarm.
    {
      structures: {
        s1: makeStructure({ cameras: ["c1"], thermostats: ["t1", "t2"], smoke_co_alarms: ["a1"], wheres: {} }),
      },
      devices: {
        cameras: { c1: { device_id: "c1", is_streaming: false } },
        thermostats: { t1: makeThermostat(), t2: { name: "Den", structure_id: "s1", has_fan: false } },
        smoke_co_alarms: { a1: makeAlarm({ is_manual_test_active: true, battery_health: "replace" }) },
      },
    },
  ];
}
