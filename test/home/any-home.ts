import fc from "fast-check";
import type { Home, ObjectReading, Structure } from "../../src/home/home.ts";
import type { Thing } from "../../src/home/thing.ts";
import { anyCharacter } from "../set-up/any-character.ts";
import { alarmThing, homeWith, incomplete, presence, thermostatThing } from "./home-parts.ts";

/** Random homes over few ids, so that consecutive ones share ids. */
export interface HomeOptions {
  /** Every object is readable, and the lists are complete. */
  readonly isClear: boolean;
  readonly mostAlarms: number;
}

const structureIds = ["s1", "s2", "s3"];

const anyText = fc.oneof(fc.string({ maxLength: 6 }), fc.string({ unit: anyCharacter, maxLength: 4 }));
const anyName = fc.option(anyText, { freq: 4 });
const anyClaim = fc.option(fc.boolean(), { freq: 4 });
const anyAlarmState = fc.constantFrom("ok", "ok", "ok", "warning", "emergency", "testing", null);
const anyStructureId = fc.constantFrom("s1", "s1", "s2", "s3", "unheard-of");

const anyStructure: fc.Arbitrary<Structure> = fc.record({
  name: anyName,
  presence: fc.constantFrom("home", "away", "auto-away", "unknown", null).map(presence),
  listsDevices: fc.constant(true),
});

const anyThermostat: fc.Arbitrary<Thing> = fc
  .record({
    structureId: anyStructureId,
    name: anyName,
    isOnline: anyClaim,
    hasFan: anyClaim,
    fanTimerActive: anyClaim,
    fanTimerTimeout: anyName,
  })
  .map(thermostatThing);

const anyAlarm: fc.Arbitrary<Thing> = fc
  .record({
    structureId: fc.oneof({ weight: 9, arbitrary: anyStructureId }, { weight: 1, arbitrary: fc.constant(null) }),
    name: anyName,
    isOnline: anyClaim,
    coAlarmState: anyAlarmState,
    smokeAlarmState: anyAlarmState,
    uiColorState: anyName,
  })
  .map(alarmThing);

export function anyHome({ isClear, mostAlarms }: HomeOptions): fc.Arbitrary<Home> {
  const isComplete = isClear ? fc.constant(true) : fc.boolean();
  return fc
    .record({
      structures: fc.tuple(...structureIds.map((id) => anySighting(id, anyStructure, isClear))),
      thermostats: anySightings(24, "t", anyThermostat, isClear),
      alarms: anySightings(mostAlarms, "p", anyAlarm, isClear),
      areWhole: fc.tuple(isComplete, isComplete, isComplete),
      isSpoken: fc.boolean(),
    })
    .map(({ structures, thermostats, alarms, areWhole, isSpoken }) =>
      homeWith({
        structures: structures.filter((entry) => entry !== undefined),
        thermostats,
        alarms,
        notWhole: (["structures", "thermostats", "alarms"] as const).filter((_, index) => !areWhole[index]),
        speaksOfAlarms: alarms.length > 0 || isSpoken,
      }),
    );
}

type Entry<T> = [string, ObjectReading<T>];

function anySightings<T>(most: number, prefix: string, object: fc.Arbitrary<T>, isClear: boolean) {
  const ids = Array.from({ length: most }, (_, index) => `${prefix}${index + 1}`);
  return fc
    .subarray(ids)
    .chain((chosen) => fc.tuple(...chosen.map((id) => anySighting(id, object, isClear))))
    .map((entries) => entries.filter((entry) => entry !== undefined));
}

function anySighting<T>(id: string, object: fc.Arbitrary<T>, isClear: boolean): fc.Arbitrary<Entry<T> | undefined> {
  const read = object.map((value): Entry<T> => [id, { isRead: true, object: value }]);
  const unread = fc
    .tuple(object, fc.subarray(["name", "structureId"]))
    .map(([value, fields]): Entry<T> => [id, incomplete(pick(value, fields))]);
  const absent = fc.constant(undefined);
  return isClear
    ? fc.oneof({ weight: 6, arbitrary: read }, { weight: 1, arbitrary: absent })
    : fc.oneof({ weight: 4, arbitrary: read }, { weight: 2, arbitrary: unread }, { weight: 1, arbitrary: absent });
}

function pick<T>(value: T, fields: readonly string[]): Partial<T> {
  const kept = Object.entries(value as object).filter(([field]) => fields.includes(field));
  return Object.fromEntries(kept) as Partial<T>;
}
